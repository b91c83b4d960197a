"""A command beside a running job, as a client talks to it."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from weft.client.http.blocking import asyncio
from weft.client.http.connection import ConnectionLost, Reply
from weft.core.bounded import read_json
from weft.core.errors import MalformedBody, Unavailable
from weft.wire import exec as wire

_PIECE_BYTES = 1 << 16


class ExecLost(Unavailable, code="CLIENT.EXEC_LOST"):
    """Nobody knows how a command beside a job ended."""

    advice = "It is ended with its connection; `weft status` says whether its job runs."


class Execution(NamedTuple):
    """How a command ended, and what it wrote."""

    exit_code: int
    """128 and the number, if a signal ended it."""
    stdout: bytes
    stderr: bytes
    with_job: bool = False
    """Whether it was killed because its job ended."""


class Exec:
    """A command that runs until `run` is left."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._sent = self._taken = 0
        self._news = asyncio.Event()

    async def write(self, data: bytes) -> None:
        """Send input, no faster than the command takes it; none: there is no more."""
        for at in range(0, len(data) or 1, _PIECE_BYTES):
            piece = data[at : at + _PIECE_BYTES]
            while self._sent + len(piece) - self._taken > wire.BYTES_MAX:
                self._news.clear()
                await self._news.wait()
            self._sent += len(piece)
            await self._send(wire.STDIN, piece)

    async def signal(self, number: int) -> None:
        """Send a signal to its process group."""
        await self._send(wire.SIGNAL, bytes([number]))

    async def resize(self, rows: int, columns: int) -> None:
        """Say which size its terminal has now."""
        await self._send(wire.RESIZE, wire.SIZE.pack(rows, columns))

    async def run(
        self,
        stdin: bytes | None = b"",
        on_output: Callable[[int, bytes], Awaitable[object]] | None = None,
    ) -> Execution:
        """Return how it ends, with the output unless `on_output` gets that. `stdin`: all of its
        input; None: others write. Raise `ExecLost`.
        """
        kept: dict[int, list[bytes]] = {wire.STDOUT: [], wire.STDERR: []}

        async def keep(kind: int, data: bytes) -> None:
            kept[kind].append(data)

        take = on_output or keep
        feeding = asyncio.create_task(self._feed(stdin))
        ended = wire.Ended(None)
        try:
            async for kind, data in wire.frames(self._reply.chunks()):
                if kind == wire.TAKEN:
                    self._taken = int(data)
                    self._news.set()
                elif kind == wire.END:
                    ended = read_json(data, wire.Ended)
                elif kind in kept:
                    await take(kind, data)
        except (ConnectionLost, MalformedBody, ValueError):
            ended = wire.Ended(None)
        finally:
            feeding.cancel()
            self._reply.close()
            await asyncio.gather(feeding, return_exceptions=True)
        if ended.exit_code is None:
            why = f"the command was ended: {ended.why}" if ended.why else ""
            raise ExecLost(why or "the server or the worker of the command is gone")
        stdout, stderr = map(b"".join, kept.values())
        return Execution(ended.exit_code, stdout, stderr, ended.with_job)

    async def _feed(self, stdin: bytes | None) -> None:
        if stdin:
            await self.write(stdin)
        if stdin is not None:
            await self.write(b"")

    async def _send(self, kind: int, data: bytes) -> None:
        with suppress(ConnectionLost):  # reading says so, too
            await self._reply.send(wire.frame(kind, data))
