"""Documents of JobWeaver from rows of weft, and jobs of weft from what its clients ask for: pure
functions, for whoever carries them.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid5

from weft.core.ends.retry_policy import wait_s
from weft.core.states import JobState
from weft.ports.store import Row
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.foreign_jobs import ForeignJob
from weft.wire.documents.retries import RetryDocument
from weft.wire.documents.simulations import SimulationDocument

TRIES_MAX: Final = 10_000
"""A job is not tried more often, whatever number of retries is asked for: that is over a month."""
FIRST_S: Final = 10
LONGEST_S: Final = 300
_POLICY: Final = {
    "policy": "exponential",
    "first_s": FIRST_S,
    "longest_s": LONGEST_S,
    "jitter": 0,
}
_ASKED: Final = "maxRetryCount"
"""The attribute that keeps a number of retries which weft does not reach."""


def batch_of(
    simulation: SimulationDocument, retries_max: int, identity: dict[str, str] | None = None
) -> BatchDocument:
    """Return the batch of a job. `identity`: as it travels over topics; None: it does not."""
    tries_max = min(retries_max + 1, TRIES_MAX)
    job = ForeignJob(simulation=simulation, max_attempts=tries_max, identity=identity)
    if retries_max:
        job.retry = RetryDocument(
            policy="exponential", first_s=FIRST_S, longest_s=LONGEST_S, jitter=0
        )
    attributes = {_ASKED: str(retries_max)} if retries_max >= TRIES_MAX else {}
    return BatchDocument(jobs=[job], attributes=attributes)


def retries_of(row: Row) -> int:
    """Return how many retries were asked for."""
    asked = row["attributes"].get(_ASKED, "")
    is_kept = row["max_attempts"] == TRIES_MAX and asked.isascii() and asked.isdecimal()
    return int(asked[:10]) if is_kept else row["max_attempts"] - 1


def job_document(row: Row) -> dict[str, Any]:
    """Return a job as the api of JobWeaver shows it."""
    return {
        "id": row["foreign_id"],
        "type": SIMULATION,
        "traceId": row["foreign_trace"],
        "createdAt": instant(row["created_at"]),
        "updatedAt": instant(row["updated_at"]),
        "status": word_of(row["state"]),
        "weftJob": f"b{row['batch_id']}.j1",
    }


def status_document(row: Row) -> dict[str, Any]:
    """Return a job as its scheduler shows it."""
    word = word_of(row["state"])
    return {
        "jobId": row["foreign_id"],
        "traceId": row["foreign_trace"],
        "jobStatus": word,
        "retryCount": row["n_failed"],
        "maxRetries": retries_of(row),
        "nextRunAt": instant(_next_run_at(row)),
        "updatedAt": instant(row["updated_at"]),
        "lastError": row["last_error"] or ("cancelled" if row["state"] == "cancelled" else None),
    }


def _next_run_at(row: Row) -> datetime | str:
    """Return when a job is to run, or was to run last: a failure that is final sets no date."""
    if row["next_try_at"]:
        due: str = row["next_try_at"]
        return due
    is_dead = row["state"] in {"failed", "error"}
    n_waits = min(row["n_failed"] - is_dead, row["max_attempts"] - 1)
    if n_waits < 1:
        created: str = row["created_at"]
        return created
    failed_at: str = row["failed_at"][is_dead]  # the newest first
    return datetime.fromisoformat(failed_at) + timedelta(seconds=wait_s(_POLICY, n_waits) or 0)


def is_execution(attempt: Row) -> bool:
    """Return whether it runs or ran: one that was given back before it started did not."""
    return str(attempt["state"]) != "ready"


def execution_document(job: Row, attempt: Row) -> dict[str, Any]:
    """Return an execution."""
    outcome = outcome_of(attempt["state"])
    return {
        "eventId": event_id(job["foreign_id"], attempt["attempt"]),
        "jobId": job["foreign_id"],
        "traceId": job["foreign_trace"],
        "outcome": outcome,
        "startedAt": instant(attempt["started_at"] or attempt["claimed_at"]),
        "finishedAt": instant(attempt["ended_at"]),
        "errorMessage": _error_of(attempt) if outcome == "FAILURE" else None,
    }


def run_document(run: Row) -> dict[str, Any]:
    """Return the execution of a job that somebody else schedules."""
    return {
        "eventId": run["event_id"],
        "jobId": run["job_id"],
        "traceId": run["trace_id"],
        "outcome": outcome_of(run["state"]),
        "startedAt": instant(run["started_at"]),
        "finishedAt": instant(run["ended_at"]),
        "errorMessage": run["error"],
    }


def _error_of(attempt: Row) -> str | None:
    reason: str | None = attempt["reason"]
    return attempt["message"] or (None if reason == "exit" else reason)


SIMULATION: Final = "SIMULATION"
STATES: Final[Mapping[str, tuple[JobState, ...]]] = {
    "PENDING": (JobState.PENDING, JobState.READY, JobState.BLOCKED),
    "RUNNING": (JobState.QUEUED, JobState.CREATING, JobState.RUNNING),
    "COMPLETED": (JobState.SUCCESS,),
    "FAILED": (JobState.FAILED, JobState.ERROR, JobState.CANCELLED),
}
_WORDS: Final = {state.name.lower(): word for word, states in STATES.items() for state in states}


def word_of(state: str) -> str:
    """Return the word of JobWeaver for a state of weft."""
    return _WORDS[state]


def outcome_of(state: str) -> str:
    """Return how an attempt ended, or that it runs."""
    return {"running": "RUNNING", "success": "SUCCESS"}.get(state, "FAILURE")


def instant(at: datetime | str | None) -> str | None:
    """Return an instant in UTC, as `2026-11-23T22:00:00.123456Z`."""
    if at is None:
        return None
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def event_id(job_id: str, attempt: int) -> str:
    """Return the id of an execution: the same whenever it is asked for."""
    return str(uuid5(UUID(job_id), f"attempt {attempt}"))
