"""Errors in a request itself: its path, method, headers, parameters and body."""

from weft.core.errors.kinds import (
    Conflict,
    Invalid,
    NotFound,
    TooLarge,
    Unavailable,
)

_LISTS = "List batches with `weft ls`, jobs with `weft jobs b12`."


class MalformedBody(Invalid, code="API.MALFORMED_BODY"):
    """The body is not valid JSON or msgpack."""


class InvalidParameter(Invalid, code="API.INVALID_PARAMETER"):
    """A query parameter or header is unknown or has an impossible value."""


class BadId(Invalid, code="API.INVALID_ID"):
    """A malformed id."""

    def __init__(self, text: str, *, expected: str, hint: str = "", why: str = "") -> None:
        shown = text if len(text) <= 80 else text[:80] + "…"  # noqa: PLR2004 (a line of a terminal)
        super().__init__(
            f"{shown!r} is {why or 'not an id'}",
            detail=f"{expected[0].upper()}{expected[1:]}.",
            hint=hint or (_LISTS if "b12" in expected else "Correct it and try again."),
        )


class RateLimitExceeded(Unavailable, code="API.RATE_LIMIT_EXCEEDED", status=429):
    """The token or its user has sent more requests than the settings allow."""

    retry_after_s = None  # the headers of the limit say when


class TooManyAtOnce(Unavailable, code="API.TOO_MANY_AT_ONCE", status=429):
    """A user has more requests under way than may be at the database at a time, and none of them
    has ended for seconds; or a user or tenant has more open than one api serves at a time.
    """


class RouteNotFound(NotFound, code="API.ROUTE_NOT_FOUND"):
    """The path does not exist."""


class MethodNotAllowed(Invalid, code="API.METHOD_NOT_ALLOWED", status=405):
    """The path does not support this method."""

    allow: tuple[str, ...] = ()
    """The methods that the path takes."""


class RequestTimeout(Invalid, code="API.REQUEST_TIMEOUT", status=408):
    """The body did not arrive in time."""


class MalformedRequest(Invalid, code="API.MALFORMED_REQUEST"):
    """The bytes are not an HTTP request."""


class HeadTooLarge(Invalid, code="API.HEAD_TOO_LARGE", status=431):
    """The head of the request is larger than the limit."""


class UnsupportedMedia(Invalid, code="API.UNSUPPORTED_MEDIA", status=415):
    """The body has an unsupported media type."""


class RangeNotSatisfiable(Invalid, code="API.RANGE_NOT_SATISFIABLE", status=416):
    """The `Range` is outside the output."""

    size: int | None = None
    """How many bytes there are."""


class IdempotencyConflict(Conflict, code="API.IDEMPOTENCY_CONFLICT", sqlstate="WF201"):
    """The idempotency key was used for another request."""


class PayloadTooLarge(TooLarge, code="API.PAYLOAD_TOO_LARGE"):
    """A function with what it refers to, or its arguments, are larger than the limit."""
