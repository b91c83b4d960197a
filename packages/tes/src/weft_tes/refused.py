"""Refusals as clients of TES get them: a status, a title and a detail, in JSON."""

from typing import Any, Final

import msgspec

from weft.api.http.doors import Asked, Refusal, status_of
from weft.api.http.problem_documents import describe
from weft.core.access.rights import Permission, Right
from weft.core.errors import InvalidParameter, NotFound, WeftError

_KEPT: Final = frozenset({400, 401, 403, 404, 405, 408, 409, 413, 429, 500, 503})
"""Statuses that clients are told as they are; every other one is a 503 or a 400."""


def bad_request(detail: str) -> WeftError:
    """Return a 400."""
    return InvalidParameter("the request is not as it must be", detail=detail, hint=_HINT)


def not_found(task_id: str) -> WeftError:
    """Return that there is no such task."""
    why = f"No task has the id {task_id[:80]!r}."
    return NotFound("there is no such task", detail=why, hint=_HINT)


def refuse(error: WeftError, _: Asked) -> Refusal:
    """Return what a client gets for an error of weft."""
    status = status_of(error, _KEPT)
    detail = describe(error).replace("/jobs/0/", "")
    document = {"status": status, "title": error.message, "detail": detail}
    return Refusal(status, "application/json", msgspec.json.encode(document))


_HINT: Final = "`docs/guides/with-tes.md` says what there is."
READ: Final[dict[str, Any]] = {"status_code": 200, "opt": {"right": Right.READ}}
WRITE: Final[dict[str, Any]] = {
    "status_code": 200,
    "opt": {"right": Right.WRITE, "permission": Permission.EXECUTE},
}
