"""The loops that only sweep: in bounded calls until nothing is left; then each waits for its bell.

Notices ring it, and where work has a date, the next of the dates: a loop asks for it after each
pass, and the leader's heartbeats move it.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from weft.driver.loops.loop import Loop, LoopContext
from weft.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import log

Due = Callable[[DriverStore, int], Awaitable[float | None]]


def _sweep(
    name: str, function: str, most: int, *, told: Callable[[LoopContext, int], None] | None = None,
    due: Due | None = None,
) -> Loop:  # fmt: skip
    """Return a loop. `most`: per call, which is some ten milliseconds, so that rows are not locked
    for long and no gate is busy for long. `told`: of how many rows a pass met, if it met any.
    """

    async def run(context: LoopContext) -> None:
        while True:
            n_rows = await context.sweep_all(function, limit_jobs=most)
            if n_rows and told is not None:
                told(context, n_rows)
            if due is None:
                await context.bell.heard()
            else:
                await context.bell.heard_by(await due(context.store, context.epoch))

    return Loop(name, run)


def _released(context: LoopContext, n_jobs: int) -> None:
    context.moved()
    log.debug("jobs.released", jobs=n_jobs)


def _ended(context: LoopContext, n_jobs: int) -> None:
    context.moved()
    log.debug("deadlines.passed", jobs=n_jobs)


LOOPS: Final = (
    # Ends jobs that cannot end by their deadline, and stops those that run at it.
    _sweep(
        "deadlines", "sweep_deadlines", 1_000, told=_ended,
        due=lambda store, epoch: store.deadlines_due(epoch),
    ),
    # Adds up why jobs failed. Readers add what is not added up yet: only the number of rows that
    # they read depends on it.
    _sweep("failures", "fold_failures", 5_000),
    # Admits jobs waiting at gates, if the call that freed a place could not; opens gates at their
    # dates, and takes places back from admitted jobs that are not claimed while others could use
    # them.
    _sweep(
        "gates", "pass_gates", 1_000, due=lambda store, epoch: store.gates_due(epoch),
        told=lambda _, n_jobs: log.debug("gates.passed", jobs=n_jobs),
    ),
    # Parks ready jobs of held groups, and lists those of released groups.
    _sweep(
        "hold", "sweep_holds", 2_000,
        told=lambda _, n_jobs: log.info("holds.swept", jobs=n_jobs),
    ),
    # Makes blocked jobs ready again when their dates come; what blocks jobs rings it.
    _sweep(
        "recovery", "release_blocked", 1_000, told=_released,
        due=lambda store, epoch: store.recovery_due(epoch),
    ),
    # Seals the trail: it numbers what is committed, in a chain of digests.
    _sweep(
        "trail", "seal_trail", 500,
        told=lambda _, n_entries: metrics.TRAIL_SEALED.inc(n_entries),
    ),
)  # fmt: skip
