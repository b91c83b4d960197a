"""Replies in Agave's envelope, and the parameters that all routes have."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from weft.api.http.decoding import JSON
from weft.api.http.problem_documents import encode
from weft.api.http.requests import AnyRequest, query_pairs, read_bytes
from weft.api.http.routing import Response
from weft.core.bounded import Unreadable, read_json
from weft.extensions.doors.aloe.refused import VERSION, Refused, bad_request

ROWS_MAX: Final = 100
OFFSET_MAX: Final = 1_000_000
_DEPTH_MAX: Final = 8
_NONE: Final = object()


def query_of(request: AnyRequest) -> list[tuple[str, str]]:
    """Return the parameters of the query, in order. Raise a 400 if it cannot be read."""
    return query_pairs(request)


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
    pairs = query_of(request)
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
        return _form(data)
    if media != JSON:
        raise Refused(415, f"bodies of type {media[:80]!r} are not supported, send {JSON}")
    if not data.strip():
        return None
    try:
        return read_json(data)
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
