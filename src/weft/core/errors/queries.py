"""Errors about queries, also those that are saved."""

from weft.core.errors.kinds import (
    Conflict,
    FieldError,
    Invalid,
    NotFound,
)


class BadQuery(Invalid, code="API.INVALID_QUERY"):
    """A query that cannot be read."""

    @classmethod
    def at(cls, message: str, *, line: int, column: int, picture: str) -> "BadQuery":
        """Make the error for a position; `picture`: the line, and a mark below it."""
        where = f"line {line}, column {column}"
        return cls(
            "the query cannot be read",
            detail=f"At {where}: {message}" + ("" if message.endswith("?") else "."),
            hint=f"Correct it there:\n{picture}",
            errors=[FieldError("?q", f"{where}: {message}")],
        )


class QueryTooWide(Invalid, code="API.QUERY_TOO_WIDE", status=422):
    """A query that no index answers would read too many jobs."""


class QueryTooSlow(Invalid, code="API.QUERY_TOO_SLOW", status=422):
    """The query took longer than the limit."""


class SavedQueryNotFound(NotFound, code="API.SAVED_QUERY_NOT_FOUND"):
    """The caller has no saved query of this name."""

    advice = "List yours with `weft query ls`; `weft query save NAME QUERY` makes one."


class TooManySavedQueries(Conflict, code="API.TOO_MANY_SAVED_QUERIES"):
    """The caller has as many saved queries as a user may have."""

    advice = "Remove one with `weft query rm NAME`."
