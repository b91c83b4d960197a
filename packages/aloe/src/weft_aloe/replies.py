"""Replies and refusals in Agave's forms: its envelope, the parameters that all routes have, and
for a missing login a fault.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from weft.api.http.decoding import JSON
from weft.api.http.doors import Asked, Refusal, status_of
from weft.api.http.problem_documents import describe, encode
from weft.api.http.requests import AnyRequest, body_apart, query_pairs, read_bytes
from weft.api.http.routing import Response
from weft.core.access.rights import Permission, Right
from weft.core.bounded import Unreadable, read_json
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

VERSION: Final = "2.4.0-weft"
"""Greater than 2.2.22, as a text, so that clients use Aloe's models."""
_OURS: Final = {
    400: Invalid.code,
    403: Forbidden.code,
    404: NotFound.code,
    409: Conflict.code,
    413: TooLarge.code,
    415: UnsupportedMedia.code,
}
_KEPT: Final = frozenset({400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 416, 429, 500, 503})
"""Statuses that mean the same there; every other one is a 503 or a 400."""
_UNAUTHENTICATED: Final = 401
_FIELDS: Final = {
    "app": "appId",
    "queue": "batchQueue",
    "timeout_s": "maxRunTime",
    "resources": "memoryPerNode",
    "resources/cpu": "processorsPerNode",
    "resources/memory": "memoryPerNode",
    "env": "parameters",
}
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
    status = status_of(error, _KEPT)
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


ROWS_MAX: Final = 100
OFFSET_MAX: Final = 1_000_000
_DEPTH_MAX: Final = 8
_NONE: Final = object()


def parameter(pairs: Sequence[tuple[str, str]], *names: str) -> str | None:
    """Return the first value of a parameter with one of these names, in any case."""
    wanted = [name.lower() for name in names]
    return next((value for name, value in pairs if name.lower() in wanted), None)


def is_on(pairs: Sequence[tuple[str, str]], name: str) -> bool:
    """Say whether a switch is on: `true`, `1`, or nothing after its name."""
    value = parameter(pairs, name)
    return value is not None and value.lower() in {"true", "1", ""}


def page_of(pairs: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """Return how many rows are wanted, at most a hundred, and how many are passed over."""
    limit = _number(pairs, "limit", ROWS_MAX)
    offset = _number(pairs, "offset", 0)
    if offset > OFFSET_MAX:
        raise bad_request(f"offset: expected at most {OFFSET_MAX}")
    return min(limit, ROWS_MAX), offset


def base_of(request: AnyRequest) -> str:
    """Return how the caller reached this server."""
    host = request.headers.get("host", "localhost")
    return f"{request.scope['scheme']}://{host}"


def answer(
    request: AnyRequest, result: object, *, status: int = 200, message: str | None = None
) -> Response[bytes]:
    """Reply with a result as the parameters of the request want it."""
    pairs = query_pairs(request)
    if (wanted := parameter(pairs, "filter")) and result is not None:
        result = chosen(result, wanted)
    if is_on(pairs, "naked"):
        body = b"" if result is None else encode(result)
    else:
        body = encode(
            {"status": "success", "message": message, "version": VERSION, "result": result}
        )
    if body and is_on(pairs, "pretty"):
        body = msgspec.json.format(body, indent=2)
    return Response(body, status_code=status, media_type=JSON)


def chosen(result: object, wanted: str) -> object:
    """Return only what a filter names of each object."""
    paths = [path.strip().split(".")[:_DEPTH_MAX] for path in wanted.split(",") if path.strip()]
    if not paths or ["*"] in paths:
        return result
    if isinstance(result, Sequence) and not isinstance(result, str):
        return [_part(one, paths) for one in result]
    return _part(result, paths)


def _part(document: object, paths: Sequence[Sequence[str]]) -> object:
    if not isinstance(document, Mapping):
        return document
    found: dict[str, Any] = {}
    for path in paths:
        value: Any = document
        for name in path:
            value = value.get(name, _NONE) if isinstance(value, Mapping) else _NONE
        if value is _NONE:
            continue
        part = found
        for name in path[:-1]:
            inner = part.get(name)
            part[name] = dict(inner) if isinstance(inner, dict) else {}
            part = part[name]
        part[path[-1]] = value
    return found


def _number(pairs: Sequence[tuple[str, str]], name: str, default: int) -> int:
    text = parameter(pairs, name)
    if text is None or not text.strip():
        return default
    text = text.strip()
    if not text.isascii() or not text.isdecimal():
        raise bad_request(f"{name}: expected a whole number from 0")
    return int(text) if len(text) < len(str(OFFSET_MAX)) + 2 else OFFSET_MAX + 1


FORM: Final = "application/x-www-form-urlencoded"
BYTES_MAX: Final = 256 << 10


async def read_body(request: AnyRequest, *, forms: bool) -> Any:  # noqa: ANN401 (JSON)
    """Read a body; nothing is None. Raise a 400 or 415 for what is neither JSON nor, with `forms`,
    a form.
    """
    media = (request.headers.get("content-type") or JSON).partition(";")[0].strip().lower()
    data = await read_bytes(request, BYTES_MAX)
    if forms and media == FORM:
        return await body_apart(request, data, _form, data)
    if media != JSON:
        raise Refused(415, f"bodies of type {media[:80]!r} are not supported, send {JSON}")
    if not data.strip():
        return None
    try:
        return await body_apart(request, data, read_json, data)
    except Unreadable as error:
        raise bad_request(f"the body is not JSON: {error}") from error


def _form(data: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            data.decode(), keep_blank_values=True, max_num_fields=64, errors="strict"
        )
    except ValueError as error:
        raise bad_request("the form cannot be read") from error
    return dict(pairs)
