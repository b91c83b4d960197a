"""The loop that settles the jobs of cancelled groups, and children of ended jobs that no report
could settle, in bounded sets.
"""

from collections.abc import Callable

from weft.driver.bell import Bell
from weft.ports.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

SWEEP_JOBS_MAX = 5_000
"""Jobs of one call: some ten milliseconds, so that nobody waits long for their rows."""
CROWDED_JOBS_MAX = 1_000
"""Children with many parents, of which the ends are counted in one call."""


async def run_cancel(
    store: DriverStore, epoch: int, bell: Bell, *, after_pass: Callable[[], None]
) -> None:
    """Sweep until nothing is left, then wait for the bell; until cancelled."""
    while True:
        swept = 0
        await store.count_parent_ends(epoch, CROWDED_JOBS_MAX)
        while count := await store.sweep_cancelled(epoch, SWEEP_JOBS_MAX):
            swept += count
            metrics.JOBS_SWEPT.inc(count)
            after_pass()
        if swept:
            log.info("jobs.swept", jobs=swept)
        await bell.heard()
