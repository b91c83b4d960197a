"""Prepared requests over one connection, so that little of the time is the client's."""

import re
import socket
import time
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from weft.bench.plan import BenchFailed

TIMEOUT_S: Final = 60.0
US_PER_S: Final = 1e6
_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"content-length: (\d+)")
_CHUNK: Final = 1 << 16
_LAST_CHUNK: Final = b"\r\n0\r\n\r\n"


def request_of(
    url: str, method: str, target: str, *, headers: tuple[str, ...], body: bytes = b""
) -> bytes:
    """Return a request. `headers`: whole lines, without those of host and length."""
    lines = [
        f"{method} {target} HTTP/1.1",
        f"host: {urlsplit(url).netloc}",
        *headers,
        *([f"content-length: {len(body)}"] if method != "GET" else []),
    ]
    return "\r\n".join(lines).encode() + _END + body


def bearing(token: str) -> str:
    """Return the header with a token."""
    return f"authorization: Bearer {token}"


class Wire:
    """A connection to an api, made again when that closes it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = (str(parts.hostname), parts.port or 80)
        self._socket = self._connect()
        self._streamed = b""
        """What came of a stream, or at least its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def ask(self, request: bytes) -> tuple[int, float]:
        """Return the status of the answer, and how many microseconds it took."""
        begun = time.perf_counter()
        self._socket.sendall(request)
        head, body = self._head()
        length = _LENGTH.search(head)
        if length is None:
            raise BenchFailed("a stream was answered", detail=f"{request!r}\n{head!r}")
        left = int(length[1]) - len(body)
        while left > 0:
            left -= len(self._receive())
        took_us = (time.perf_counter() - begun) * US_PER_S
        if b"\r\nconnection: close" in head:
            self._socket.close()
            self._socket = self._connect()
        return _status(head), took_us

    def open_stream(self, request: bytes) -> None:
        """Return when the first message of a stream is there."""
        self._socket.sendall(request)
        head, body = self._head()
        if _status(head) != 200:  # noqa: PLR2004 (OK)
            raise BenchFailed("no stream was opened", detail=f"{head!r}")
        while not body.endswith(b"\r\n"):
            body += self._receive()
        self._streamed = body

    def wait_for_end(self) -> float:
        """Return when the open stream has ended, by `time.perf_counter`."""
        while not self._streamed.endswith(_LAST_CHUNK):
            self._streamed = self._streamed[-len(_LAST_CHUNK) :] + self._receive()
        ended_at = time.perf_counter()
        self._socket.close()
        self._socket = self._connect()
        return ended_at

    def _head(self) -> tuple[bytes, bytes]:
        data = b""
        while _END not in data:
            data += self._receive()
        head, _, body = data.partition(_END)
        return head.lower(), body

    def _receive(self) -> bytes:
        data = self._socket.recv(_CHUNK)
        if not data:
            raise BenchFailed("the api closed the connection")
        return data

    def _connect(self) -> socket.socket:
        made = socket.create_connection(self._address, timeout=TIMEOUT_S)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made


def _status(head: bytes) -> int:
    return int(head.split(b" ", 2)[1])
