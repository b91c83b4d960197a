"""The loop that settles the jobs of cancelled groups, in bounded sets."""

import asyncio
import time
from collections.abc import Callable

from weft.core.sweep_pace import sweep_pause_s
from weft.driver.bell import Bell
from weft.ports.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

SWEEP_JOBS_MAX = 5_000
"""Jobs of one call: some ten milliseconds, so that nobody waits long for their rows."""


async def run_cancel(
    store: DriverStore, epoch: int, bell: Bell, *, after_pass: Callable[[], None]
) -> None:
    """Sweep until nothing is left, then wait for the bell; until cancelled."""
    while True:
        swept, begun = 0, time.monotonic()
        while count := await store.sweep_cancelled(epoch, SWEEP_JOBS_MAX):
            swept += count
            metrics.JOBS_SWEPT.inc(count)
            after_pass()
            await asyncio.sleep(sweep_pause_s(count, took_s=time.monotonic() - begun))
            begun = time.monotonic()
        if swept:
            log.info("jobs.swept", jobs=swept)
        await bell.heard()
