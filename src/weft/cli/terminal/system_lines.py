"""What the programs of weft recorded of a job, as lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.cli.terminal.names import Document
from weft.cli.terminal.plain import moment, one_line
from weft.core.ends.end_words import explain_end


def system_entries(
    history: Sequence[Document], attempts: Sequence[Document], attempt: int | None
) -> list[Mapping[str, Any]]:
    """Return the changes of a job in the order of their dates, with how its attempts ended.
    `attempt`: only what is about this one.
    """
    ends = {one["attempt"]: explain_end(one) for one in attempts if one.get("ended_at")}
    entries = [
        {
            "at": one["at"], "by": one["actor"], "attempt": one["attempt"],
            "text": _change(one, ends.get(one["attempt"])),
        }
        for one in history
    ]  # fmt: skip
    found = [one for one in entries if attempt is None or one["attempt"] == attempt]
    return sorted(found, key=lambda one: str(one["at"]))


def system_line(entry: Mapping[str, Any]) -> str:
    """Return an entry as a line: `12:00:05 worker n1 attempt 2: running → failed: exit code 3`."""
    attempt = "" if entry["attempt"] is None else f" attempt {entry['attempt']}"
    by, text = one_line(entry["by"], width=80), one_line(entry["text"], width=2000)
    return f"{moment(entry['at'])} {by}{attempt}: {text}"


def _change(one: Document, end: str | None) -> str:
    """Return what changed, with how the attempt ended by it."""
    moves = one.get("from") != one.get("to")
    move = f"{one['from'] or 'submitted'} → {one['to']}" if moves else one.get("phase")
    ended = end if moves and one["from"] == "running" else one.get("message")
    return ": ".join(text for text in (move, one.get("status"), one.get("subtype"), ended) if text)
