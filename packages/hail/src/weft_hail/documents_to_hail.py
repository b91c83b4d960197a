"""From documents of weft to those of Hail: jobs, attempts, billing projects. Those of batches and
groups, which callbacks carry, too, are in `batch_documents.py`.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from weft.api.services import Payers
from weft.core.access.secret_variables import masked
from weft.core.states import JobState
from weft.ports.store import JobEntry, Row
from weft.wire.spec import JobSpec
from weft.wire.usage_format import UsageSample
from weft_hail.batch_documents import (
    COST_DIGITS,
    duration_text,
    msec_mcpu,
    text_of_ms,
    time_ms,
    time_text,
)
from weft_hail.jobs_from_hail import ATTEMPT, N_MAX_ATTEMPTS, present_form
from weft_hail.requests import Document
from weft_hail.resources import REGION, asked_of, collection_of

_STATES: Final = {
    **{state.word: state.word.capitalize() for state in JobState},
    "queued": "Ready",
    "blocked": "Ready",
}
_IN_STATUS: Final = {
    **{state: state.lower() for state in ("Running", "Failed", "Error", "Cancelled")},
    "Success": "succeeded",
}
_EXITED: Final = frozenset({"success", "failed"})
OWN_FAILURES: Final = frozenset({"no_program", "oom"})
"""Reasons of errors of weft that are failures of the job itself there."""
_RESOURCES: Final = ("cpu", "memory", "storage", "gpu")
"""In the order of `JobEntry.costs`."""
SIGNALLED: Final = 128
_OOM: Final = "out of memory"
_SHORT_ERRORS: Final = {"timeout": "timed out", "oom": _OOM, "no_image": "image not found"}
_ERRORS: Final = {"timeout": "ContainerTimeoutError", "oom": _OOM}
_FAILED: Final = frozenset({"Failed", "Error"})
_WHILE_WAITING: Final = frozenset({None, "deadline", "overdue", "blocked"})
"""Reasons of ends without an attempt."""
_LOST: Final = frozenset({"cancelled", "preempted", "lost"})
"""Reasons that Hail's attempts have, too; a job's own end has none there."""
_USED: Final = ("time_msecs", "memory_in_bytes", "cpu_usage")
_STATUS_VERSION: Final = 5
_FORMAT_VERSION: Final = 7


def job_state(job: JobEntry) -> str:
    """Return the state of a job. A lease has not started, so its job is ready there; a program
    that cannot be executed or has too little memory is the job's own failure there.
    """
    if job.state == "running" and job.duration_ms is None:
        return "Ready"
    if job.state == "error" and job.reason in OWN_FAILURES:
        return "Failed"
    return _STATES[job.state]


def job_entry(batch_id: int, job: JobEntry, payers: Payers) -> Document:
    """Return a job as lists show it."""
    state = job_state(job)
    could_not_start = state in _FAILED and job.reason not in _WHILE_WAITING
    is_told = job.duration_ms is not None or could_not_start
    ended_ms = job.ended_ms if is_told else None
    return {
        "batch_id": batch_id,
        "job_id": job.job_id,
        "job_group_id": job.group_id,
        "name": job.name,
        "user": payers.user,
        "billing_project": payers.project,
        "state": state,
        "exit_code": exit_code(job),
        "end_time": None if ended_ms is None else text_of_ms(ended_ms),
        "duration": None if ended_ms is None else job.duration_ms or 0,
        "cost": job.cost or 0,
        "msec_mcpu": job.cpu_usage or 0,
        "cost_breakdown": [
            {"resource": resource, "cost": cost}
            for resource, cost in zip(_RESOURCES, job.costs, strict=True)
            if cost is not None
        ],
        "always_run": job.always_run,
        "display_state": None,
    }


def exit_code(job: JobEntry) -> int | None:
    """Return the exit code of a job; a signal counts from 128 on."""
    if job.state not in _EXITED and (job.state, job.reason) != ("error", "oom"):
        return None
    if job.exit_code is None and job.signal is not None:
        return SIGNALLED + job.signal
    return job.exit_code


def added_costs(attempts: Sequence[Row]) -> list[Document]:
    """Return the costs of these attempts together, by resource."""
    found: dict[str, Document] = {}
    for attempt in attempts:
        for one in attempt["cost_by_resource"]:
            known = found.setdefault(
                one["resource"], {"resource": one["resource"], "cost": 0, "usage": 0}
            )
            known["cost"] = round(known["cost"] + one["cost"], COST_DIGITS)
            known["usage"] += one["usage"]
    return list(found.values())


def job_document(
    row: Row,
    original: bytes | None,
    attempts: Sequence[Row],
    *,
    payers: Payers,
    masks: tuple[str, ...],
) -> Document:
    """Return a job with its spec and status."""
    entry = job_entry(row["batch_id"], _listed(row, attempts), payers)
    spec = spec_document(row, original, masks)
    state = entry["state"]
    ran = [attempt for attempt in attempts if has_times(attempt)]
    status = None
    if ran and state in _IN_STATUS:
        status = status_document(row, ran[-1], state, entry["exit_code"])
    document = {
        **entry,
        "n_max_attempts": spec["n_max_attempts"],
        "status": status,
        "spec": spec,
        "inst_coll": _collection_of(row, spec, original),
    }
    return {**document, "attributes": row["attributes"]} if row["attributes"] else document


def _collection_of(row: Row, spec: Document, original: bytes | None) -> str:
    if original is not None:
        return asked_of(spec, "").collection
    asked = row["resources"]
    return collection_of(asked["memory"], round(asked["cpu"] * 1000))


def _listed(row: Row, attempts: Sequence[Row]) -> JobEntry:
    """Return what lists show of a job, from its document."""
    costs = added_costs([attempt for attempt in attempts if attempt["started_at"] is not None])
    cost_of = {cost["resource"]: cost["cost"] for cost in costs}
    return JobEntry(
        job_id=row["job_id"],
        group_id=row["group_id"],
        name=(row["attributes"] or {}).get("name", row["name"]),
        state=row["state"],
        # Of an attempt, as in lists: what ended while it waited has a reason of its own.
        reason=row["reason"] if attempts and attempts[-1]["reason"] == row["reason"] else None,
        exit_code=row["exit_code"],
        signal=row["signal"],
        always_run=row["always_run"],
        ended_ms=time_ms(row["ended_at"]),
        duration_ms=None if row["started_at"] is None else row["duration_ms"],
        cost=row["cost"],
        cpu_usage=msec_mcpu(costs),
        cpu_cost=cost_of.get("cpu"),
        memory_cost=cost_of.get("memory"),
        storage_cost=cost_of.get("storage"),
        gpu_cost=cost_of.get("gpu"),
    )


def spec_document(row: Row, original: bytes | None, masks: tuple[str, ...]) -> Document:
    """Return the spec of a job as it was submitted, with its number in the batch; of a job that
    did not come through this door, what can be said of it.
    """
    if original is None:
        spec = _native_spec(row["spec"])
    else:
        spec = present_form(msgspec.json.decode(original), "job")
        spec["process"]["command"] = _native_spec(row["spec"])["process"]["command"]
    if "env" in spec:
        spec["env"] = [
            {"name": name, "value": value}
            for one in spec["env"]
            for name, value in masked({one["name"]: one["value"]}, masks).items()
        ]
    return {
        **spec,
        "job_id": row["job_id"],
        "always_run": row["always_run"],
        "n_max_attempts": spec.get("n_max_attempts", N_MAX_ATTEMPTS),
        "network": spec.get("network", "public"),
        "regions": spec.get("regions", [REGION]),
    }


def image_of(original: bytes) -> str:
    """Return the image that a spec names."""
    image: str = present_form(msgspec.json.decode(original), "job")["process"]["image"]
    return image


def _native_spec(spec: JobSpec | None) -> Document:
    """Return the spec of a job that was submitted to weft itself."""
    command = list(spec.command or ()) if spec is not None else []
    if spec is not None and spec.script is not None:
        command = ["/bin/sh", "-c", spec.script]
    found: Document = {"process": {"type": "docker", "image": "", "command": command}}
    if spec is not None and spec.env:
        found["env"] = [{"name": name, "value": value} for name, value in spec.env.items()]
    return found


def status_document(row: Row, attempt: Row, state: str, code: int | None) -> Document:
    """Return what Hail's workers say of the last attempt that ran."""
    started, ended = time_ms(attempt["started_at"]), time_ms(attempt["ended_at"])
    name = _IN_STATUS[state]
    reason = attempt["reason"]
    if started is not None and ended is not None and row["duration_ms"] is not None:
        ended = started + row["duration_ms"]  # both were rounded
    duration = None if ended is None or started is None else ended - started
    inner: Document = {
        "state": "running" if ended is None else "finished",
        "started_at": started,
        "finished_at": ended,
        "out_of_memory": reason == "oom",
    }
    if code is not None:
        inner["exit_code"] = code
    main: Document = {"name": "main", "state": name, "timing": {}}
    if started is not None:
        main["timing"] = {"running": {"start_time": started, "duration": duration}}
        main["container_status"] = inner
    status: Document = {
        "version": _STATUS_VERSION,
        "worker": attempt["worker"],
        "batch_id": row["batch_id"],
        "job_id": row["job_id"],
        "attempt_id": attempt_id(row, attempt),
        "job_group_id": row["group_id"],
        "user": row["user"],
        "state": name,
        "format_version": _FORMAT_VERSION,
        "resources": [],
        "region": REGION,
        "start_time": ended if started is None else started,
        "end_time": ended,
        "timing": {},
        "container_statuses": {"main": main},
    }
    if reason == "oom" and state in _FAILED:
        main["short_error"] = _SHORT_ERRORS[reason]
    if reason is not None and state in _FAILED and code is None:
        text = attempt["message"] or reason
        main["error"] = f"{_ERRORS[reason]}: {text}" if reason in _ERRORS else text
        main["short_error"] = _SHORT_ERRORS.get(reason, reason)
        status["error"] = main["error"]
    return status


