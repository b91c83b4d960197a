"""Transfer objects by signed URLs over HTTP/1.1, in bounded memory.

Names are resolved once and each address is checked, as for callbacks, so no store leads into a
network that the setting `store_private_hosts` does not allow. Redirections are not followed. An
object appears when its last byte has come: a request that breaks off leaves none.
"""

import asyncio
import hashlib
import re
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final

import h11

from weft.core.addresses import AllowedHosts
from weft.core.deliveries.callback_url import CallbackTarget, parse_target
from weft.plugins.callback_senders.http.resolve import resolve
from weft.ports.file_signing import ONE_REQUEST_BYTES_MAX, Head
from weft.ports.file_store import FileDiffers, FileMissing, FileRefused, HeldFile, StoreAway

PIECE_BYTES: Final = 256 << 10
_ADDRESSES_MAX: Final = 4
_TRIES: Final = 4
_HEAD_BYTES_MAX: Final = 64 << 10
_ERROR_BYTES_MAX: Final = 4096
_CODE: Final = re.compile(rb"<Code>([A-Za-z0-9]{1,64})</Code>")
_OK: Final = 200
_PART: Final = 206
_SAME: Final = 304
_MISSING: Final = 404
_CHANGED: Final = 412
_BUSY: Final = frozenset({408, 429, 500, 502, 503, 504})
_LATER: Final = frozenset({"RequestTimeTooSkewed", "SlowDown", "InternalError", "RequestTimeout"})


