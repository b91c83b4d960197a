"""Refusals in the words of Hail: a status and a text, which its users look for in the body."""

from typing import Final

from litestar import Response

from weft.api.http.problem_documents import TEXT, describe
from weft.api.http.requests import AnyRequest
from weft.core.errors import (
    Forbidden,
    GroupNotFound,
    GroupTooDeep,
    Invalid,
    NotFound,
    QuotaExceeded,
    RightMissing,
    TooLarge,
    Unauthenticated,
    WeftError,
)

_CODES: Final = {
    400: Invalid.code,
    401: Unauthenticated.code,
    403: Forbidden.code,
    404: NotFound.code,
    413: TooLarge.code,
}
_KEPT: Final = frozenset({400, 401, 403, 404, 408, 413, 429, 500, 503})
"""Statuses that mean the same there; every other one is a 400."""


class Refused(Exception):
    """Hail's client gets this status and this text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def bad_request(text: str) -> Refused:
    """Return a 400."""
    return Refused(400, text)


def answer_refused(request: AnyRequest, error: Refused) -> Response[str]:
    """Reply with the text of a refusal (an exception handler of Litestar)."""
    request.scope["state"]["error"] = _CODES[error.status]
    return _text(error.status, error.text)


def answer_error(request: AnyRequest, error: WeftError) -> Response[str]:
    """Reply with the text of an error of weft (an exception handler of Litestar)."""
    request.scope["state"]["error"] = error.code
    status = error.status if error.status in _KEPT else 400
    if isinstance(error, RightMissing) and "manages" in request.route_handler.opt:
        status = 401  # as Hail says it of whoever may not administer billing projects
    if isinstance(error, QuotaExceeded):
        status = 403  # Hail's client would repeat a 429 for ever
    if isinstance(error, GroupNotFound) and request.method == "POST":
        status = 400  # what was sent names it, not the path
    if isinstance(error, GroupTooDeep):
        return _text(status, TOO_DEEP)
    return _text(status, describe(error))


def _text(status: int, text: str) -> Response[str]:
    headers = {"www-authenticate": "Bearer"} if status == 401 else None  # noqa: PLR2004 (RFC 9110)
    return Response(text, status_code=status, media_type=TEXT, headers=headers)


TOO_DEEP: Final = "job group exceeded the maximum level of nesting"
