"""The loop that keeps projects, users, batches and groups within their limits.

It follows the fold, and while limited jobs run it looks every
`spending_interval_s`, as far ahead. A change of a limit rings it. What it has decided is stored
before it is done, so a driver that follows another one goes on with it.
"""

import asyncio
import time

from weft.core.spending import Stage, stage_of
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.store.spending import Limit
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

GAP_S = 0.2
"""Between two looks at least."""
GAP_TIMES = 10
"""The gap lasts at least ten looks: a look reads all sums of usage, and must be a small part of
the database's work.
"""
STEP_ROWS_MAX = 500
"""Batches or attempts per call: some ten milliseconds, so that their rows are not locked long."""


async def _run(context: LoopContext) -> None:
    was_slowed = True
    """A driver before this one may have left weights of users behind."""
    while True:
        begun = time.monotonic()
        limits = await context.store.limit_rounds(context.epoch)
        took_s = time.monotonic() - begun
        stages = [await _judge(context, one) for one in limits]
        if limits:
            await context.sweep_all("apply_limits", limit_jobs=STEP_ROWS_MAX)
        is_slowed = Stage.SLOWED in stages
        if is_slowed or was_slowed:
            await context.sweep_all("weigh_users", limit_jobs=STEP_ROWS_MAX)
        was_slowed = is_slowed
        runs = any(one.spending.used_per_hour > 0 for one in limits)
        interval_s = context.settings.spending_interval_s
        context.bell.ring_in(interval_s if runs else None)
        await asyncio.sleep(gap_s(took_s, interval_s))
        await context.bell.heard()


def gap_s(took_s: float, interval_s: float) -> float:
    """Return the pause after a look. It is never longer than until the next one is due."""
    return min(max(GAP_S, GAP_TIMES * took_s), interval_s)


async def _judge(context: LoopContext, limit: Limit) -> Stage:
    """Decide how far a limit is used; store it if that is news."""
    before = limit.spending.stage
    interval_s = context.settings.spending_interval_s
    stage = stage_of(limit.spending, is_new=limit.is_new, lookahead_s=interval_s)
    if stage is before and not limit.is_new:
        return stage
    if not await context.store.judge_limit(context.epoch, limit, stage):
        context.bell.ring()
        return before
    if stage is not before:
        _tell(limit, stage)
    return stage


def _tell(limit: Limit, stage: Stage) -> None:
    metrics.LIMITS_CROSSED.labels(stage).inc()
    facts = {
        "tenant": limit.tenant, "kind": limit.kind, "name": limit.name,
        "measure": str(limit.measure), "amount": float(limit.spending.used),
    }  # fmt: skip
    if stage is Stage.REACHED:
        log.warning("limit.reached", **facts, on_limit=limit.on_limit)
    elif limit.spending.stage is Stage.REACHED:
        log.info("limit.lifted", **facts)
    else:
        log.info("limit.slowed" if stage is Stage.SLOWED else "limit.eased", **facts)


LOOP = Loop("spending", _run, after=("fold",))
