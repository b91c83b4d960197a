"""The loop that removes what is too old: events past asking for, updates never committed."""

import asyncio
import time

from weft.driver.bell import Bell
from weft.ports.store import DriverStore
from weft.telemetry.log import get_logger

log = get_logger()

EVERY_S = 600.0


async def run_retention(
    store: DriverStore, epoch: int, bell: Bell, *, events_keep_s: float, updates_keep_s: float
) -> None:
    """Look now and then while there is activity; until cancelled. Idle days leave nothing new."""
    looked_at = -EVERY_S
    while True:
        await bell.heard()
        await asyncio.sleep(max(0.0, looked_at + EVERY_S - time.monotonic()))
        removed = 0
        while count := await store.remove_old(
            epoch, events_keep_s=events_keep_s, updates_keep_s=updates_keep_s
        ):
            removed += count
        looked_at = time.monotonic()
        if removed:
            log.info("retention.removed", rows=removed)
