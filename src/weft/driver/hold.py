"""The loop that parks ready jobs of what is held, and lists those of what was released."""

from weft.driver.bell import Bell
from weft.ports.store import DriverStore
from weft.telemetry.log import get_logger

log = get_logger()

SWEEP_JOBS_MAX = 2_000
"""Jobs of one call: some ten milliseconds, so that nobody waits long for their rows."""


async def run_hold(store: DriverStore, epoch: int, bell: Bell) -> None:
    """Sweep until nothing is left, then wait for the bell; until cancelled."""
    while True:
        swept = 0
        while count := await store.sweep_holds(epoch, SWEEP_JOBS_MAX):
            swept += count
        if swept:
            log.info("holds.swept", jobs=swept)
        await bell.heard()
