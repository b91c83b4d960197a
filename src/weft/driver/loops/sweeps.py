"""The loops that sweep: in bounded calls until nothing is left; then each waits for its bell.

Notices ring it, and where work has a date, the next of the dates: a loop asks for it after each
pass, and the leader's heartbeats move it.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from weft.core.loop_periods import sweep_pause_s
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry import metrics
from weft.telemetry.log import log

SWEEP_JOBS_MAX = 5_000
"""Jobs per call: some ten milliseconds, so that their rows are not locked for long."""


async def _cancel(context: LoopContext) -> None:
    """Settle the jobs of cancelled groups, in bounded sets."""
    while True:
        swept, begun = 0, time.monotonic()
        while count := await context.store.sweep(
            "sweep_cancelled", context.epoch, limit_jobs=SWEEP_JOBS_MAX
        ):
            swept += count
            metrics.JOBS_SWEPT.inc(count)
            context.moved()
            await asyncio.sleep(sweep_pause_s(count, took_s=time.monotonic() - begun))
            begun = time.monotonic()
        if swept:
            log.info("jobs.swept", jobs=swept)
        await context.bell.heard()


CHILDREN_MAX = 5_000
"""Children per call: some ten milliseconds, so that their rows are not locked for long, and the
first of 100,000 neighbours can be claimed while the others are updated."""
CROWDED_MAX = 1_000
"""Children with many parents whose ends are counted in one call."""
COUNT_PAUSE_S = 0.02
"""Near the last of many parents each report rings: hundreds a second from many workers."""


async def _settle(context: LoopContext) -> None:
    """Apply parents' ends to their children, where the report of an end did not.

    A report leaves jobs with very many children, and children with very many parents, to this
    loop; a sweep leaves it the children of jobs that it has cancelled. The loop does not pause
    while there are children to update: jobs wait for it. While it only counts ends, it collects
    them for a moment.
    """
    store, epoch = context.store, context.epoch
    while True:
        counted = await store.sweep("count_parent_ends", epoch, limit_jobs=CROWDED_MAX)
        if await store.sweep("settle_children", epoch, limit_jobs=CHILDREN_MAX):
            context.moved()
            continue
        if counted:
            await asyncio.sleep(COUNT_PAUSE_S)
        await context.bell.heard()


def _sweep(
    name: str,
    function: str,
    most: int,
    *,
    told: Callable[[LoopContext, int], None] | None = None,
    has_dates: bool = False,
) -> Loop:
    """Return a loop. `most`: per call, which is some ten milliseconds, so that rows are not locked
    for long and no gate is busy for long. `told`: of how many rows a pass met, if it met any.
    """

    async def run(context: LoopContext) -> None:
        while True:
            n_rows = await context.sweep_all(function, limit_jobs=most)
            if n_rows and told is not None:
                told(context, n_rows)
            if has_dates:
                await context.bell.heard_by(await context.store.loop_due(context.epoch, name))
            else:
                await context.bell.heard()

    return Loop(name, run)


def _released(context: LoopContext, n_jobs: int) -> None:
    context.moved()
    log.debug("jobs.released", jobs=n_jobs)


def _ended(context: LoopContext, n_jobs: int) -> None:
    context.moved()
    log.debug("deadlines.passed", jobs=n_jobs)


LOOPS: Final = (
    Loop("cancel", _cancel),
    # Ends jobs that cannot end by their deadline, and stops those that run at it.
    _sweep("deadlines", "sweep_deadlines", 1_000, told=_ended, has_dates=True),
    # Adds up why jobs failed. Readers add what is not added up yet: only the number of rows that
    # they read depends on it.
    _sweep("failures", "fold_failures", 5_000),
    # Admits jobs waiting at gates, if the call that freed a place could not; opens gates at their
    # dates, and takes places back from admitted jobs that are not claimed while others could use
    # them.
    _sweep(
        "gates",
        "pass_gates",
        1_000,
        has_dates=True,
        told=lambda _, n_jobs: log.debug("gates.passed", jobs=n_jobs),
    ),
    # Parks ready jobs of held groups, and lists those of released groups.
    _sweep(
        "hold",
        "sweep_holds",
        2_000,
        told=lambda _, n_jobs: log.info("holds.swept", jobs=n_jobs),
    ),
    # Makes blocked jobs ready again when their dates come; what blocks jobs rings it.
    _sweep("recovery", "release_blocked", 1_000, told=_released, has_dates=True),
    Loop("settle", _settle, after=("cancel", "deadlines")),  # what they end may have children
    # Ends limits and weights of users at their dates; lets shares follow weights.
    _sweep("terms", "end_terms", 500, has_dates=True),
    # Seals the trail: it numbers what is committed, in a chain of digests.
    _sweep(
        "trail",
        "seal_trail",
        500,
        told=lambda _, n_entries: metrics.TRAIL_SEALED.inc(n_entries),
    ),
)
