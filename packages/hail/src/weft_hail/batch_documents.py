"""Documents of batches and groups as Hail's clients and the receivers of its callbacks read them,
made from those of weft.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from weft.driver.callback_forms import CallbackForm

Document = dict[str, Any]
CPU: Final = "cpu"
"""The resource whose usage is counted in mCPU * ms."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
COST_DIGITS: Final = 12
"""After the point, as costs of jobs and of resources are rounded."""


def time_text(time: str | datetime | None) -> str | None:
    """Return a time as Hail writes it: in UTC, to the millisecond."""
    if time is None:
        return None
    at = datetime.fromisoformat(time) if isinstance(time, str) else time
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text_of_ms(ms: int) -> str:
    """Return a time that is given in milliseconds since 1970 as `time_text` does."""
    seconds, rest = divmod(ms, 1000)
    return f"{_text_of_second(seconds)}.{rest:03}Z"


@lru_cache(maxsize=1024)
def _text_of_second(seconds: int) -> str:
    """Return a time without its zone. Many jobs end in the same second."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()


def time_ms(text: str | None) -> int | None:
    """Return a time in milliseconds since 1970, cut off as in `time_text`."""
    if text is None:
        return None
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)


def duration_text(duration_ms: int | None) -> str | None:
    """Return a duration for people."""
    if duration_ms is None:
        return None
    seconds, minutes = duration_ms // 1000 % 60, duration_ms // 60_000 % 60
    hours = duration_ms // 3_600_000
    parts = [(hours, "hour"), (minutes, "minute"), (seconds, "second")]
    shown = [f"{count} {word}{'s' * (count != 1)}" for count, word in parts if count]
    return " ".join(shown) or f"{duration_ms} ms"


def batch_document(row: Mapping[str, Any], token: str) -> Document:
    """Return a batch."""
    counted = _counted(row)
    duration_ms = row["duration_ms"] if counted["complete"] else None
    return {
        "id": row["id"],
        "user": row["user"],
        "billing_project": row["billing_project"],
        "token": token,
        "closed": True,
        **counted,
        "time_closed": counted["time_created"],
        "duration_ms": duration_ms,
        "duration": duration_text(duration_ms),
        "msec_mcpu": msec_mcpu(row["cost_by_resource"]),
    }


def group_document(row: Mapping[str, Any]) -> Document:
    """Return a job group."""
    counted = _counted(row)
    return {
        "batch_id": row["batch_id"],
        "job_group_id": row["group_id"],
        **counted,
        "duration": row["duration_ms"] if counted["complete"] else None,
    }


def _counted(row: Mapping[str, Any]) -> Document:
    """Return what batches and groups share."""
    n_failed = row["n_failed"] + row["n_errored"]
    if n_failed:
        state = "failure"
    elif row["cancelled"] or row["n_cancelled"]:
        state = "cancelled"
    else:
        state = "success" if row["complete"] else "running"
    completed_at = row["completed_at"]
    if row["complete"] and completed_at is None:
        completed_at = row["created_at"]  # it is empty
    found = {
        "state": state,
        "complete": row["complete"],
        "n_jobs": row["n_jobs"],
        "n_completed": row["n_completed"],
        "n_succeeded": row["n_succeeded"],
        "n_failed": n_failed,
        "n_cancelled": row["n_cancelled"],
        "time_created": time_text(row["created_at"]),
        "time_completed": time_text(completed_at),
        "cost": round(row["cost"], COST_DIGITS),
        "cost_breakdown": breakdown(row["cost_by_resource"]),
    }
    return {**found, "attributes": row["attributes"]} if row["attributes"] else found


def breakdown(costs: Sequence[Mapping[str, Any]]) -> list[Document]:
    """Return costs by resource."""
    return [{"resource": cost["resource"], "cost": cost["cost"]} for cost in costs]


def msec_mcpu(costs: Sequence[Mapping[str, Any]]) -> int:
    """Return the cpu time reserved, in mCPU * ms."""
    return sum(int(cost["usage"]) for cost in costs if cost["resource"] == CPU)


def _document(document: Mapping[str, Any], token: str) -> Document:
    """Return a batch or a group, whose document this is."""
    return batch_document(document, token) if "id" in document else group_document(document)


FORM: Final = CallbackForm(document=_document, once=True)