@dataclass(frozen=True)
class HttpCarrier:
    """Transfers objects. `timeout_s`: without any progress."""

    allowed: AllowedHosts
    timeout_s: float = 60.0
    tls: ssl.SSLContext | None = None
    """None: trust the system's certificate authorities."""
    setting: str = "store_private_hosts"

    async def size(self, url: str) -> int:
        """Return how many bytes an object has, by a URL for HEAD."""
        async with self.asked("HEAD", url, []) as exchange:
            answer = await exchange.answer()
            if answer.status_code != _OK:
                await exchange.refuse(answer)
            return size_of(answer) or 0

    async def read(
        self, url: str, start: int = 0, head: Head | None = None
    ) -> AsyncIterator[bytes]:
        """Yield the bytes of an object from `start` on; go on where a connection broke."""
        head = head or Head()
        done, etag, tries = start, "", 0
        while True:
            before = done
            headers = [("Range", f"bytes={done}-")] if done else []
            if etag:
                headers.append(("If-Match", etag))
            elif head.known:
                headers.append(("If-None-Match", head.known))
            try:
                async with self.asked("GET", url, headers) as exchange:
                    answer = await exchange.answer()
                    if answer.status_code == _SAME and head.known and not etag:
                        head.is_known = True
                        return
                    if answer.status_code != (_PART if done else _OK):
                        await exchange.refuse(answer)
                    etag = header_of(answer, b"etag")
                    head.version = strong(etag)
                    if not done:
                        head.n_bytes = size_of(answer)
                    async for piece in exchange.pieces():
                        done += len(piece)
                        yield piece
            except StoreAway:
                tries = tries + 1 if done == before else 0
                if done == start or not etag or tries >= _TRIES:
                    raise
            else:
                return

    async def write(self, url: str, file: HeldFile) -> None:
        """Store an object in one request."""
        if file.n_bytes > ONE_REQUEST_BYTES_MAX:
            most = ONE_REQUEST_BYTES_MAX >> 30
            raise FileRefused(f"it has {file.n_bytes} bytes; its store takes at most {most} GiB")
        length = ("Content-Length", str(file.n_bytes))
        async with self.asked("PUT", url, [length], None) as exchange:
            try:
                await self._send(exchange, file)
            except (OSError, TimeoutError):  # it may have answered before it has read all
                exchange.give_up_sending()
            answer = await exchange.answer()
            if answer.status_code != _OK:
                await exchange.refuse(answer)

    async def remove(self, url: str) -> None:
        """Remove an object."""
        async with self.asked("DELETE", url, []) as exchange:
            answer = await exchange.answer()
            if answer.status_code // 100 != 2:  # noqa: PLR2004 (2xx)
                await exchange.refuse(answer)

    async def _send(self, exchange: "Exchange", file: HeldFile) -> None:
        found, offset = hashlib.sha256(), 0
        while offset < file.n_bytes:
            piece = await asyncio.to_thread(file.read, offset, PIECE_BYTES)
            found.update(piece)
            offset += len(piece)
            if not piece or (offset == file.n_bytes and found.digest() != file.digest):
                raise FileDiffers("it was changed while it was stored")
            await exchange.send(h11.Data(data=piece))
        await exchange.send(h11.EndOfMessage())

    @asynccontextmanager
    async def asked(
        self, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes | None = b""
    ) -> AsyncIterator["Exchange"]:
        """Send a request and give its exchange. `body`: None, the caller sends it. Raise
        `FileRefused`, `StoreAway`.
        """
        target = parse_target(url)
        request = h11.Request(
            method=method, target=target.path,
            headers=[("Host", target.authority), ("Connection", "close"), *headers],
        )  # fmt: skip
        reader, writer = await self._connect(target)
        try:
            exchange = Exchange(reader, writer, self.timeout_s, target.authority)
            await exchange.send(request)
            if body is not None:
                await exchange.send(h11.Data(data=body))
                await exchange.send(h11.EndOfMessage())
            yield exchange
        except TimeoutError as error:
            raise StoreAway(f"{target.authority} is silent for {self.timeout_s:g} s") from error
        except (OSError, EOFError) as error:
            raise StoreAway(f"the connection to {target.authority} broke") from error
        except h11.ProtocolError as error:
            raise StoreAway(f"{target.authority} broke off its answer") from error
        finally:
            writer.transport.abort()

    async def _connect(
        self, target: CallbackTarget
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        tls = (self.tls or _system_tls()) if target.scheme == "https" else None
        try:
            found = await resolve(target.host, target.port)
        except OSError as error:
            raise StoreAway(f"the name {target.host} cannot be resolved") from error
        good = [one for one in found if self.allowed.allow(target.host, one)]
        if found and not good:  # the address itself stays secret: it is a fact about our network
            raise FileRefused(f"{target.host} is private, and {self.setting} does not allow it")
        why: Exception | None = None
        for address in good[:_ADDRESSES_MAX]:
            try:
                async with asyncio.timeout(self.timeout_s):
                    return await asyncio.open_connection(
                        str(address), target.port, ssl=tls, limit=PIECE_BYTES,
                        server_hostname=target.host if tls else None,
                    )  # fmt: skip
            except (OSError, ValueError) as error:
                why = error
        raise StoreAway(f"{target.authority} does not answer") from why


class Exchange:
    """One request and its answer."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout_s: float,
        host: str,
    ) -> None:  # fmt: skip
        self._reader = reader
        self._writer = writer
        self._timeout_s = timeout_s
        self._host = host
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_BYTES_MAX)

    async def send(self, event: h11.Event) -> None:
        """Send, and wait until most of it is on its way."""
        if data := self._protocol.send(event):
            self._writer.write(data)
            async with asyncio.timeout(self._timeout_s):
                await self._writer.drain()

    def give_up_sending(self) -> None:
        """Read the answer although not all was sent."""
        self._protocol.send_failed()

    async def answer(self) -> h11.Response:
        """Return the head of the answer."""
        while True:
            event = await self._next()
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise EOFError

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body; a body that breaks off raises `h11.RemoteProtocolError`."""
        while not isinstance(event := await self._next(), h11.EndOfMessage):
            if not isinstance(event, h11.Data):
                raise EOFError
            yield bytes(event.data)

    async def refuse(self, answer: h11.Response) -> None:
        """Raise what the store says."""
        body = b""
        async for piece in self.pieces():
            body += piece
            if len(body) >= _ERROR_BYTES_MAX:
                break
        match = _CODE.search(body)
        code = match[1].decode() if match else ""
        status = answer.status_code
        if status in _BUSY or code in _LATER:
            raise StoreAway(f"{self._host} answers with {code or status}")
        if code == "NoSuchBucket":
            raise FileRefused("its store has no such bucket (NoSuchBucket)")
        if status == _MISSING:
            raise FileMissing("its store has no such object")
        if status == _CHANGED:
            raise FileDiffers("it was changed while it was fetched")
        raise FileRefused(f"its store refuses it ({code or status})")

    async def _next(self) -> object:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            async with asyncio.timeout(self._timeout_s):
                data = await self._reader.read(PIECE_BYTES)
            self._protocol.receive_data(data)
        return event


def header_of(answer: h11.Response, name: bytes) -> str:
    """Return a header of an answer; empty: it has none."""
    return next((value.decode("latin-1") for key, value in answer.headers if key == name), "")


def size_of(answer: h11.Response) -> int | None:
    """Return how many bytes follow; None: the server does not say."""
    size = header_of(answer, b"content-length")
    return int(size) if size.isdigit() else None


def strong(etag: str) -> str:
    """Return a tag that stands for each byte; empty: this one does not."""
    return "" if etag.startswith("W/") else etag


@cache
def _system_tls() -> ssl.SSLContext:
    return ssl.create_default_context()
