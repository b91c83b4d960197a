"""The loops that stop attempts: which are beyond a limit of their queue, or preemptible while jobs
of queues of higher priority wait.

The first waits for its bell: the leader's heartbeats ring it at the next of the dates, and a
worker that has stopped an attempt rings it, so that the job goes on. The other follows the fold,
which sees that jobs became ready or ended. A job that has had no room for `preempt_after_s`
preempts others; until then the loop rings itself.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from weft.core.ids import format_job_ref
from weft.core.scheduling.preemption import Host, Key, Preemption, WaitingJob, plan_round
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry import metrics
from weft.telemetry.log import log

PASS_JOBS_MAX = 100
"""Attempts per call: some ten milliseconds, so that their rows are not locked for long."""


async def _monitor(context: LoopContext) -> None:
    while True:
        while stopped := await context.store.stop_overdue(
            context.epoch, limit_jobs=PASS_JOBS_MAX, confirm_s=context.settings.stop_within_s
        ):
            context.moved()
            for row in stopped:
                _tell(row)
        await context.bell.heard()


def _tell(row: Mapping[str, Any]) -> None:
    if row["batch_id"] is None:
        metrics.WORKERS_LOST.inc()
        log.warning("worker.given_up", worker=row["worker"])
        return
    metrics.ATTEMPTS_OVERDUE.labels("requeued" if row["goes_on"] else "ended").inc()
    log.warning(
        "attempt.overdue",
        job=format_job_ref(row["batch_id"], row["job_id"]),
        attempt=row["attempt"],
        worker=row["worker"],
        message=row["message"],
        goes_on=row["goes_on"],
    )


GAP_S = 1.0
"""Between two looks at least."""


async def _make_room(context: LoopContext) -> None:
    since: dict[Key, float] = {}
    """Since when a job has been seen to have no room."""
    while True:
        since, due_in_s = await _look(context, since)
        context.bell.ring_in(due_in_s)
        await context.bell.heard()
        await asyncio.sleep(GAP_S)


async def _look(
    context: LoopContext, since: dict[Key, float]
) -> tuple[dict[Key, float], float | None]:
    """Decide for each pool. Return since when jobs have had no room, and when to look again."""
    now, after_s = time.monotonic(), context.settings.preempt_after_s
    found: dict[Key, float] = {}
    for row in await context.store.preemption_rounds(context.epoch):
        decided = plan_round(
            msgspec.convert(row["waiting"], list[WaitingJob]),
            msgspec.convert(row["hosts"], list[Host]),
            since,
            now=now,
            after_s=after_s,
            losses_max=context.settings.losses_max,
        )
        found |= decided.since
        for plan in decided.plans:
            await _preempt(context, plan, row["pool"])
    dues = [at + after_s - now for at in found.values() if at + after_s > now]
    return found, min(dues, default=None)


async def _preempt(context: LoopContext, plan: Preemption, pool: str) -> None:
    count = await context.store.preempt_jobs(
        context.epoch,
        (plan.waiting.batch_id, plan.waiting.job_id),
        [(job.batch_id, job.job_id, job.attempt) for job in plan.stopped],
        wait_s=context.settings.preempted_wait_s,
    )
    if count:
        metrics.JOBS_PREEMPTED.inc(count)
        waiting = format_job_ref(plan.waiting.batch_id, plan.waiting.job_id)
        log.info("jobs.preempted", pool=pool, worker=plan.worker, jobs=count, waiting=waiting)


MONITOR = Loop("monitor", _monitor)
PREEMPT = Loop("preempt", _make_room, after=("fold",))
LOOPS = (MONITOR, PREEMPT)
