"""The loop that ends the attempts of workers that fell silent."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from weft.driver.due_date import DueDate
from weft.ports.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

RETURN_S = 12.0
"""So long those are waited for who could not be heard because the database, or all of weft, was
away: more than a heartbeat and the pauses between their tries. Else a slow start of everything
would lose the jobs that ran on meanwhile (`--detach-jobs`)."""
SLOW_S = 1.0
"""A database that needs so long for a glance was away in between, for the workers as for us."""


async def run_reaper(store: DriverStore, epoch: int, due: DueDate, *, grace_s: float) -> None:
    """Wait for the date at which the next worker would be lost; until cancelled.

    Heartbeats of the workers move that date in the database, those of the leader bring it here: it
    passes while the leader is busy, or when a worker was really silent. While the database is away
    all are silent. So the first look of a term, and the one after a slow answer, come late.
    """
    while True:
        await asyncio.sleep(min(RETURN_S, grace_s / 2))
        async for _ in _steady_looks(store, epoch, due, grace_s=grace_s):
            for lost in await store.lose_workers(epoch, grace_s):
                metrics.WORKERS_LOST.inc()
                log.warning(
                    "worker.lost", worker=lost["worker"], attempts=lost["n_attempts"],
                    silent_s=round(lost["silent_s"], 1),
                )  # fmt: skip


async def _steady_looks(
    store: DriverStore, epoch: int, due: DueDate, *, grace_s: float
) -> AsyncIterator[None]:
    """Yield whenever a worker is due, until the database does not answer at once."""
    while True:
        asked_at = time.monotonic()
        due_at = await store.next_due(epoch, grace_s)
        due.move(due_at)
        if time.monotonic() - asked_at > SLOW_S:
            return
        if due_at is not None and due_at <= datetime.now(UTC):
            yield
        await due.passed()
