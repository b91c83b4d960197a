"""Refusals in the forms of Agave: its envelope, and for a missing login a fault."""

from typing import Any, Final

import msgspec

from weft.api.http.doors import Asked, Refusal
from weft.api.http.problem_documents import describe
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.core.access.rights import Permission, Right
from weft.core.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
    Unauthenticated,
    UnsupportedMedia,
    WeftError,
)

JSON: Final = "application/json"
VERSION: Final = "2.4.0-weft"
"""Greater than 2.2.22, as a text, so that clients use Aloe's models."""
_OURS: Final = {
    400: Invalid.code, 403: Forbidden.code, 404: NotFound.code, 409: Conflict.code,
    413: TooLarge.code, 415: UnsupportedMedia.code,
}  # fmt: skip
_KEPT: Final = frozenset({400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 416, 429, 500, 503})
"""Statuses that mean the same there; every other one is a 400."""
_UNAUTHENTICATED: Final = 401
_FIELDS: Final = {
    "app": "appId", "queue": "batchQueue", "timeout_s": "maxRunTime", "resources": "memoryPerNode",
    "resources/cpu": "processorsPerNode", "resources/memory": "memoryPerNode", "env": "parameters",
}  # fmt: skip
"""Names of what is wrong with a job of weft, as its client knows them."""


class Refused(Exception):
    """A client of Agave gets this."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def bad_request(message: str) -> Refused:
    """Return a 400."""
    return Refused(400, message)


def not_found(job_id: str) -> Refused:
    """Return that there is no such job."""
    return Refused(404, f"No job found with job id {job_id[:80]}.")


def answer_refused(request: AnyRequest, error: Refused) -> Response[bytes]:
    """Reply with a refusal, as a handler of a route."""
    request.scope["state"]["error"] = _OURS[error.status]
    return Response(_envelope(error.message), status_code=error.status, media_type=JSON)


def refuse(error: WeftError, _: Asked) -> Refusal:
    """Return what a client gets for an error of weft."""
    if error.status == _UNAUTHENTICATED:
        code, message = 900901, "Invalid Credentials"
        if isinstance(error, Unauthenticated) and error.is_expired:
            code = 900903  # the same message: at it clients refresh their tokens
        elif isinstance(error, Unauthenticated) and error.login is None:
            code, message = 900902, "Missing Credentials"
        fault = {"code": code, "message": message, "description": describe(error)}
        return Refusal(_UNAUTHENTICATED, JSON, msgspec.json.encode({"fault": fault}))
    status = error.status if error.status in _KEPT else 400
    return Refusal(status, JSON, _envelope(describe(error)))


def refused_submission(error: WeftError) -> Refused:
    """Return a 400 that names the fields of a submission as its client knows them."""
    said = []
    for one in error.errors:
        pointer = one.pointer.removeprefix("/jobs/0").strip("/")
        name, _, rest = (pointer, "", "") if pointer in _FIELDS else pointer.partition("/")
        known = _FIELDS.get(name, name)
        said.append(f"{known}{'.' if rest else ''}{rest.replace('/', '.')}: {one.message}")
    return bad_request("; ".join(said) or describe(error))


def _envelope(message: str) -> bytes:
    return msgspec.json.encode(
        {"status": "error", "message": message, "version": VERSION, "result": None}
    )


_BASES: Final = ("/jobs", "/jobs/v2")
"""The second is the documented one; clients that sign with a JWT cut off its end."""


def paths(rest: str) -> list[str]:
    """Return the paths of a route."""
    return [f"{base}{rest}" for base in _BASES]


def _options(right: Right, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (of any kind)
    return {
        "status_code": 200,
        "exception_handlers": {Refused: answer_refused},
        "opt": {"right": right, **more},
    }


READ: Final = _options(Right.READ)
WRITE: Final = _options(Right.WRITE, permission=Permission.EXECUTE)
"""What acts on jobs; what changes them says that it needs more."""
FULL: Final = _options(Right.WRITE, permission=Permission.WRITE)
SHARE: Final = _options(Right.WRITE, permission=Permission.ALL)
