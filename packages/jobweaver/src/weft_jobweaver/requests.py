"""What clients of JobWeaver send, and refusals in its form: five keys, whatever is wrong."""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid4, uuid5

import msgspec

from weft.api.http.decoding import JSON, media_of
from weft.api.http.doors import Asked, Refusal
from weft.api.http.problem_documents import describe
from weft.api.http.requests import AnyRequest, body_apart, query_pairs, read_bytes
from weft.api.http.routing import Response
from weft.core.bounded import Unreadable, read_json
from weft.core.errors import (
    Conflict,
    FieldError,
    Invalid,
    NotFound,
    Unavailable,
    UnsupportedMedia,
    WeftError,
)
from weft.core.problems import Problems
from weft.ports.store import ForeignOrder
from weft.settings import Settings
from weft.submission.translation.kinds import check_steps
from weft.wire.documents.simulations import SimulationDocument, known_fields
from weft.wire.mistakes import check_types
from weft_jobweaver.documents import SIMULATION, instant

PAGE_MAX: Final = 1000
_INT_MAX: Final = 2**31 - 1
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,20}")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_KEYS: Final = UUID("5f0c7d0e-9f0b-4c52-8d38-3c6d0f4f6b1a")
"""The space of names of ids that follow from a key."""


@dataclass(frozen=True)
class Submission:
    """A job as it was asked for."""

    simulation: SimulationDocument
    retries_max: int
    digest: bytes
    """Of what is asked for, without what is ignored."""


@dataclass(frozen=True)
class Page:
    """A page of a list, counted from 0."""

    number: int
    size: int


async def read_submission(request: AnyRequest) -> Submission:
    """Read and check a job. Raise `Refused` with every field that is wrong."""
    if (media := media_of(request.headers.get("content-type"))) != JSON:
        raise UnsupportedMedia(
            f"bodies of type {media!r} are not supported",
            detail="The Content-Type header names this type.",
            hint="Send JSON.",
        )
    settings = request.services.settings
    data = await read_bytes(request)
    return await body_apart(request, data, _submission_of, data, settings)


def _submission_of(data: bytes, settings: Settings) -> Submission:
    try:
        body = read_json(data)
    except Unreadable as error:
        raise bad_request(f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise bad_request("the body is not a JSON object")
    _check_envelope(body)
    payload, problems = _without_unknown(body.get("payload")), Problems()
    check_types(payload, SimulationDocument, "/payload", problems)
    if problems.found:
        raise refused_for(list(problems.error().errors))
    simulation = msgspec.convert(payload, SimulationDocument)
    check_steps(simulation, settings, problems, "/payload/steps")
    if problems.found:
        raise refused_for(list(problems.error().errors))
    retries_max: int = body["maxRetryCount"]
    asked = msgspec.json.encode([SIMULATION, simulation, retries_max])
    return Submission(simulation, retries_max, hashlib.sha256(asked).digest())


def _check_envelope(body: dict[str, Any]) -> None:
    kind, retries = body.get("jobType"), body.get("maxRetryCount")
    if kind != SIMULATION:
        raise bad_request(f"jobType: expected {SIMULATION}")
    if isinstance(retries, bool) or not isinstance(retries, int):
        raise bad_request("maxRetryCount: expected a whole number")
    if retries < 0:
        raise bad_request("maxRetryCount must be non-negative")
    if retries > _INT_MAX:
        raise bad_request(f"maxRetryCount: expected at most {_INT_MAX}")


def _without_unknown(payload: object) -> object:
    """Return a payload without fields that nobody knows, which are ignored."""
    if not isinstance(payload, dict) or not isinstance(payload.get("steps"), list):
        return {"steps": payload.get("steps")} if isinstance(payload, dict) else payload
    return {"steps": [known_fields(step) for step in payload["steps"]]}


def new_id(request: AnyRequest, key: str | None) -> str:
    """Return the id of a new job: with a key always the same."""
    if key is None:
        return str(uuid4())
    caller = request.caller
    return str(uuid5(_KEYS, f"{caller.tenant_id} {caller.user_id} {key}"))


def id_in_path(request: AnyRequest) -> str:
    """Return the UUID in the path."""
    text = str(request.path_params["job_id"])
    if not _UUID.fullmatch(text):
        raise bad_request(f"jobId: {text[:80]!r} is not a UUID")
    request.scope["state"]["foreign_id"] = job_id = text.lower()
    return job_id


def query_of(request: AnyRequest) -> dict[str, str]:
    """Return the parameters of the query; of one that is given twice the first."""
    return dict(reversed(query_pairs(request)))


def page_of(query: dict[str, str]) -> Page:
    """Return the page that is asked for."""
    page = Page(_number(query, "page", 0, 0), _number(query, "size", 20, 1))
    if page.size > PAGE_MAX:
        raise bad_request(f"size: expected at most {PAGE_MAX}")
    return page


def order_of(query: dict[str, str]) -> ForeignOrder:
    """Return the order of states of jobs: `sort=updatedAt`, `,asc` or `,desc`."""
    name, _, direction = query.get("sort", "").partition(",")
    if name not in {"", "updatedAt"} or direction.lower() not in {"", "asc", "desc"}:
        raise bad_request("sort: expected updatedAt, updatedAt,asc or updatedAt,desc")
    # Spring sorts ascending unless it is told otherwise, and JobWeaver descending without `sort`.
    is_ascending = bool(name) and direction.lower() != "desc"
    return ForeignOrder.CHANGED_FIRST if is_ascending else ForeignOrder.CHANGED_LAST


def _number(query: dict[str, str], name: str, default: int, least: int) -> int:
    text = query.get(name, "").strip()
    if not text:
        return default
    number = int(text) if _NUMBER.fullmatch(text) else -1
    if not least <= number <= _INT_MAX:
        raise bad_request(f"{name}: expected a whole number from {least} to {_INT_MAX}")
    return number


HEALTH: Final = "/actuator/health"
INTERNAL: Final = "/internal/"
_INVALID: Final = "INVALID_REQUEST"
_BROKEN: Final = "INTERNAL_ERROR"
_BROKEN_FROM: Final = 500
_AWAY: Final = 503
_OURS: Final = {
    400: Invalid.code,
    404: NotFound.code,
    409: Conflict.code,
    415: UnsupportedMedia.code,
}


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
    if isinstance(error, Unavailable) and asked.path == HEALTH:
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
