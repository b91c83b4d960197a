"""Server-sent events: their format, and replies that stream."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from weft.api.http.problem_documents import encode
from weft.api.http.routing import Stream

KEEP_ALIVE: Final = b": keep-alive\n\n"
KEEP_ALIVE_S: Final = 15.0


def message(document: object, *, kind: str | None = None, id_: str | None = None) -> bytes:
    """Encode one message."""
    head = (f"id: {id_}\n" if id_ is not None else "") + (f"event: {kind}\n" if kind else "")
    return head.encode() + b"data: " + encode(document) + b"\n\n"


def stream_reply(
    pieces: AsyncIterator[bytes],
    *,
    media: str = "text/event-stream",
    status: int = 200,
    headers: Mapping[str, Any] | None = None,
) -> Stream:
    """Reply with a stream."""
    return Stream(
        pieces,
        media_type=media,
        status_code=status,
        headers={"x-accel-buffering": "no", **(headers or {})},
    )
