"""Requests to an engine's API over HTTP, in a few threads, each on a connection of its own."""

import asyncio
import json
import ssl
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from weft.core.errors import Unavailable

_CALLS: Final = 8
"""Requests at a time."""
_PIECE: Final = 1 << 16
_OK: Final = 200
SAID_MAX: Final = 400
"""How much of an engine's words is told."""

_Answer = TypeVar("_Answer")


class Server(NamedTuple):
    """Where an engine answers."""

    engine: str
    """Its name, for messages."""
    host: str
    port: int
    tls: ssl.SSLContext | None
    answer_s: float
    """After which a request counts as unanswered."""
    hint: str
    """What to do if it does not answer."""


def server_at(
    engine: str, address: str, port: int, ca: Path | None, answer_s: float, hint: str
) -> Server | None:
    """Return the server at an address, on this port if it names none; None: it is no address."""
    found = urlsplit(address)
    if found.scheme not in {"http", "https"} or not found.hostname:
        return None
    tls = None
    if found.scheme == "https":
        tls = ssl.create_default_context(cafile=None if ca is None else str(ca))
    return Server(engine, found.hostname, found.port or port, tls, answer_s, hint)


class LongText(NamedTuple):
    """A text that may be too long: its beginning, how much is left out, and its end."""

    head: bytes
    cut: int = 0
    tail: bytes = b""


class HttpCalls:
    """Asks an engine. Who is not answered gets `Unavailable`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._threads = ThreadPoolExecutor(_CALLS, thread_name_prefix=server.engine.lower())

    async def call(
        self, method: str, target: str, body: object, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """Return the status, and the whole answer."""

        def ask() -> tuple[int, bytes]:
            with self.open(method, target, body, headers) as answer:
                return answer.status, answer.read()

        return await self._in_thread(ask)

    async def read(
        self, target: str, headers: Mapping[str, str], *, bytes_max: int, head_bytes: int,
        skip: int = 0, is_live: bool = False,
    ) -> tuple[int, LongText]:  # fmt: skip
        """Return the status and a long text, without its first bytes; at another status than 200
        all of it. `is_live`: without what is too long, which is not asked for.
        """

        def ask() -> tuple[int, LongText]:
            with self.open("GET", target, None, headers) as answer:
                if answer.status != _OK:
                    return answer.status, LongText(answer.read())
                _skip(answer, skip)
                if is_live:
                    return _OK, LongText(answer.read(bytes_max))
                return _OK, _ends_of(answer, bytes_max, head_bytes)

        return await self._in_thread(ask)

    def open(
        self,
        method: str,
        target: str,
        body: object,
        headers: Mapping[str, str],
        *,
        longer_s: float = 0.0,
    ) -> HTTPResponse:
        """Return an answer that is still to be read, which closes its connection then. Blocks."""
        connection = self._connection(self._server.answer_s + longer_s)
        content = None if body is None else json.dumps(body)
        sent = {"Content-Type": "application/json", "Connection": "close", **headers}
        try:
            connection.request(method, target, content, sent)
            return connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """Take no more calls."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, ask: Callable[[], _Answer]) -> _Answer:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        except (OSError, HTTPException, ValueError) as error:
            why = f"{self._server.engine} is away: {type(error).__name__}: {error}"
            raise Unavailable(why[:SAID_MAX], hint=self._server.hint) from error

    def _connection(self, timeout_s: float) -> HTTPConnection:
        host, port, tls = self._server.host, self._server.port, self._server.tls
        if tls is None:
            return HTTPConnection(host, port, timeout=timeout_s)
        return HTTPSConnection(host, port, timeout=timeout_s, context=tls)


def _skip(answer: HTTPResponse, count: int) -> None:
    while count and (piece := answer.read(min(count, _PIECE))):
        count -= len(piece)


def _ends_of(answer: HTTPResponse, bytes_max: int, head_bytes: int) -> LongText:
    head, kept, size, total = b"", deque[bytes](), 0, 0
    while piece := answer.read(_PIECE):
        total += len(piece)
        if len(head) < bytes_max:
            room = bytes_max - len(head)
            head, piece = head + piece[:room], piece[room:]
        if piece:
            kept.append(piece)
            size += len(piece)
            while size - len(kept[0]) >= bytes_max:
                size -= len(kept.popleft())
    if total <= bytes_max:
        return LongText(head)
    tail = (head[head_bytes:] + b"".join(kept))[-(bytes_max - head_bytes) :]
    return LongText(head[:head_bytes], total - bytes_max, tail)
