"""Errors in a request itself: its path, method, headers, parameters and body."""

from weft.core.errors.kinds import (
    Conflict,
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
