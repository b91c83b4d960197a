"""Read what Hail's client sends: bodies of JSON, numbers in paths and queries. Refuse in the words
of Hail: a status and a text, which its users look for in the body.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from weft.api.http.doors import Asked, Refusal, status_of
from weft.api.http.problem_documents import describe
from weft.api.http.requests import AnyRequest, body_apart, foreign_origin, query_pairs, read_bytes
from weft.api.http.routing import Response
from weft.core import errors
from weft.core.access.rights import Permission, Right
from weft.core.access.token_text import sent_key
from weft.core.bounded import read_json
from weft.ports.store import Origin

_CODES: Final = {
    400: errors.Invalid.code,
    401: errors.Unauthenticated.code,
    403: errors.Forbidden.code,
    404: errors.NotFound.code,
    413: errors.TooLarge.code,
}
_KEPT: Final = frozenset({400, 401, 403, 404, 405, 408, 413, 429, 500, 503})
"""Statuses that mean the same there; every other one is a 503 or a 400."""


class Refused(Exception):
    """Hail's client gets this status and this text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text[:4000]


def bad_request(text: str) -> Refused:
    """Return a 400."""
    return Refused(400, text)


def answer_refused(request: AnyRequest, error: Refused) -> Response[str]:
    """Reply with the text of a refusal, as a handler of a route."""
    request.scope["state"]["error"] = _CODES[error.status]
    return Response(error.text, status_code=error.status, media_type=TEXT)


def refuse(error: errors.WeftError, asked: Asked) -> Refusal:
    """Return what Hail's client gets for an error of weft."""
    status = status_of(error, _KEPT)
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


NAME: Final = "hail"
"""Of this door."""
BODY_BYTES_MAX: Final = 8 << 20
TOKEN_CHARS_MAX: Final = 200
PAGE: Final = 50
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_BATCH: Final = re.compile(r"[0-9]{1,18}")
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}
_ANY_BODY: Final = b"hail"
"""Stands for the content of a request: the same token with another content is a repeat, too."""
Document = dict[str, Any]


async def read_parts(request: AnyRequest, lists: Sequence[str]) -> dict[str, Any]:
    """Read an object of JSON. The elements of the lists of these names stay encoded."""
    data = await read_bytes(request, BODY_BYTES_MAX)
    return await body_apart(request, data, _parts_of, data, lists)


def _parts_of(data: bytes, lists: Sequence[str]) -> dict[str, Any]:
    parts = _decode(data, dict[str, msgspec.Raw], "the body is not a JSON object")
    return {
        name: decode_list(part, name) if name in lists else decode_value(part)
        for name, part in parts.items()
    }


async def read_list(request: AnyRequest, name: str) -> list[bytes]:
    """Read a list of JSON whose elements stay encoded."""
    data = await read_bytes(request, BODY_BYTES_MAX)
    return await body_apart(request, data, decode_list, data, name)


def decode_list(data: bytes | msgspec.Raw, name: str) -> list[bytes]:
    """Return the elements of a list, still encoded."""
    found = _decode(data, list[msgspec.Raw], f"{name} is not {list}")
    return [bytes(one) for one in found]


def decode_value(data: bytes | msgspec.Raw) -> Any:  # noqa: ANN401 (any value of JSON)
    """Return a value of JSON."""
    return _decode(data, Any, "the body is not JSON")


def _decode(data: bytes | msgspec.Raw, kind: Any, wrong: str) -> Any:  # noqa: ANN401 (as msgspec)
    try:
        return read_json(bytes(data), kind)
    except msgspec.ValidationError as error:
        raise bad_request(wrong) from error
    except msgspec.DecodeError as error:
        raise bad_request(f"the body is not JSON: {error}") from error


def origin_of(request: AnyRequest, token: str | None = None) -> Origin:
    """Return the origin of a request whose repeats have the same token, whatever they ask for."""
    if token is not None and (len(token) > TOKEN_CHARS_MAX or not token.isprintable()):
        raise bad_request(f"a token has at most {TOKEN_CHARS_MAX} printable characters")
    return foreign_origin(request, _ANY_BODY, token)


def token_in(key: str) -> str:
    """Return the token of a batch that was created with this key; of weft's own the whole key."""
    return sent_key(NAME, key)


def batch_of(request: AnyRequest) -> int:
    """Return the number of the batch in the path."""
    return _number(request, "b", _BATCH)


def number_of(request: AnyRequest, name: str) -> int:
    """Return a number in the path: of a group, a job or an update."""
    return _number(request, name, _NUMBER)


def _number(request: AnyRequest, name: str, form: re.Pattern[str]) -> int:
    text = str(request.path_params[name])
    if not form.fullmatch(text):
        raise Refused(404, "Not Found")
    return int(text)


def query_of(request: AnyRequest) -> Mapping[str, str]:
    """Return the parameters of the query; of one that is given twice the last."""
    return dict(query_pairs(request))


def last_of(query: Mapping[str, str], name: str) -> int | None:
    """Return the number after which a page begins."""
    text = query.get(name)
    if text is None:
        return None
    if not _BATCH.fullmatch(text):
        raise bad_request(f"{name} is not an integer: {text[:40]}")
    return int(text)


def flag_of(query: Mapping[str, str], name: str) -> bool:
    """Return a flag; it is false if it is missing."""
    text = query.get(name, "false")
    found = _FLAGS.get(text.lower())
    if found is None:
        raise bad_request(f"{name} is not a boolean: {text[:40]}")
    return found