def attempt_id(row: Row, attempt: Row) -> str:
    """Return the id of an attempt of a job."""
    return ATTEMPT.format(batch=row["batch_id"], job=row["job_id"], attempt=attempt["attempt"])


def has_times(attempt: Row) -> bool:
    """Say whether an attempt is shown: it has started, or failed because it could not be started.
    What was cancelled before says nothing.
    """
    return attempt["started_at"] is not None or attempt["state"] in {"failed", "error"}


def attempt_document(row: Row, attempt: Row) -> Document:
    """Return an attempt; one that could not be started has its end as start, too."""
    started_at = attempt["started_at"] or attempt["ended_at"]
    started, ended = time_ms(started_at), time_ms(attempt["ended_at"])
    assert started is not None, "only attempts with times are shown"
    now_ms = round(datetime.now(UTC).timestamp() * 1000)
    duration_ms = max(0, (now_ms if ended is None else ended) - started)
    document = {
        "batch_id": row["batch_id"],
        "job_id": row["job_id"],
        "attempt_id": attempt_id(row, attempt),
        "instance_name": attempt["worker"],
        "start_time": time_text(started_at),
        "start_time_ms": started,
        "duration": duration_text(duration_ms),
        "duration_ms": duration_ms,
        "reason": attempt["reason"] if attempt["reason"] in _LOST else None,
    }
    if ended is not None:
        document |= {"end_time": time_text(attempt["ended_at"]), "end_time_ms": ended}
    return document


def usage_document(attempt: Row, samples: Sequence[UsageSample]) -> Document:
    """Return what an attempt used as a table of pandas ("split"): when, how much memory, and how
    many cores since the sample before. One that ended before its first sample has a row about its
    end: the peak of its memory.
    """
    started = time_ms(attempt["started_at"])
    assert started is not None, "only attempts that have started have samples"
    data: list[list[float]] = []
    before = UsageSample(0, 0, 0)
    ended, peak = time_ms(attempt["ended_at"]), attempt["memory_peak_bytes"]
    if not samples and ended is not None and peak is not None:
        samples = [UsageSample(ended - started, attempt["cpu_ms"] or 0, peak)]
    for sample in samples:
        cores = (sample.cpu_ms - before.cpu_ms) / max(1, sample.at_ms - before.at_ms)
        data.append([started + sample.at_ms, sample.memory_bytes, round(cores, 3)])
        before = sample
    return {"columns": _USED, "index": list(range(len(data))), "data": data}


def project_document(row: Row) -> Document:
    """Return a billing project."""
    return {
        "billing_project": row["name"],
        "status": "closed" if row["closed"] else "open",
        "users": row["members"],
        "limit": row["cost_max"],
        "accrued_cost": row["cost"],
    }
