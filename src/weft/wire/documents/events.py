"""Documents of events, as streams and topics carry them."""

from collections.abc import Mapping
from typing import Any

from weft.core.states import JobState, word_of


def event_document(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the document of an event."""
    return {
        "id": f"{row['xid']}-{row['event_id']}",
        "at": row["at"],
        "kind": row["kind"],
        "batch_id": row["batch_id"],
        "from": _word(row["from_state"]),
        "to": _word(row["to_state"]),
        "jobs": row["jobs"],
        "groups": row["groups"],
        "trace_id": row["trace_id"],
        "detail": row["detail"],
    }


def _word(state: int | None) -> str | None:
    return None if state is None else word_of(JobState, state)
