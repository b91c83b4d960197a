"""Refusals in the words of Hail: a status and a text, which its users look for in the body."""

from typing import Any, Final

from weft.api.http.doors import Asked, Refusal
from weft.api.http.problem_documents import describe
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.core import errors
from weft.core.access.rights import Permission, Right

_CODES: Final = {
    400: errors.Invalid.code,
    401: errors.Unauthenticated.code,
    403: errors.Forbidden.code,
    404: errors.NotFound.code,
    413: errors.TooLarge.code,
}
_KEPT: Final = frozenset({400, 401, 403, 404, 405, 408, 413, 429, 500, 503})
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
    """Reply with the text of a refusal, as a handler of a route."""
    request.scope["state"]["error"] = _CODES[error.status]
    return Response(error.text, status_code=error.status, media_type=TEXT)


def refuse(error: errors.WeftError, asked: Asked) -> Refusal:
    """Return what Hail's client gets for an error of weft."""
    status = error.status if error.status in _KEPT else 400
    if isinstance(error, errors.RightMissing) and "manages" in asked.options:
        status = 401  # as Hail says it of whoever may not administer billing projects
    if isinstance(error, errors.QuotaExceeded):
        status = 403  # Hail's client would repeat a 429 for ever
    if isinstance(error, errors.GroupNotFound) and asked.method == "POST":
        status = 400  # what was sent names it, not the path
    text = TOO_DEEP if isinstance(error, errors.GroupTooDeep) else describe(error)
    return Refusal(status, TEXT, text.encode())


TEXT: Final = "text/plain"
TOO_DEEP: Final = "job group exceeded the maximum level of nesting"


_HANDLERS: Final = {Refused: answer_refused}


def _options(right: Right | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (of any kind)
    return {"status_code": 200, "exception_handlers": _HANDLERS, "opt": {"right": right, **more}}


OPEN: Final = _options(None)
KNOWN: Final = _options(Right.READ)
"""Of users, projects and the site."""
READ: Final = _options(Right.READ, members=True)
"""Of batches, which administrators do not see there unless they are members."""
WRITTEN: Final = _options(Right.WRITE, members=True)
CANCELLED: Final = _options(Right.WRITE, members=True, permission=Permission.EXECUTE)
ADDED: Final = _options(Right.WRITE, members=True, unrecorded=True)
"""They send parts of an update, which changes nothing until it is committed."""
MANAGED: Final = _options(Right.MANAGE, manages=True)
"""Of those who administer billing projects; all others get a 401."""
