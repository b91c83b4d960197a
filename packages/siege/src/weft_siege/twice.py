"""Requests that come twice, as they do when something on the way repeats them."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress

END = b"\r\n\r\n"
ANSWER_S = 10.0
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_STREAM = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)


class Requests:
    """Finds the whole requests in what a client sends over one connection."""

    def __init__(self) -> None:
        self._kept = b""
        self._is_stream = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield those with a Content-Length that end in this piece. After the first one that is a
        stream nothing of the connection is looked at.
        """
        self._kept += b"" if self._is_stream else data
        while END in self._kept:
            head, _, body = self._kept.partition(END)
            if _STREAM.search(head):
                self._is_stream, self._kept = True, b""
                return
            length = _LENGTH.search(head)
            size = int(length[1]) if length else 0
            if len(body) < size:
                return
            if length:
                yield head + END + body[:size]
            self._kept = body[size:]


async def send_again(request: bytes, host: str, port: int) -> None:
    """Send a request over a connection of its own, and throw its answer away."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_S):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(request)
                await reader.read(1)  # when it answers, it is done
            finally:
                writer.transport.abort()
