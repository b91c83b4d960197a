"""A fake engine for remote runners: a directory with a file for each job.

It runs nothing. A job is queued for a moment, runs as long as its command says
(`sleep SECONDS; exit CODE`), writes a line each moment, and ends; all of that follows from the
clock and the file, so that it goes on while no agent looks, as a real engine does.
"""

import asyncio
import json
import re
import time
from collections import abc
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from weft.core.ends.conditions import Blocked
from weft.core.errors import Unavailable, WeftError
from weft.core.states import Command, Phase
from weft.plugins.runners.remote import Left, RemoteRunner, Status
from weft.plugins.runners.remote.handles import Handles
from weft.plugins.runners.remote.outputs import live_bytes, pieces_of, rest_of
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored
from weft.ports.runner import Assignment, RunnerSite
from weft.wire.log_format import STDERR, STDOUT, Piece

_COMMAND = re.compile(r"sleep ([0-9.]+); exit ([0-9]+)")
_LIMITS = ExecutorLimits(grace_ms=0, stream_bytes_max=1 << 20, stream_head_bytes=1 << 20)
_MOMENT_S = 0.05


def moments(ran_s: float) -> bytes:
    return b"".join(b"%d\n" % number for number in range(1 + int(round(ran_s, 3) / _MOMENT_S)))


@contextmanager
def _there(file: Path) -> abc.Iterator[None]:
    file.touch()
    try:
        yield
    finally:
        file.unlink()


