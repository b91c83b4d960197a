"""Errors in queries: the text cannot be read, or the query would cost too much."""

from weft.core.errors.kinds import Conflict, FieldError, Invalid, NotFound


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


class SavedQueryNotFound(NotFound):
    """The caller has no saved query of this name."""

    code = "API.SAVED_QUERY_NOT_FOUND"
    advice = "List yours with `weft query ls`; `weft query save NAME QUERY` makes one."


class ProductNotFound(NotFound):
    """The product does not exist."""

    code = "API.PRODUCT_NOT_FOUND"
    advice = "List those that you see with `weft products`."


class TooManySavedQueries(Conflict):
    """The caller has as many saved queries as a user may have."""

    code = "API.TOO_MANY_SAVED_QUERIES"
    advice = "Remove one with `weft query rm NAME`."
