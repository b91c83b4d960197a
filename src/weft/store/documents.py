"""Documents as the database makes them, with some fields rewritten for people."""

from typing import Any

from weft.core.states import Phase, Reason
from weft.ports.store import Row


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
        document["phase"] = Phase(document["phase"]).word
    if document.get("reason") is not None:
        document["reason"] = reason_word(document["reason"])
    return document


def reason_word(number: int | None) -> str | None:
    """Return the word of a reason."""
    return None if number is None else Reason(number).word
