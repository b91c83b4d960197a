"""The loop that stops attempts which are beyond a limit of their queue.

It waits for its bell: the leader's heartbeats ring it at the next of the dates, and a worker that
has stopped an attempt rings it, so that the job goes on.
"""

from collections.abc import Mapping
from typing import Any

from weft.core.ids import format_job_ref
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry import metrics
from weft.telemetry.log import log

PASS_JOBS_MAX = 100
"""Attempts per call: some ten milliseconds, so that their rows are not locked for long."""


async def _run(context: LoopContext) -> None:
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
        "attempt.overdue", job=format_job_ref(row["batch_id"], row["job_id"]),
        attempt=row["attempt"], worker=row["worker"], message=row["message"],
        goes_on=row["goes_on"],
    )  # fmt: skip


LOOP = Loop("monitor", _run)
