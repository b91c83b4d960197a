"""The loop that ends the attempts of workers that fell silent."""

import asyncio
from datetime import UTC, datetime

from weft.core.reaper_timer import SOONEST_S, reaper_delay_s
from weft.driver.bell import Bell
from weft.ports.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

LOOK_AGAIN_S = 5.0
"""Pause before the look that follows a wake-up: far below any grace, so jobs that come and go
cost one look in a while."""


async def run_reaper(store: DriverStore, epoch: int, bell: Bell, *, grace_s: float) -> None:
    """Wait for the date at which the next worker would be lost; until cancelled.

    Heartbeats move that date, so at each date it is asked for anew: one statement per grace as
    long as all workers live.
    """
    while True:
        due_at = await store.next_due(epoch, grace_s)
        if due_at is None:
            await bell.heard()
            await asyncio.sleep(LOOK_AGAIN_S)
        elif due_at > (now := datetime.now(UTC)):
            await asyncio.sleep(reaper_delay_s(due_at, now, grace_s=grace_s))
        else:
            await _lose(store, epoch, grace_s)
            await asyncio.sleep(SOONEST_S)


async def _lose(store: DriverStore, epoch: int, grace_s: float) -> None:
    for lost in await store.lose_workers(epoch, grace_s):
        metrics.WORKERS_LOST.inc()
        log.warning(
            "worker.lost", worker=lost["worker"], attempts=lost["n_attempts"],
            silent_s=round(lost["silent_s"], 1),
        )  # fmt: skip
