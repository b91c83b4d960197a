"""Refusals in the form of JobWeaver: five keys, whatever is wrong."""

from datetime import UTC, datetime
from typing import Final

import msgspec

from weft.api.http.doors import Asked, Refusal
from weft.api.http.problem_documents import describe
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.core.errors import Conflict, FieldError, Invalid, NotFound, UnsupportedMedia, WeftError
from weft.extensions.doors.jobweaver.documents import instant

JSON: Final = "application/json"
HEALTH: Final = "/actuator/health"
INTERNAL: Final = "/internal/"
_INVALID: Final = "INVALID_REQUEST"
_BROKEN: Final = "INTERNAL_ERROR"
_BROKEN_FROM: Final = 500
_AWAY: Final = 503
_OURS: Final = {
    400: Invalid.code, 404: NotFound.code, 409: Conflict.code, 415: UnsupportedMedia.code,
}  # fmt: skip


class Refused(Exception):
    """A client of JobWeaver gets this."""

    def __init__(self, status: int, fact: str, message: str, *, job_id: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.fact = fact
        self.message = message
        self.job_id = job_id


def bad_request(message: str) -> Refused:
    """Return a 400."""
    return Refused(400, _INVALID, message)


def not_found(job_id: str) -> Refused:
    """Return that there is no such job."""
    return Refused(404, "JOB_NOT_FOUND", f"no job {job_id}", job_id=job_id)


def refused_for(problems: list[FieldError]) -> Refused:
    """Return a 400 that names each field."""
    said = (f"{one.pointer.strip('/').replace('/', '.')}: {one.message}" for one in problems)
    return bad_request("; ".join(said))


def answer_refused(request: AnyRequest, error: Refused) -> Response[bytes]:
    """Reply with a refusal, as a handler of a route."""
    request.scope["state"]["error"] = _OURS[error.status]
    body = _document(request.scope["path"], error.status, error.fact, error.message, error.job_id)
    return Response(body, status_code=error.status, media_type=JSON)


def refuse(error: WeftError, asked: Asked) -> Refusal:
    """Return what a client gets for an error of weft."""
    if error.status == _AWAY and asked.path == HEALTH:
        return Refusal(_AWAY, JSON, b'{"status":"DOWN"}')
    fact = _BROKEN if error.status >= _BROKEN_FROM else _INVALID
    body = _document(asked.path, error.status, fact, describe(error), None)
    return Refusal(error.status, JSON, body)


def _document(path: str, status: int, fact: str, message: str, job_id: str | None) -> bytes:
    area = "SCHEDULER" if path.startswith(INTERNAL) else "API"
    return msgspec.json.encode(
        {
            "timeStamp": instant(datetime.now(UTC)),
            "status": status,
            "errorCode": f"{area}.{fact}",
            "message": message,
            "jobId": job_id,
        }
    )
