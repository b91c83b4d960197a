"""The loop that ends the attempts of workers that fell silent."""

from weft.driver.due_date import DueDate
from weft.ports.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()


async def run_reaper(store: DriverStore, epoch: int, due: DueDate, *, grace_s: float) -> None:
    """Wait for the date at which the next worker would be lost; until cancelled.

    Heartbeats of the workers move that date in the database, those of the leader bring it here: it
    passes while the leader is busy, or when a worker was really silent.
    """
    while True:
        due.move(await store.next_due(epoch, grace_s))
        await due.passed()
        for lost in await store.lose_workers(epoch, grace_s):
            metrics.WORKERS_LOST.inc()
            log.warning(
                "worker.lost", worker=lost["worker"], attempts=lost["n_attempts"],
                silent_s=round(lost["silent_s"], 1),
            )  # fmt: skip
