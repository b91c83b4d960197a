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


class RightMissing(Forbidden, code="API.RIGHT_MISSING", sqlstate="WF121"):
    """The caller's role does not have the right that this needs."""


class PermissionMissing(Forbidden, code="API.PERMISSION_MISSING", sqlstate="WF130"):
    """The caller sees the batch, but may not do this to it."""


class TokenNotFound(NotFound, code="API.TOKEN_NOT_FOUND"):
    """The caller has no such token."""


class LoginLinkRefused(Unauthenticated, code="API.LOGIN_LINK_REFUSED"):
    """The code of a login link is unknown, used, replaced by another, or has expired."""


class InvitationRefused(Unauthenticated, code="API.INVITATION_REFUSED", sqlstate="WF182"):
    """The invitation of a worker is unknown, used, or has expired."""


class LoginRefused(Unauthenticated, code="API.LOGIN_REFUSED"):
    """An issuer does not let somebody in, or what came back from it is not believed."""


class IssuerNotFound(NotFound, code="API.ISSUER_NOT_FOUND"):
    """People cannot log in at such an issuer."""


class IssuerAmbiguous(Invalid, code="API.ISSUER_AMBIGUOUS"):
    """People can log in at several issuers."""


class IssuerNotAnswering(Unavailable, code="API.ISSUER_NOT_ANSWERING"):
    """An issuer cannot be asked now."""


class NoDeviceLogin(Conflict, code="API.NO_DEVICE_LOGIN"):
    """The issuer has no device endpoint."""


class NotInVisit(Forbidden, code="API.NOT_IN_VISIT"):
    """On a visit to another tenant, an administrator of the site asks for more than to read it."""


class ForeignRequest(Forbidden, code="API.FOREIGN_REQUEST"):
    """A browser sends a session along with a request that no page of this server has made."""


class SessionNotFound(NotFound, code="API.SESSION_NOT_FOUND"):
    """The caller has no such session."""


class TooManyTokens(Conflict, code="API.TOO_MANY_TOKENS", sqlstate="WF117"):
    """A user has as many tokens as the setting allows."""


class RateLimitExceeded(Unavailable, code="API.RATE_LIMIT_EXCEEDED", status=429):
    """The token or its user has sent more requests than the settings allow."""

    retry_after_s = None  # the headers of the limit say when


class TooManyAtOnce(Unavailable, code="API.TOO_MANY_AT_ONCE", status=429):
    """A user has more requests under way than may be at the database at a time, and none of them
    has ended for seconds; or a user or tenant has more open than one api serves at a time.
    """


class TooManyFailedLogins(Unavailable, code="API.TOO_MANY_FAILED_LOGINS", status=429):
    """An address has sent more requests with wrong tokens than the setting allows."""


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


class TooManyJobs(TooLarge, code="API.TOO_MANY_JOBS"):
    """More jobs or groups in one request than the limit."""


class PayloadTooLarge(TooLarge, code="API.PAYLOAD_TOO_LARGE"):
    """The arguments of a function are larger than the limit."""


class TooManyParents(TooLarge, code="API.TOO_MANY_PARENTS"):
    """More pairs of a job and its parent in one request than the limit."""


class EventsGone(WeftError, code="API.EVENTS_GONE", sqlstate="WF304", status=410, exit_code=4):
    """Events after that position were already removed."""


class UpdateNotFound(NotFound, code="API.UPDATE_NOT_FOUND", sqlstate="WF104"):
    """The batch has no such update."""


class UpdateIncomplete(Invalid, code="API.UPDATE_INCOMPLETE", sqlstate="WF202"):
    """The update is incomplete and cannot be committed."""


class UpdateCommitted(Conflict, code="API.UPDATE_COMMITTED", sqlstate="WF203"):
    """The update is committed and cannot change."""


class OutsideUpdate(Invalid, code="API.OUTSIDE_UPDATE", sqlstate="WF207"):
    """Jobs or groups outside the numbers that their update reserved."""


class BunchDiffers(Conflict, code="API.BUNCH_DIFFERS", sqlstate="WF215"):
    """These numbers of the update were already filled with other jobs or groups."""


class BunchOverlap(Conflict, code="API.BUNCH_OVERLAP", sqlstate="WF208"):
    """A job of the update was sent twice, in different bunches."""


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


class ProductNotFound(NotFound, code="API.PRODUCT_NOT_FOUND"):
    """The product does not exist."""

    advice = "List those that you see with `weft products`."


class TooManySavedQueries(Conflict, code="API.TOO_MANY_SAVED_QUERIES"):
    """The caller has as many saved queries as a user may have."""

    advice = "Remove one with `weft query rm NAME`."
