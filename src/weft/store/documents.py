"""Documents as the database makes them, with some fields rewritten for people."""

from collections.abc import Sequence
from typing import Any

import asyncpg

from weft.core.states import JobState, Phase, Reason, word_of
from weft.ports.store import JobEntry, Row


def batch_document(document: Row) -> Row:
    """Turn the document of a root group into its batch's."""
    return {
        "id": document["batch_id"],
        **{
            key: value
            for key, value in document.items()
            if key not in {"batch_id", "group_id", "parent_id", "path", "kind"}
        },
    }


def with_words(document: dict[str, Any]) -> dict[str, Any]:
    """Write phase and reason as words."""
    if document.get("phase") is not None:
        document["phase"] = word_of(Phase, document["phase"])
    if document.get("reason") is not None:
        document["reason"] = reason_word(document["reason"])
    return document


def all_with_words(rows: Sequence[asyncpg.Record]) -> list[Row]:
    """Return the first value of each row, a document."""
    return [with_words(row[0]) for row in rows]


def entry_of(row: Sequence[Any]) -> JobEntry:
    """Return an entry of a list of jobs from a row of `list_job_entries`."""
    job_id, group_id, name, state, reason, *rest = row
    word = word_of(JobState, state)
    return JobEntry(job_id, group_id, name, word, reason_word(reason), *rest)


def reason_word(number: int | None) -> str | None:
    """Return the word of a reason."""
    return None if number is None else word_of(Reason, number)
