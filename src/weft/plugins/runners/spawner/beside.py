"""A command beside a running job of a worker on this host: a connection to its spawner, and its
streams. The api has it for those who ask, and a worker outside for its api.
"""

import asyncio
import os
import socket
import termios
from asyncio import StreamReader, StreamReaderProtocol
from collections.abc import AsyncGenerator
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from typing import Final

import msgspec

from weft.core.bounded import read_msgpack
from weft.plugins.runners.spawner.start import open_socket
from weft.ports.patience import end_tasks
from weft.wire import exec as wire

ANSWER_S: Final = 10.0
AFTER_S: Final = 0.2
"""How long output is awaited from what has left a command that has ended."""
_PIECE_BYTES: Final = 1 << 16
_QUEUED: Final = 4
_STDIN: Final = 0


class _Reading(StreamReaderProtocol):
    """Reads to the end: that of a terminal, which nobody has open any more, is an error."""

    def connection_lost(self, _: Exception | None) -> None:
        super().connection_lost(None)


class Channel:
    """A command, from its start to its end. `close` ends it."""

    def __init__(
        self, connection: socket.socket, pipes: dict[int, FileIO], terminal: FileIO | None
    ) -> None:
        self._socket = connection
        self._pipes = pipes
        self._terminal = terminal
        self._input: asyncio.Queue[bytes] = asyncio.Queue()
        self._output: asyncio.Queue[bytes] = asyncio.Queue(_QUEUED)
        """Frames; each of its streams, and its end, is over with an empty one."""
        self._received = self._taken = 0
        self.ended: wire.Ended | None = None

    def close(self) -> None:
        """Let go of it: a command that still runs is ended by its spawner."""
        self._socket.close()
        for file in (*self._pipes.values(), self._terminal):
            if file is not None:
                file.close()

    def signal(self, number: int) -> None:
        """Send a signal to its process group."""
        with suppress(OSError):
            self._socket.send(msgspec.msgpack.encode(number))

    def resize(self, rows: int, columns: int) -> None:
        """Give its terminal another size, of which the command is told."""
        if self._terminal is not None and not self._terminal.closed:
            termios.tcsetwinsize(self._terminal.fileno(), (rows, columns))

    async def take(self, kind: int, data: bytes) -> bool:
        """Take a frame of the client; False: it is nonsense, or more than was asked for."""
        if kind == wire.SIGNAL and len(data) == 1:
            self.signal(data[0])
        elif kind == wire.RESIZE and len(data) == wire.SIZE.size:
            self.resize(*wire.SIZE.unpack(data))
        elif kind == wire.STDIN:
            self._received += len(data) or 1  # so that nobody keeps sending ends
            self._input.put_nowait(data)
            return self._received - self._taken <= wire.BYTES_MAX + 1
        return kind in {wire.SIGNAL, wire.RESIZE, wire.ALIVE}

    async def answer(self) -> wire.Begun | wire.Ended | wire.Refused | None:
        """Return the next packet; None: the spawner has gone."""
        data = b""
        with suppress(OSError):
            loop = asyncio.get_running_loop()
            data = await loop.sock_recv(self._socket, wire.BYTES_MAX)
        return read_msgpack(data, wire.Begun | wire.Ended | wire.Refused) if data else None

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """Yield what the client is to get; the last frame says how the command ended."""
        sources = [self._end(), *map(self._read, (kind for kind in list(self._pipes) if kind))]
        tasks = [asyncio.create_task(one) for one in (*sources, self._write())]
        open_count = len(sources)
        try:
            while open_count:
                try:
                    async with asyncio.timeout(AFTER_S if self.ended else wire.QUIET_S):
                        piece = await self._output.get()
                except TimeoutError:
                    if self.ended:
                        break
                    piece = self._count()
                if piece:
                    yield piece
                else:
                    open_count -= 1
            yield wire.frame(wire.END, msgspec.json.encode(self.ended))
        finally:
            await end_tasks(tasks)
            self.close()

    def _count(self) -> bytes:
        return wire.frame(wire.TAKEN, str(self._taken).encode())

    async def _end(self) -> None:
        if self.ended is None:
            answer = await self.answer()
            self.ended = answer if isinstance(answer, wire.Ended) else wire.Ended(None)
        if why := self.ended.why:
            await self._output.put(wire.frame(wire.STDERR, f"weft exec: {why}\n".encode()))
        await self._output.put(b"")

    async def _read(self, kind: int) -> None:
        reader = StreamReader(_PIECE_BYTES)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: _Reading(reader), self._pipes.pop(kind)
        )
        try:
            while data := await reader.read(_PIECE_BYTES):
                await self._output.put(wire.frame(kind, data))
            await self._output.put(b"")
        finally:
            transport.close()

    async def _write(self) -> None:
        """Give the command its input as it takes it. What does not read it any more loses it. No
        transport does it: one that writes to a terminal also reads there.
        """
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        with self._pipes.pop(_STDIN) as file:
            while data := await self._input.get():
                self._taken += len(data)
                with suppress(OSError):
                    while data:
                        written = file.write(data)
                        data = data[written or 0 :]
                        if written is None:
                            ready.clear()
                            loop.add_writer(file, ready.set)
                            try:
                                await ready.wait()
                            finally:
                                loop.remove_writer(file)
                await self._output.put(self._count())


async def begin(
    path: Path, request: wire.Begin, size: wire.Terminal | None = None
) -> Channel | wire.Refused | None:
    """Start a command; None: no spawner listens there, or answers."""
    connection = open_socket(path, socket.SOCK_SEQPACKET)
    if connection is None:
        return None
    if size is None:
        (its_in, stdin), (stdout, its_out), (stderr, its_err) = (os.pipe() for _ in range(3))
        its = [its_in, its_out, its_err]
        files = FileIO(stdin, "w"), FileIO(stdout), FileIO(stderr)
        channel = Channel(connection, dict(enumerate(files)), None)
    else:
        ours, slave = os.openpty()
        its = [slave, os.dup(slave), os.dup(slave)]
        stdin = os.dup(ours)
        pipes = {_STDIN: FileIO(stdin, "w"), wire.STDOUT: FileIO(os.dup(ours))}
        channel = Channel(connection, pipes, FileIO(ours))
        channel.resize(size.rows, size.columns)
    os.set_blocking(stdin, False)
    with ExitStack() as undo:
        undo.callback(channel.close)
        try:
            socket.send_fds(connection, [msgspec.msgpack.encode(request)], its)
            async with asyncio.timeout(ANSWER_S):
                answer = await channel.answer()
        except (OSError, TimeoutError):
            return None
        finally:
            for fd in its:
                os.close(fd)
        if answer is None or isinstance(answer, wire.Refused):
            return answer
        channel.ended = answer if isinstance(answer, wire.Ended) else None
        undo.pop_all()
    return channel
