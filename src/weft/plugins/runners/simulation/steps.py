"""Take the steps of one simulated job: it waits, writes lines, adds up numbers, fails."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from weft.core.states import AttemptKey
from weft.ports.log_store import LogWriter
from weft.ports.shared_room import SharedRoom
from weft.wire.documents.simulations import Compute, Fail, HttpCall, Log, Sleep, Step
from weft.wire.log_format import FLUSH_MS, STDOUT, Piece

_MS: Final = 1_000_000
_PROGRAM: Final = str(Path(__file__).with_name("add_up.py"))
_AT_ONCE: Final = 10_000
"""So many are added up here: it takes a tenth of a millisecond, a process takes twenty."""


class StepFailed(Exception):
    """A step FAIL was taken, or one could not be."""


class Lines(Protocol):
    """Where the lines of a run go."""

    def add(self, line: str) -> None:
        """Add a line."""

    async def before(self, wait_ms: int) -> None:
        """Write what would have to wait for too long."""


class Output:
    """The lines of one attempt: kept in memory while they are few and recent."""

    def __init__(self, key: AttemptKey, logs: LogWriter, started_ns: int) -> None:
        self._key = key
        self._logs = logs
        self._started_ns = started_ns
        self._pending: list[Piece] = []
        self._n_written = 0
        self._writing: asyncio.Future[None] | None = None
        self.n_bytes = 0

    def add(self, line: str) -> None:
        data = line.encode(errors="replace") + b"\n"
        self._pending.append(Piece(STDOUT, self._at_ms(), data))
        self.n_bytes += len(data)

    async def before(self, wait_ms: int) -> None:
        if self._pending and self._at_ms() + wait_ms - self._pending[0].at_ms >= FLUSH_MS:
            await self.write()

    async def write(self) -> None:
        """Write everything. A caller that is cancelled leaves it to the next call to go on."""
        if self._writing is not None:
            await asyncio.shield(self._writing)
        if self._pending:
            self._writing = asyncio.ensure_future(self._write())
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        pieces, self._pending = self._pending, []
        after, self._n_written = self._n_written, self._n_written + len(pieces)
        await self._logs.append(self._key, pieces, after=after)

    def _at_ms(self) -> int:
        return (time.monotonic_ns() - self._started_ns) // _MS


Holder = Callable[[], Awaitable[str]]


class Adder:
    """Adds up numbers in a few processes, so that nothing else waits. There may be so many that
    they take for ever.
    """

    def __init__(self, processes_max: int) -> None:
        self._places = SharedRoom(2 * processes_max)

    async def add_up(self, count: int, tenant: Holder) -> int:
        """Return the milliseconds of CPU that it took. Raise `StepFailed`."""
        if count <= _AT_ONCE:
            sum(range(count))
            return 0
        async with self._places.of(await tenant()):
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-S",
                _PROGRAM,
                str(count),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                cwd="/",
                env={},
            )
            try:
                said, _ = await process.communicate()
            except asyncio.CancelledError:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
                await process.wait()
                raise
        if process.returncode:
            raise StepFailed("the process that computes for it has ended")
        return int(said)


async def take(step: Step, output: Lines, adder: Adder, tenant: Holder) -> int:
    """Take a step; return the milliseconds of CPU that it took. Raise `StepFailed`."""
    match step:
        case Sleep(duration_ms=ms) | HttpCall(latency_ms=ms):
            await output.before(ms)
            await asyncio.sleep(ms / 1000)
        case Log(message=message):
            output.add(message or "")
        case Compute(iterations=count):
            await output.before(FLUSH_MS)
            return await adder.add_up(count, tenant)
        case Fail(message=message):
            raise StepFailed(message or "")
    return 0