class DirectoryEngine:
    def __init__(self, root: Path, *, queued_s: float = 0.05) -> None:
        self._root = root
        self.reason = "Priority"
        self.queued_s = queued_s
        root.mkdir(parents=True, exist_ok=True)
        self._refused = root.with_name(f"{root.name}.refused")
        self._odd = root.with_name(f"{root.name}.odd")
        """It exists while this engine answers nonsense, and lists those calls."""

    @asynccontextmanager
    async def away(self) -> abc.AsyncIterator[abc.Callable[[str], abc.Awaitable[None]]]:
        with _there(self._refused):
            yield self._until(self._refused)

    @asynccontextmanager
    async def garbled(self) -> abc.AsyncIterator[abc.Callable[[str], abc.Awaitable[None]]]:
        with _there(self._odd):
            yield self._until(self._odd)

    def _until(self, calls: Path) -> abc.Callable[[str], abc.Awaitable[None]]:
        async def until(call: str) -> None:
            while call not in calls.read_text().split():
                await self.changed()

        return until

    def _answer(self, call: str) -> None:
        away = Unavailable("the engine is away", hint="Leave the block of `away`.")
        for file, error in ((self._refused, away), (self._odd, KeyError("items"))):
            if file.exists():
                with file.open("a") as calls:
                    calls.write(f"{call}\n")
                raise error

    def names(self) -> list[str]:
        return sorted(path.name for path in self._root.iterdir())

    def remove(self, name: str) -> None:
        (self._root / name).unlink()

    meets: frozenset[str] = frozenset()
    followed_max = 10

    async def submit(
        self, assignments: abc.Mapping[str, Assignment]
    ) -> abc.Mapping[str, WeftError | Blocked]:
        if assignments:
            self._answer("submit")
        refused: dict[str, WeftError | Blocked] = {}
        for name, assignment in assignments.items():
            words = " ".join(assignment.spec.command or ("sleep 0; exit 0",))
            match = _COMMAND.search(words)
            if assignment.spec.executor == "blocked":
                refused[name] = Blocked("licence_missing", "tcp", {"host": "licences", "port": 1})
            elif match is None or assignment.spec.executor != "process":
                refused[name] = WeftError(f"this engine cannot run {words!r}")
            elif name not in self.names():
                runs = {"runs_s": float(match[1]), "exit_code": int(match[2])}
                self._write(name, {"at": time.time(), **runs})
        return refused

    def avoid(self, nodes: abc.Collection[str]) -> None:
        """Do nothing: it has one node, which it does not say."""

    async def settle(self, names: abc.Sequence[str]) -> None:
        """Do nothing: a call is over when it returns."""

    async def statuses(self, names: abc.Sequence[str]) -> abc.Mapping[str, Status]:
        self._answer("statuses")
        return {name: self._status(self._read(name)) for name in names if name in self.names()}

    async def stop(self, names: abc.Sequence[str], *, grace_ms: int) -> None:
        self._answer("stop")
        del grace_ms
        for name in {*names} & {*self.names()}:
            self._write(name, {"stopped_at": time.time(), **self._read(name)})

    async def tell(self, assignment: Assignment, command: Command) -> str:
        self._answer("tell")
        del assignment
        return "this engine knows no signals" if command.signal is not None else ""

    async def grown(
        self, stored: abc.Mapping[str, Stored]
    ) -> abc.Mapping[str, abc.Sequence[Piece]]:
        self._answer("grown")
        found = {name: self._new(name, has) for name, has in stored.items()}
        return {
            name: [
                Piece(stream, 0, some)
                for stream, text in new.items()
                if (some := text[: live_bytes(stored[name].of(stream), _LIMITS)])
            ]
            for name, new in found.items()
        }

    async def output(self, name: str, stored: Stored) -> abc.Sequence[Piece]:
        self._answer("output")
        pieces: list[Piece] = []
        for stream, text in self._new(name, stored).items():
            has = stored.of(stream)
            rest = rest_of(has.written + len(text), has, _LIMITS)
            head, tail = (
                text[start - has.written : stop - has.written]
                for start, stop in (rest.head, rest.tail)
            )
            pieces += pieces_of(stream, head, rest.cut, tail)
        return pieces

    async def left(self, name: str) -> Left:  # noqa: ARG002 (they write nothing)
        return Left()

    async def forget(self, names: abc.Sequence[str]) -> None:
        self._answer("forget")
        for name in names:
            (self._root / name).unlink(missing_ok=True)

    async def changed(self) -> None:
        await asyncio.sleep(0.01)

    def _new(self, name: str, stored: Stored) -> abc.Mapping[int, bytes]:
        status = self._status(self._read(name))
        ran_s = (status.started_s_ago or 0.0) - (status.ended_s_ago or 0.0)
        written = {STDOUT: moments(ran_s), STDERR: b"ran\n"}
        return {stream: text[stored.of(stream).written :] for stream, text in written.items()}

    def _status(self, job: abc.Mapping[str, Any]) -> Status:
        now = time.time()
        starts_at = job["at"] + self.queued_s
        ends_at = starts_at + job["runs_s"]
        stopped_at = job.get("stopped_at", ends_at)
        if stopped_at < ends_at:
            started = now - starts_at if starts_at < stopped_at else None
            killed = None if started is None else 15
            return Status(Phase.COLLECTING, started, now - stopped_at, signal=killed)
        if now < starts_at:
            return Status(Phase.QUEUED_REMOTE, message=f"it waits: {self.reason}")
        if now < ends_at:
            return Status(Phase.EXECUTING, now - starts_at, message="it runs on n1")
        return Status(Phase.COLLECTING, now - starts_at, now - ends_at, exit_code=job["exit_code"])

    def _read(self, name: str) -> dict[str, Any]:
        return json.loads((self._root / name).read_text())  # type: ignore[no-any-return]

    def _write(self, name: str, job: abc.Mapping[str, Any]) -> None:
        new = self._root.with_name(f"{self._root.name}.{name}")
        new.write_text(json.dumps(job))
        new.replace(self._root / name)


def open_directory_runner(site: RunnerSite) -> RemoteRunner:
    engine = DirectoryEngine(site.state / "engine")
    return RemoteRunner(engine, Handles(site.state), site.log_writer, site.worker)
