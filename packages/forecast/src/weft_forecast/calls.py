"""`/v1/batches/{b}/forecast` and that of a job: computed when somebody asks, and not before."""

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from weft.api.calls.call import call, calls_of
from weft.api.calls.path_ids import BatchId, JobId
from weft.api.http.parts import ApiPart
from weft.api.services import Services
from weft.api.use_cases.why import why_batch, why_job
from weft.core.access.rights import Right
from weft.core.billing.rates import HOUR_MS
from weft.core.forecast import ForecastFacts, promise
from weft.core.states import ENDED_WORDS
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.forecasts import Forecast

FOR_ROOM: Final = frozenset(
    {
        "behind",
        "busy",
        "failed",
        "kept",
        "max_running",
        "preempting",
        "ready",
        "running",
        "share",
        "starting",
        "time_limit",
    }
)
"""Causes that time alone changes: jobs end, and places come free."""


@call("GET /v1/batches/{b}/forecast", Right.READ, Forecast)
async def forecast_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Say about when a batch starts and ends and what it costs, from its own jobs and like ones,
    what stands before it, and its pool; `unknown` says why that is not known. Raise
    `BatchNotFound`.
    """
    why = await why_batch(services, caller, batch_id)
    facts = await services.store.forecast_facts(caller, batch_id, 0)
    return {"batch_id": batch_id, "job_id": None, **await _forecast(why, facts)}


@call("GET /v1/batches/{b}/jobs/{j}/forecast", Right.READ, Forecast)
async def forecast_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId
) -> Answer:
    """Say the same of a job. Raise `JobNotFound`."""
    why = await why_job(services, caller, batch_id, job_id)
    facts = await services.store.forecast_facts(caller, batch_id, job_id)
    return {"batch_id": batch_id, "job_id": job_id, **await _forecast(why, facts)}


async def _forecast(why: Answer, facts: ForecastFacts | None) -> dict[str, Any]:
    unknown = _obstacle(why, facts)
    outlook = None if unknown or facts is None else await asyncio.to_thread(promise, facts)
    if outlook is None or facts is None:
        unknown = unknown or "too few jobs like it have ended, or they differ too much"
        return {
            "unknown": unknown,
            "starts": None,
            "ends": None,
            "costs": None,
            "n_like": 0,
            "causes": why["causes"],
        }
    now = datetime.now(UTC)
    starts, ends = (
        span and [now + timedelta(seconds=min(seconds, 1e9)) for seconds in span]
        for span in (outlook.starts, outlook.ends)
    )
    costs = [facts.cost + work * facts.price * 1000 / HOUR_MS for work in outlook.work]
    return {
        "unknown": None,
        "starts": starts,
        "ends": ends,
        "costs": costs,
        "n_like": outlook.n_like,
        "causes": why["causes"],
    }


def _obstacle(why: Answer, facts: ForecastFacts | None) -> str | None:
    """Return what keeps a forecast from being made; None: nothing."""
    if why["state"] in ENDED_WORDS:
        return "it has ended"
    if first := next((cause for cause in why["causes"] if cause["kind"] not in FOR_ROOM), None):
        return str(first["text"])
    if facts is None or not facts.n_waiting + facts.n_running:
        return "no job of it waits or runs"
    is_served = facts.pool.cpu_active or facts.n_running
    return None if is_served else "no worker is active that serves it"


PART: Final = ApiPart(calls=calls_of(sys.modules[__name__]))
