"""Errors in a request itself: its path, method, headers, parameters and body."""

from weft.core.errors.kinds import (
    Conflict,
    FieldError,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
    Unauthenticated,
    Unavailable,
    WeftError,
)


class MalformedBody(Invalid):
    """The body is not valid JSON or msgpack."""

    code = "API.MALFORMED_BODY"


class InvalidParameter(Invalid):
    """A query parameter or header is unknown or has an impossible value."""

    code = "API.INVALID_PARAMETER"


class BadId(Invalid):
    """A malformed id."""

    code = "API.INVALID_ID"

    def __init__(
        self,
        text: str,
        *,
        expected: str,
        hint: str = "List batches with `weft ls`, jobs with `weft jobs b12`.",
    ) -> None:
        shown = text if len(text) <= 80 else text[:80] + "…"  # noqa: PLR2004 (a line of a terminal)
        super().__init__(
            f"{shown!r} is not an id", detail=f"{expected[0].upper()}{expected[1:]}.",
            hint=hint,
        )  # fmt: skip


class RightMissing(Forbidden):
    """The caller's role does not have the right that this needs."""

    code = "API.RIGHT_MISSING"
    sqlstate = "WF121"


class PermissionMissing(Forbidden):
    """The caller sees the batch, but may not do this to it."""

    code = "API.PERMISSION_MISSING"
    sqlstate = "WF130"


class TokenNotFound(NotFound):
    """The caller has no such token."""

    code = "API.TOKEN_NOT_FOUND"


class LoginLinkRefused(Unauthenticated):
    """The code of a login link is unknown, used, replaced by another, or has expired."""

    code = "API.LOGIN_LINK_REFUSED"
    exit_code = 4


class LoginRefused(Unauthenticated):
    """An issuer does not let somebody in, or what came back from it is not believed."""

    code = "API.LOGIN_REFUSED"
    exit_code = 4


class IssuerNotFound(NotFound):
    """People cannot log in at such an issuer."""

    code = "API.ISSUER_NOT_FOUND"


class IssuerAmbiguous(Invalid):
    """People can log in at several issuers."""

    code = "API.ISSUER_AMBIGUOUS"


class IssuerNotAnswering(Unavailable):
    """An issuer cannot be asked now."""

    code = "API.ISSUER_NOT_ANSWERING"


class NoDeviceLogin(Conflict):
    """The issuer has no device endpoint."""

    code = "API.NO_DEVICE_LOGIN"


class NotInVisit(Forbidden):
    """On a visit to another tenant, an administrator of the site asks for more than to read it."""

    code = "API.NOT_IN_VISIT"


class ForeignRequest(Forbidden):
    """A browser sends a session along with a request that no page of this server has made."""

    code = "API.FOREIGN_REQUEST"


class SessionNotFound(NotFound):
    """The caller has no such session."""

    code = "API.SESSION_NOT_FOUND"


class TooManyTokens(Conflict):
    """A user has as many tokens as the setting allows."""

    code = "API.TOO_MANY_TOKENS"
    sqlstate = "WF117"


class RateLimitExceeded(Unavailable):
    """The token or its user has sent more requests than the settings allow."""

    code = "API.RATE_LIMIT_EXCEEDED"
    status = 429
    retry_after_s = None  # the headers of the limit say when


class TooManyAtOnce(Unavailable):
    """A user has more requests under way than may be at the database at a time, and none of them
    has ended for seconds.
    """

    code = "API.TOO_MANY_AT_ONCE"
    status = 429


class TooManyFailedLogins(Unavailable):
    """An address has sent more requests with wrong tokens than the setting allows."""

    code = "API.TOO_MANY_FAILED_LOGINS"
    status = 429


class RouteNotFound(NotFound):
    """The path does not exist."""

    code = "API.ROUTE_NOT_FOUND"


class MethodNotAllowed(Invalid):
    """The path does not support this method."""

    code = "API.METHOD_NOT_ALLOWED"
    status = 405
    allow: tuple[str, ...] = ()
    """The methods that the path takes."""


class RequestTimeout(Invalid):
    """The body did not arrive in time."""

    code = "API.REQUEST_TIMEOUT"
    status = 408


class MalformedRequest(Invalid):
    """The bytes are not an HTTP request."""

    code = "API.MALFORMED_REQUEST"


class HeadTooLarge(Invalid):
    """The head of the request is larger than the limit."""

    code = "API.HEAD_TOO_LARGE"
    status = 431


class UnsupportedMedia(Invalid):
    """The body has an unsupported media type."""

    code = "API.UNSUPPORTED_MEDIA"
    status = 415


class RangeNotSatisfiable(Invalid):
    """The `Range` is outside the output."""

    code = "API.RANGE_NOT_SATISFIABLE"
    status = 416
    size: int | None = None
    """How many bytes there are."""


class IdempotencyConflict(Conflict):
    """The idempotency key was used for another request."""

    code = "API.IDEMPOTENCY_CONFLICT"
    sqlstate = "WF201"


class TooManyJobs(TooLarge):
    """More jobs or groups in one request than the limit."""

    code = "API.TOO_MANY_JOBS"


class PayloadTooLarge(TooLarge):
    """The arguments of a function are larger than the limit."""

    code = "API.PAYLOAD_TOO_LARGE"


class TooManyParents(TooLarge):
    """More pairs of a job and its parent in one request than the limit."""

    code = "API.TOO_MANY_PARENTS"


class EventsGone(WeftError):
    """Events after that position were already removed."""

    code = "API.EVENTS_GONE"
    sqlstate = "WF304"
    status = 410
    exit_code = 4


class UpdateNotFound(NotFound):
    """The batch has no such update."""

    code = "API.UPDATE_NOT_FOUND"
    sqlstate = "WF104"


class UpdateIncomplete(Invalid):
    """The update is incomplete and cannot be committed."""

    code = "API.UPDATE_INCOMPLETE"
    sqlstate = "WF202"


class UpdateCommitted(Conflict):
    """The update is committed and cannot change."""

    code = "API.UPDATE_COMMITTED"
    sqlstate = "WF203"


class OutsideUpdate(Invalid):
    """Jobs or groups outside the numbers that their update reserved."""

    code = "API.OUTSIDE_UPDATE"
    sqlstate = "WF207"


class BunchDiffers(Conflict):
    """These numbers of the update were already filled with other jobs or groups."""

    code = "API.BUNCH_DIFFERS"
    sqlstate = "WF215"


class BunchOverlap(Conflict):
    """A job of the update was sent twice, in different bunches."""

    code = "API.BUNCH_OVERLAP"
    sqlstate = "WF208"


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
