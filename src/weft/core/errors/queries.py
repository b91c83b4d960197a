"""Errors in queries: the text cannot be read, or the query would cost too much."""

from weft.core.errors.kinds import FieldError, Invalid


class BadQuery(Invalid):
    """A query that cannot be read."""

    code = "API.INVALID_QUERY"

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


class QueryTooWide(Invalid):
    """A query that no index answers would read too many jobs."""

    code = "API.QUERY_TOO_WIDE"
    status = 422


class QueryTooSlow(Invalid):
    """The query took longer than the limit."""

    code = "API.QUERY_TOO_SLOW"
    status = 422
