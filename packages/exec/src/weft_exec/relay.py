"""Connections over a pair of streams: both ends of `weft forward`. The client imports this; a bare
Python beside the job runs its text, so it needs the standard library alone.

A frame is a byte for its kind, two for the number of its connection, four for the length, and
data: OPEN; DATA (none: the end of this direction); TAKEN, how many bytes, in digits; CLOSE, both
directions (data: nobody listens). The relay's first OPEN says that it is there.
"""

import asyncio
import os
import struct
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from contextlib import suppress

OPEN, DATA, TAKEN, CLOSE = range(4)
LIVE_MAX = 64
WINDOW = 1 << 18
"""Bytes of a direction of a connection that are under way and not taken."""
_PIECE_BYTES = 1 << 15
_HEAD = struct.Struct("!BHI")


class _Connection:
    """What comes for a connection, and how much may go."""

    def __init__(self) -> None:
        self.room, self.waiting = WINDOW, 0
        self.has_room = asyncio.Event()
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        """None: the other end has closed it."""


class Carrier:
    """All connections, at one end. Both send nothing that the other has no room for, so that a
    connection that nobody reads stops itself alone.
    """

    def __init__(
        self,
        send: Callable[[bytes], Awaitable[object]],
        on_open: Callable[[int], object],
        on_refusal: Callable[[], object] = lambda: None,
    ) -> None:
        self._send_bytes, self._on_open, self._on_refusal = send, on_open, on_refusal
        self._sending = asyncio.Lock()
        self._live: dict[int, _Connection] = {}
        self._number = 0
        self._buffer = bytearray()

    def add(self, number: int | None = None) -> int | None:
        """Take a connection, of this number or a new one, which is returned; None: no more."""
        if number is None and len(self._live) >= LIVE_MAX:
            return None
        while number is None or number in self._live:
            self._number = number = (self._number + 1) % 65_536
        self._live[number] = _Connection()
        return number

    async def send(self, kind: int, number: int, data: bytes = b"") -> None:
        """Send one frame: all of it, whatever becomes of who sends it."""
        await asyncio.shield(self._send(_HEAD.pack(kind, number, len(data)) + data))

    def feed(self, data: bytes) -> None:
        """Take what comes of the other end. Raise `ValueError` for what it never sends."""
        self._buffer += data
        while len(self._buffer) >= _HEAD.size:
            kind, number, length = _HEAD.unpack_from(self._buffer)
            if length > _PIECE_BYTES:
                raise ValueError(f"a frame of {length} bytes")
            if len(self._buffer) < (end := _HEAD.size + length):
                return
            body = bytes(self._buffer[_HEAD.size : end])
            del self._buffer[:end]
            if kind == OPEN:
                self._on_open(number)
            elif (connection := self._live.get(number)) is not None:  # else it is over here
                self._take(connection, kind, body)

    def _take(self, connection: _Connection, kind: int, body: bytes) -> None:
        if kind == TAKEN:
            connection.room += int(body)
            connection.has_room.set()
            return
        if kind == CLOSE and body:
            self._on_refusal()
        connection.waiting += len(body) or 1
        if connection.waiting > WINDOW + 2:
            raise ValueError("more than there is room for")
        connection.pieces.put_nowait(body if kind == DATA else None)

    async def _send(self, frame: bytes) -> None:
        async with self._sending:
            await self._send_bytes(frame)

    async def close(self, number: int, why: bytes = b"") -> None:
        """Let go of a connection, and tell the other end."""
        self._live.pop(number, None)
        await self.send(CLOSE, number, why)

    async def carry(self, number: int, reader: StreamReader, writer: StreamWriter) -> None:
        """Carry what goes and comes until both directions are over, or one has failed."""
        connection = self._live[number]
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._read(number, connection, reader))
                both.create_task(self._write(number, connection, writer))
        except* OSError:
            writer.transport.abort()
            await self.close(number)
        finally:
            self._live.pop(number, None)
            writer.close()

    async def _read(self, number: int, connection: _Connection, reader: StreamReader) -> None:
        data = b"begin"
        while data:
            while not connection.room:
                connection.has_room.clear()
                await connection.has_room.wait()
            data = await reader.read(min(connection.room, _PIECE_BYTES))
            connection.room -= len(data)
            await self.send(DATA, number, data)

    async def _write(self, number: int, connection: _Connection, writer: StreamWriter) -> None:
        while data := await connection.pieces.get():
            writer.write(data)
            await writer.drain()
            connection.waiting -= len(data)
            await self.send(TAKEN, number, str(len(data)).encode())
        if data is None:
            raise ConnectionResetError
        writer.write_eof()


async def _relay(port: int) -> None:
    tasks: set[asyncio.Task[None]] = set()

    async def send(data: bytes) -> None:
        while data:
            data = data[await asyncio.to_thread(os.write, 1, data) :]

    async def connect(number: int) -> None:
        for host in ("127.0.0.1", "::1"):
            with suppress(OSError):
                return await carrier.carry(number, *await asyncio.open_connection(host, port))
        return await carrier.close(number, b"nobody listens")

    def on_open(number: int) -> None:
        carrier.add(number)
        tasks.add(task := asyncio.create_task(connect(number)))
        task.add_done_callback(tasks.discard)

    carrier = Carrier(send, on_open)
    await carrier.send(OPEN, 0)
    while data := await asyncio.to_thread(os.read, 0, _PIECE_BYTES):
        carrier.feed(data)


if __name__ == "__main__":
    asyncio.run(_relay(int(sys.argv[1])))
