"""The words of JobWeaver: states, instants, ids of executions."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid5

from weft.core.states import JobState

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
