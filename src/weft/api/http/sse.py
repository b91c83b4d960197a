"""Server-sent events: their format, replies that stream, and the followed output of a job."""

import base64
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from weft.api.http.parameters import wrong_parameter
from weft.api.http.problem_documents import encode
from weft.api.http.routing import Stream
from weft.api.use_cases.follow import End, Followed, FollowPosition, Gap
from weft.telemetry import metrics

EVENTS: Final = "text/event-stream"
"""The media type of streams whose clients ask again when they end."""
KEEP_ALIVE: Final = b": keep-alive\n\n"
KEEP_ALIVE_S: Final = 15.0


def message(document: object, *, kind: str | None = None, id_: str | None = None) -> bytes:
    """Encode one message."""
    head = (f"id: {id_}\n" if id_ is not None else "") + (f"event: {kind}\n" if kind else "")
    return head.encode() + b"data: " + encode(document) + b"\n\n"


def stream_reply(
    pieces: AsyncIterator[bytes],
    *,
    media: str = EVENTS,
    status: int = 200,
    headers: Mapping[str, Any] | None = None,
) -> Stream:
    """Reply with a stream."""
    return Stream(
        pieces,
        resumes=media == EVENTS,
        media_type=media,
        status_code=status,
        headers={"x-accel-buffering": "no", **(headers or {})},
    )


LOG_POSITION: Final = re.compile(r"([1-9][0-9]{0,8})\.([0-9]{1,12})")


def follow_position(last_id: str | None) -> FollowPosition:
    """Return where a client resumes with this Last-Event-ID header."""
    if last_id is None:
        return FollowPosition()
    match = LOG_POSITION.fullmatch(last_id)
    if match is None:
        raise wrong_parameter("Last-Event-ID", f"{last_id[:40]!r} is not the id of a log event")
    return FollowPosition(int(match[1]), int(match[2]))


async def log_messages(items: AsyncGenerator[Sequence[Followed]]) -> AsyncIterator[bytes]:
    """Yield the messages, the last of kind `end`; without one the server was stopped."""
    with metrics.HTTP_STREAMS.labels("log").track_inprogress():
        yield b": connected\n\n"
        async with aclosing(items):
            async for found in items:
                yield b"".join(map(encode_followed, found)) or KEEP_ALIVE


def encode_followed(item: Followed) -> bytes:
    """Return the message of one item."""
    if isinstance(item, End):
        return message(item.facts, kind="end")
    id_ = f"{item.position.attempt}.{item.position.n_pieces}"
    if isinstance(item, Gap):
        return message({"stream": item.stream, "bytes": item.n_bytes}, kind="cut", id_=id_)
    data = base64.b64encode(item.data)
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (id_.encode(), item.stream.encode(), data)
