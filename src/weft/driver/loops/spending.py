"""The loop that keeps projects, users, batches and groups within their limits.

It follows the fold, and while limited jobs run it looks every
`spending_interval_s`, as far ahead. A change of a limit rings it. What it has decided is stored
before it is done, so a driver that follows another one goes on with it.

A limit that is *near* its end admits jobs: what waits is held, and each look lets start what fits
below the limit with all that runs and was admitted before.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from weft.core.billing.spending import Stage, is_near, room_per_hour, stage_of
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.store.queries import Limit
from weft.telemetry import metrics
from weft.telemetry.log import log

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
        verdicts = [await _judge(context, limit) for limit in limits]
        if limits:
            await context.sweep_all("apply_limits", limit_jobs=STEP_ROWS_MAX)
        pairs = zip(limits, verdicts, strict=True)
        admits = await _admit(context, [one for one, (_, near) in pairs if near])
        is_slowed = any(stage is Stage.SLOWED for stage, _ in verdicts)
        if is_slowed or was_slowed:
            await context.sweep_all("weigh_users", limit_jobs=STEP_ROWS_MAX)
        was_slowed = is_slowed
        runs = admits or any(limit.spending.used_per_hour > 0 for limit in limits)
        interval_s = context.settings.spending_interval_s
        context.bell.ring_in(interval_s if runs else None)
        await asyncio.sleep(gap_s(took_s, interval_s))
        await context.bell.heard()


def gap_s(took_s: float, interval_s: float) -> float:
    """Return the pause after a look. It is never longer than until the next one is due."""
    return min(max(GAP_S, GAP_TIMES * took_s), interval_s)


async def _judge(context: LoopContext, limit: Limit) -> tuple[Stage, bool]:
    """Decide how far a limit is used; store it if that is news. Return whether it is near, too."""
    before, interval_s = limit.spending, context.settings.spending_interval_s
    stage = stage_of(before, is_new=limit.is_new, lookahead_s=interval_s)
    near = stage is not Stage.REACHED and is_near(
        before, is_new=limit.is_new, lookahead_s=interval_s
    )
    if (stage, near) == (before.stage, before.near) and not limit.is_new:
        return stage, near
    if not await context.store.judge_limit(context.epoch, limit, stage, near=near):
        context.bell.ring()
        return before.stage, False
    if near:
        # What started since this look is counted by the next one, which admits.
        context.bell.ring()
    if near and not before.near:
        log.info("limit.near", **_facts(limit))
    if stage is not before.stage:
        _tell(limit, stage)
    return stage, near


async def _admit(context: LoopContext, limits: Sequence[Limit]) -> bool:
    """Let jobs start that fit below limits that are near and were before this look, too; return
    whether more may come of it at the next one.
    """
    interval_s = context.settings.spending_interval_s
    near = {one.limit_id: one for one in limits if one.spending.near}
    if not near:
        return False
    rooms = {key: room_per_hour(one.spending, lookahead_s=interval_s) for key, one in near.items()}
    found = await context.store.admit_at_limits(context.epoch, rooms, limit_jobs=STEP_ROWS_MAX)
    for one in found:
        is_taken_back = near[one.limit_id].spending.admitted_per_hour > 0 > rooms[one.limit_id]
        if one.n_admitted >= STEP_ROWS_MAX or is_taken_back:
            context.bell.ring()
        elif one.is_short and not one.n_admitted and _is_still(near[one.limit_id]):
            await _reach(context, near[one.limit_id])
    return any(one.n_admitted or one.is_short for one in found)


def _is_still(limit: Limit) -> bool:
    """Return whether nothing that it limits runs or may start."""
    return limit.spending.used_per_hour == limit.spending.admitted_per_hour == 0


async def _reach(context: LoopContext, limit: Limit) -> None:
    """End a limit below which nothing fits that waits."""
    if await context.store.judge_limit(context.epoch, limit, Stage.REACHED, near=False):
        _tell(limit, Stage.REACHED)
    context.bell.ring()


def _tell(limit: Limit, stage: Stage) -> None:
    metrics.LIMITS_CROSSED.labels(stage).inc()
    facts = _facts(limit)
    if stage is Stage.REACHED:
        log.warning("limit.reached", **facts, on_limit=limit.on_limit)
    elif limit.spending.stage is Stage.REACHED:
        log.info("limit.lifted", **facts)
    else:
        log.info("limit.slowed" if stage is Stage.SLOWED else "limit.eased", **facts)


def _facts(limit: Limit) -> dict[str, Any]:
    return {
        "tenant": limit.tenant,
        "kind": limit.kind,
        "name": limit.name,
        "measure": str(limit.measure),
        "amount": float(limit.spending.used),
    }


LOOP = Loop("spending", _run, after=("fold",))
