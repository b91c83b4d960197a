"""Errors as problem documents (RFC 9457)."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import msgspec

from weft.api.html.render import HTML, render_error
from weft.api.http.browsers import LOGIN, is_page
from weft.api.http.doors import ApiDoor, Asked, Refusal
from weft.api.http.routing import Response
from weft.core.errors import (
    NO_SPACE,
    DiskFull,
    Internal,
    MethodNotAllowed,
    RangeNotSatisfiable,
    WeftError,
)
from weft.core.problems import problem_document
from weft.settings import FILE_NAME, how_to_set

MEDIA: Final = "application/problem+json"
TEXT: Final = "text/plain"
_WORDS: Final = re.compile(r"(?<![a-z])[a-z]+(?:_[a-z0-9]+)+")  # a long word is tried once


def as_weft_error(error: Exception) -> WeftError:
    """Turn any error into ours. An unexpected one becomes `Internal` and reveals nothing."""
    if isinstance(error, WeftError):
        return error
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return DiskFull("the disk of the server is full")
    return Internal(
        "the server failed unexpectedly",
        detail="The request may or may not have taken effect; the log of the server has details.",
        hint="Repeat it, in a program with the same Idempotency-Key; if it fails again, "
        "report the trace id.",
    )


class Reply(NamedTuple):
    """A refusal, ready to be sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def _tell_settings(error: WeftError) -> None:
    """Let an error that names settings say how they are changed."""
    if FILE_NAME not in error.hint:
        error.hint = f"{error.hint} {how_to_set(_WORDS.findall(str(error)))}".strip()


def refusal_of(error: WeftError, scope: Mapping[str, Any]) -> Reply:
    """Return the reply to a request (of ASGI): a page for the paths of pages, what a door says for
    its own, else a problem document.
    """
    path, state = scope["path"], scope["state"]
    _tell_settings(error)
    door: ApiDoor | None = state.get("door")
    if door is not None and door.refuse is not None:
        handler = scope.get("route")
        options = {} if handler is None else handler.opt
        return _reply(error, door.refuse(error, Asked(scope["method"], path, options)))
    if is_page(path) or (path == LOGIN and "text/html" in state["headers"].get("accept", "")):
        body = render_error(error, state["trace_id"])
        return _reply(error, Refusal(error.status, HTML, body))
    return problem_reply(error, state["trace_id"])


def problem_reply(error: WeftError, trace_id: str) -> Reply:
    """Return a problem document, with its headers."""
    body = msgspec.json.encode(problem_document(error, trace_id))
    return _reply(error, Refusal(error.status, MEDIA, body))


def _reply(error: WeftError, refusal: Refusal) -> Reply:
    headers = {"content-type": refusal.media}
    if refusal.status == 401:  # noqa: PLR2004 (RFC 9110 wants it)
        headers["www-authenticate"] = 'Bearer realm="weft"'
    if isinstance(error, MethodNotAllowed):
        headers["allow"] = ", ".join(error.allow)
    if isinstance(error, RangeNotSatisfiable) and error.size is not None:
        headers["content-range"] = f"bytes */{error.size}"
    if error.retry_after_s is not None:
        headers["retry-after"] = str(error.retry_after_s)
    return Reply(refusal.status, headers, refusal.body)


def describe(error: WeftError) -> str:
    """Return what there is to say of an error, without its hint, which is about weft's client."""
    fields = [f"{one.pointer or '/'}: {one.message}" for one in error.errors]
    return "; ".join([error.message, *(fields or [error.detail])]).rstrip("; ")


def _plain(value: Any) -> Any:  # noqa: ANN401 (any value of a row)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Decimal):
        return float(value)
    raise NotImplementedError(type(value).__name__)


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_plain, decimal_format="number")


def encode(document: object) -> bytes:
    """Encode a document; it may hold rows of the store."""
    return _ENCODER.encode(document)


def reply(
    document: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[bytes]:
    """Reply with a document."""
    return Response(
        encode(document), status_code=status, media_type="application/json", headers=headers
    )


def created(document: object, *, is_new: bool) -> Response[bytes]:
    """Reply 201; a repeat gets the same, with a header that says so."""
    return reply(document, 201, None if is_new else {"Idempotent-Replay": "true"})
