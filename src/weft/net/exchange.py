"""One request and its answer, in bounded memory. The package `h11` knows the protocol."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple
from urllib.parse import urljoin

import h11

from weft.net.failures import Broken, NotHttp, RemoteDisconnected, TooLong, WrongRequest, plain

HEAD_BYTES_MAX: Final = 64 << 10
_INTERIM_MAX: Final = 8
"""Early hints and the like, before the answer itself."""
_BEGINS: Final = (b"", b"HTTP/")


class AnswerHead(NamedTuple):
    """The head of an answer."""

    status: int
    fields: Mapping[str, str]
    """By name in lower case; of a name that comes twice, the first."""

    def get(self, name: str) -> str:
        """Return a header; empty: there is none."""
        return self.fields.get(name, "")

    @property
    def n_bytes(self) -> int | None:
        """Return how many bytes follow; None: the server does not say."""
        size = self.get("content-length")
        return int(size) if size.isdigit() else None


def redirection(url: str, status: int | None, location: str | None) -> str | None:
    """Return where an answer sends us, which nobody has checked; None: nowhere."""
    if status in {301, 302, 303, 307, 308} and location:
        with suppress(ValueError):
            return urljoin(url, location).partition("#")[0]
    return None


class Exchange:
    """Sends the body of a request in pieces, and reads its answer. Raise `NetFailure`."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        authority: str,
        silent_s: float,
        piece_bytes: int,
    ) -> None:
        self.authority = authority
        """Who is asked: no path, no secret."""
        self._reader = reader
        self._writer = writer
        self._silent_s = silent_s
        self._piece_bytes = piece_bytes
        self._unsent = b""
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES_MAX)

    def begin(self, request: h11.Request, body: bytes | None) -> None:
        """Send a request. `body`: None, it is sent later, its head with the first piece. What the
        kernel does not take at once is sent while we read, as a server may answer before it has
        read all.
        """
        events: list[h11.Event] = [request]
        if body is not None:
            events += [h11.Data(data=body), h11.EndOfMessage()]
        try:
            data = b"".join(self._protocol.send(event) or b"" for event in events)
        except h11.LocalProtocolError:  # a header says another length
            raise WrongRequest from None
        if body is None:
            self._unsent = data
        else:
            self._writer.write(data)

    async def send(self, piece: bytes) -> None:
        """Send a piece of the body, and wait until most of it is on its way."""
        await self._send(h11.Data(data=piece))

    async def end(self) -> None:
        """Say that the body is complete."""
        await self._send(h11.EndOfMessage())

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Send a body: the server may answer before it has read all."""
        try:
            yield
        except Broken:
            self._protocol.send_failed()

    async def head(self) -> AnswerHead:
        """Return the head of the answer; however it drips, it is there in time."""
        with _failures():
            async with asyncio.timeout(self._silent_s):
                return await self._head()

    async def _head(self) -> AnswerHead:
        for _ in range(_INTERIM_MAX + 1):
            event = await self._next(is_begun=False)
            if isinstance(event, h11.Response):
                named = ((key.decode(), value.decode("latin-1")) for key, value in event.headers)
                return AnswerHead(event.status_code, dict(reversed([*named])))
            if not isinstance(event, h11.InformationalResponse):
                break
        raise NotHttp

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body."""
        while not isinstance(event := await self._next(), h11.EndOfMessage):
            if not isinstance(event, h11.Data):
                raise NotHttp
            yield bytes(event.data)

    async def body(self, bytes_max: int) -> bytes:
        """Return the body. Raise `TooLong` as soon as it is too long."""
        found = bytearray()
        async for piece in self.pieces():
            found += piece
            if len(found) > bytes_max:
                raise TooLong(ValueError(f"more than {bytes_max} bytes"))
        return bytes(found)

    async def lines(self, bytes_max: int) -> AsyncIterator[bytes]:
        """Yield the body line by line, while it comes. Raise `TooLong` for a long line."""
        rest = bytearray()
        async for piece in self.pieces():
            rest += piece
            if b"\n" in piece:
                *whole, rest = rest.split(b"\n")
                for line in whole:
                    yield bytes(line)
            if len(rest) > bytes_max:
                raise TooLong(ValueError(f"more than {bytes_max} bytes"))

    async def _send(self, event: h11.Event) -> None:
        with _failures():
            if self._writer.is_closing():  # that of uvloop says so by a RuntimeError
                raise ConnectionResetError
            self._writer.write(self._unsent + (self._protocol.send(event) or b""))
            self._unsent = b""
            async with asyncio.timeout(self._silent_s):
                await self._writer.drain()

    async def _next(self, *, is_begun: bool = True) -> object:
        with _failures():
            while (event := self._protocol.next_event()) is h11.NEED_DATA:
                async with asyncio.timeout(self._silent_s):
                    data = await self._reader.read(self._piece_bytes)
                if not data and not is_begun and self._protocol.trailing_data[0][:5] in _BEGINS:
                    raise RemoteDisconnected("Remote end closed connection without response")
                self._protocol.receive_data(data)
        return event


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except h11.ProtocolError as error:
        raise NotHttp(error) from error
    except OSError as error:
        raise Broken(plain(error)) from error
