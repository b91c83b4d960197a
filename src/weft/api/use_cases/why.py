"""Say why jobs wait, and what became of them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId, GroupId, JobId
from weft.api.services import Services
from weft.api.use_cases.output import Outputs
from weft.api.use_cases.queues import chosen_queue
from weft.core.access.rights import Right
from weft.core.ends.services import service_end
from weft.core.errors import OutputElsewhere
from weft.core.states import ENDED_WORDS
from weft.core.why import (
    Cause,
    EndFacts,
    JobFacts,
    causes_of_end,
    causes_of_group,
    causes_of_wait,
    sentence,
)
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.submission.translation.gates import SENTENCES
from weft.wire.answers.why import GroupWhy, JobWhy

TAIL_BYTES: Final = 2000
LINE_CHARS: Final = 200


@call("GET /v1/batches/{b}/jobs/{j}/why", Right.READ, JobWhy, public=False)
async def why_job(services: Services, caller: Caller, batch_id: BatchId, job_id: JobId) -> Answer:
    """Say why a job waits: all causes, what is first to change first, each with the command that
    changes it. Of a job that runs or has ended, say where and since when it runs, or how it ended.
    Raise `JobNotFound`.
    """
    facts = await services.store.why_job(caller, batch_id, job_id)
    if facts.pool is None:  # it does not wait
        end = await _end_of(services, caller, batch_id, job_id, facts)
        state, causes = end.state, causes_of_end(end, datetime.now(UTC))
    else:
        state = facts.state
        facts = await _routed(services, caller, facts)
        causes = causes_of_wait(_for(facts, caller), SENTENCES, datetime.now(UTC))
    said = {"state": state, "causes": _shown(causes)}
    return {"batch_id": batch_id, "job_id": job_id, **facts.came, **said}


@call("GET /v1/batches/{b}/why", Right.READ, GroupWhy, client="")
async def why_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Say why jobs of a batch wait. A few stand for the others, so it takes the same time however
    many there are.
    """
    return await why_group(services, caller, batch_id, 0)


@call("GET /v1/batches/{b}/groups/{g}/why", Right.READ, GroupWhy, client="")
async def why_group(
    services: Services, caller: Caller, batch_id: BatchId, group: GroupId
) -> Answer:
    """Say why jobs of a group wait, as for a batch. Raise `BatchNotFound`, `GroupNotFound`."""
    facts = await services.store.why_group(caller, batch_id, group)
    ready = tuple([_for(await _routed(services, caller, one), caller) for one in facts.ready])
    facts = msgspec.structs.replace(facts, ready=ready)
    causes = causes_of_group(facts, SENTENCES, datetime.now(UTC))
    return {
        "batch_id": batch_id,
        "name": facts.name,
        **facts.came,
        "state": facts.state,
        "causes": _shown(causes),
    }


async def add_why(
    services: Services, caller: Caller, batch_id: int, rows: Sequence[Row]
) -> Sequence[Row]:
    """Return documents of jobs with the first cause, as `why`, of those that wait."""
    waiting = [row["job_id"] for row in rows if row["state"] not in {*ENDED_WORDS, "running"}]
    if not waiting:
        return rows
    now = datetime.now(UTC)
    found: dict[int, str] = {}
    for facts in await services.store.why_jobs(caller, batch_id, waiting):
        for cause in causes_of_wait(_for(facts, caller), SENTENCES, now)[:1]:
            found[facts.job_id] = sentence(cause)
    return [{**row, "why": found.get(row["job_id"])} for row in rows]


async def _routed(services: Services, caller: Caller, facts: JobFacts) -> JobFacts:
    """Add the queue that guards choose for the job by now."""
    chosen = await chosen_queue(services, caller, facts.batch_id, facts.job_id)
    return msgspec.structs.replace(facts, belongs=chosen)


def _for(facts: JobFacts, caller: Caller) -> JobFacts:
    is_own = facts.user == caller.user_name
    return msgspec.structs.replace(facts, user="") if is_own else facts


def _shown(causes: Sequence[Cause]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(cause) for cause in causes]


async def _end_of(
    services: Services, caller: Caller, batch_id: int, job_id: int, facts: JobFacts
) -> EndFacts:
    job = await services.store.get_job(caller, batch_id, job_id)
    attempts = await services.store.list_attempts(caller, batch_id, job_id)
    last = attempts[-1] if attempts else {}
    actor = None
    if job["state"] == "cancelled":
        changes = await services.store.job_history(caller, batch_id, job_id)
        actors = (change["actor"] for change in reversed(changes) if change["to"] == "cancelled")
        # A worker reports the end of a job that was stopped; it is not who asked for that.
        actor = next((one for one in actors if one.startswith("user ")), None)
    failed = job["state"] in {"failed", "error"}
    known = {
        **job,
        "worker": last.get("worker"),
        "claimed_at": last.get("claimed_at"),
        "started_at": last.get("started_at"),
        "timeout_s": job["spec"].timeout_s if job["spec"] else None,
        "memory": (job.get("resources") or {}).get("memory"),
        "memory_peak": last.get("memory_peak_bytes"),
        "actor": actor,
        "again": None if "service" not in job else _again(attempts),
        "kept": facts.kept,
        "messages": facts.messages,
        "silent_since": facts.silent_since,
        "reconnects_since": facts.reconnects_since,
        "stderr": await _last_line(services, caller, batch_id, job_id) if failed else None,
    }
    return msgspec.convert(known, EndFacts)


def _again(attempts: Sequence[Row]) -> str | None:
    """Return why a service was started again last."""
    ends = (attempt for attempt in reversed(attempts[:-1]) if attempt["reason"] is not None)
    return next(map(service_end, ends), None)


async def _last_line(services: Services, caller: Caller, batch_id: int, job_id: int) -> str | None:
    """Return what a job wrote last to its standard error; None: it cannot be read."""
    outputs = Outputs(services, caller, batch_id)
    try:
        log = await outputs.find(job_id, None)
        if log is None:
            return None
        size = await outputs.size(log, "stderr")
        blocks = outputs.read(log, "stderr", max(0, size - TAIL_BYTES), size)
        tail = b"".join([block async for block in blocks])
    except OutputElsewhere:
        return None
    lines = tail.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip()[:LINE_CHARS] if lines else ""
