"""The Range header."""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from weft.api.http.routing import Request, Stream
from weft.api.http.sse import stream_reply
from weft.core.errors import RangeNotSatisfiable

_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True)
class Span:
    """Bytes `start` to `stop` (excluded) of `size`."""

    start: int
    stop: int
    size: int

    @property
    def content_range(self) -> str:
        """Return the Content-Range header of a partial reply."""
        return f"bytes {self.start}-{self.stop - 1}/{self.size}"


def ranged_reply(
    request: Request,
    size: int,
    read: Callable[[int, int], AsyncIterator[bytes]],
    headers: Mapping[str, str],
    *,
    media: str = "application/octet-stream",
) -> Stream:
    """Reply with all of it, or with the range asked for unless `If-Range` names another ETag."""
    is_other = request.headers.get("if-range", headers.get("etag")) != headers.get("etag")
    span = None if is_other else span_of(request.headers.get("range"), size)
    start, stop = (span.start, span.stop) if span else (0, size)
    facts = {"accept-ranges": "bytes", **headers, "content-length": str(stop - start)}
    if span:
        facts["content-range"] = span.content_range
    return stream_reply(read(start, stop), media=media, status=206 if span else 200, headers=facts)


def span_of(header: str | None, size: int) -> Span | None:
    """Parse the Range header; None: everything. Raise `RangeNotSatisfiable`.

    Several ranges and malformed ones are ignored.
    Source: RFC 9110, section 14.2.
    """
    match = _RANGE.fullmatch(header or "")
    if match is None or match[0] == "bytes=-":
        return None
    if not match[1]:
        start, stop = max(0, size - int(match[2])), size
    else:
        start, stop = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
        if match[2] and int(match[2]) < start:
            return None
    if start >= size or start >= stop:
        refused = RangeNotSatisfiable(
            "the range is outside the output",
            detail=f"The stream has {size} bytes now.",
            hint="Ask for a range that begins within it.",
        )
        refused.size = size
        raise refused
    return Span(start, stop, size)
