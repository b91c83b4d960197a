"""Requests to an engine's API over HTTP."""

import asyncio
import json
import ssl
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from weft.core.deliveries.callback_url import CallbackTarget
from weft.core.errors import Unavailable
from weft.net.exchange import Exchange
from weft.net.failures import NetFailure
from weft.net.foreign_http import ANYWHERE, ForeignHttp

_CALLS: Final = 8
"""Requests at a time."""
_ANSWER_BYTES_MAX: Final = 256 << 20
_WHOLE: Final = 10
"""How many times as long as its beginning an answer may take that goes on."""
_OK: Final = 200
SAID_MAX: Final = 400
"""How much of an engine's words is told."""


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
        self._http = ForeignHttp(ANYWHERE, server.answer_s, tls=server.tls)
        self._gate = asyncio.Semaphore(_CALLS)

    async def call(
        self, method: str, target: str, body: object, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """Return the status, and the whole answer."""
        http = replace(self._http, within_s=_WHOLE * self._server.answer_s)
        async with self._gate, self._asked(http, method, target, body, headers) as exchange:
            return (await exchange.head()).status, await exchange.body(_ANSWER_BYTES_MAX)

    async def read(
        self,
        target: str,
        headers: Mapping[str, str],
        *,
        bytes_max: int,
        head_bytes: int,
        skip: int = 0,
        is_live: bool = False,
    ) -> tuple[int, LongText]:
        """Return the status and a long text, without its first bytes; at another status than 200
        all of it. `is_live`: without what is too long, which is not asked for.
        """
        async with self._gate, self._asked(self._http, "GET", target, None, headers) as exchange:
            status = (await exchange.head()).status
            if status != _OK:
                return status, LongText(await exchange.body(_ANSWER_BYTES_MAX))
            return _OK, await _ends_of(exchange, skip, bytes_max, head_bytes, is_live=is_live)

    @asynccontextmanager
    async def stream(
        self, target: str, headers: Mapping[str, str], *, longer_s: float
    ) -> AsyncIterator[Exchange]:
        """Give an answer that goes on and may be silent for longer."""
        http = replace(self._http, silent_s=self._server.answer_s + longer_s)
        async with self._asked(http, "GET", target, None, headers) as exchange:
            yield exchange

    @asynccontextmanager
    async def _asked(
        self, http: ForeignHttp, method: str, path: str, body: object, headers: Mapping[str, str]
    ) -> AsyncIterator[Exchange]:
        server = self._server
        scheme = "http" if server.tls is None else "https"
        content = b"" if body is None else json.dumps(body).encode()
        fields = {"Content-Type": "application/json", "Accept-Encoding": "identity", **headers}
        try:
            target = CallbackTarget(scheme, server.host, server.port, path)
            async with http.asked(method, target, fields.items(), content) as exchange:
                yield exchange
        except NetFailure as failure:
            error = failure.why or failure
            why = f"{server.engine} is away: {type(error).__name__}: {error}"
            raise Unavailable(why[:SAID_MAX], hint=server.hint) from failure


async def _ends_of(
    exchange: Exchange, skip: int, bytes_max: int, head_bytes: int, *, is_live: bool
) -> LongText:
    head, kept, size, total = b"", deque[bytes](), 0, 0
    async for whole in exchange.pieces():
        piece, skip = whole[skip:], max(0, skip - len(whole))
        total += len(piece)
        if len(head) < bytes_max:
            room = bytes_max - len(head)
            head, piece = head + piece[:room], piece[room:]
        if is_live and len(head) == bytes_max:
            return LongText(head)
        if piece:
            kept.append(piece)
            size += len(piece)
            while size - len(kept[0]) >= bytes_max:
                size -= len(kept.popleft())
    if total <= bytes_max:
        return LongText(head)
    tail = (head[head_bytes:] + b"".join(kept))[-(bytes_max - head_bytes) :]
    return LongText(head[:head_bytes], total - bytes_max, tail)
