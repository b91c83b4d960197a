"""A process that answers questions, as whoever asks sees it: any number at the same time.

One that is retired gets no more questions, and is killed with all that it started when the others
have ended. Its environment holds no settings and no secrets.
"""

import asyncio
import os
import pickle
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice
from signal import SIGKILL, SIGTERM
from typing import Any, Final

import msgspec

from weft.core.bounded import ENVELOPE_DEPTH_MAX, read_json, read_msgpack
from weft.run.isolated.kinds import LENGTH, Asked, Kind, Said


def kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill a process with all of its group, unless it has ended: then its number may be that of
    somebody else's group.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)


_ENVIRONMENT: Final = ("LANG", "LC_ALL", "PATH", "PYTHONPATH", "TZ")
_CHUNK_BYTES: Final = 1 << 18
_SAID: Final = msgspec.msgpack.Decoder(Said)


class Ended(EOFError):
    """There is no answer. `by_others`: no question is at fault, the process was ended."""

    def __init__(
        self, why: str = "it ended without an answer", *, by_others: bool = False
    ) -> None:
        super().__init__(why)
        self.by_others = by_others


class Unasked(Exception):
    """Another question ended the process before it came to this one: ask it again."""


_ENDED: Final = partial(Ended, by_others=True)
Answer = tuple[float, Any]
"""The seconds of CPU, and the answer or `Failure`."""


@dataclass(slots=True)
class _UnderWay:
    """Questions, and what is found by them."""

    kind: Any
    answers: list[Answer]
    left: int
    end: asyncio.Future[Exception | None]
    within_s: float
    since: float = field(default_factory=time.monotonic)

    def has_all_with(self, said: Said, *, is_json: bool) -> bool:
        """Add an answer; say whether it is the last. Raise as `read_json` does."""
        if said.value is None and said.failure is None:
            return True
        answer: Any = said.failure
        if said.value is not None:
            read = read_json if is_json else read_msgpack
            answer = read(said.value, self.kind, depth_max=ENVELOPE_DEPTH_MAX)
        self.answers.append((said.seconds, answer))
        self.left -= 1
        return self.left == 0

    def set_over(self, error: Exception | None) -> None:
        """Wake who waits, with this error."""
        if not self.end.done():  # else it is cancelled
            self.end.set_result(error)


class AskedProcess:
    """A process with the questions that are under way in it."""

    def __init__(self, kind: Kind, process: asyncio.subprocess.Process) -> None:
        self.is_retired = False
        """It gets no more questions, and ends after those that it has."""
        self._kind = kind
        self._process = process
        self._pending: dict[int, _UnderWay] = {}
        self._unread = bytearray()
        self._numbers = count()
        self._idle: asyncio.TimerHandle | None = None
        self._late: asyncio.TimerHandle | None = None
        self.ended = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, kind: Kind, site: object, memory_bytes: int) -> "AskedProcess":
        """Return a process that is ready. Raise `Ended`, `OSError`, `TimeoutError`."""
        process = cls(
            kind,
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "weft.run.isolated.limited_process",
                kind.name,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env={"MALLOC_ARENA_MAX": "2"}  # of 64 MiB each, not eight for each core
                | {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            ),
        )
        try:
            await process.ask(Asked((site, memory_bytes)), kind.start_s, None, [])
        except BaseException:
            await process.end()
            raise
        return process

    @property
    def pid(self) -> int:
        """Return its number."""
        return self._process.pid

    async def ask(self, what: Asked, within_s: float, kind: Any, into: list[Answer]) -> None:  # noqa: ANN401
        """Ask, and add answers of this type. Raise `TimeoutError`, `Ended` or `Unasked`."""
        number, end = next(self._numbers), asyncio.get_running_loop().create_future()
        self._stay()
        assert self._process.stdin is not None
        self._process.stdin.write(pickle.dumps((number, (*what,))))
        self._pending[number] = _UnderWay(kind, into, len(what.questions), end, within_s)
        self._watch(within_s)
        try:
            if (error := await end) is not None:
                raise error
        finally:
            self._give_up(number)
            self._end_unless_needed()

    def retire(self) -> None:
        """Give it no more questions."""
        self.is_retired = True
        self._end_unless_needed()

    async def end(self) -> None:
        """Kill it with all that it started."""
        self.is_retired = True
        self._end_all(_ENDED, _ENDED)
        kill_group(self._process)
        await self.ended

    def _watch(self, within_s: float) -> None:
        """Look then, or before, whether somebody waits too long."""
        loop = asyncio.get_running_loop()
        if self._late is None or self._late.when() > loop.time() + within_s:
            self._late = loop.call_later(within_s, self._look)

    def _look(self) -> None:
        """Raise `TimeoutError` in who waits too long; serial: behind the last answer."""
        self._late = None
        for number, this in [*self._pending.items()][: 1 if self._kind.is_serial else None]:
            left_s = this.since + this.within_s - time.monotonic()
            if left_s > 0:
                self._watch(left_s)
                continue
            self.is_retired = True
            self._give_up(number)
            this.set_over(TimeoutError())

    def _give_up(self, number: int) -> None:
        """Wait no more for these answers: those of a serial process are in the way of others."""
        if self._pending.pop(number, None) is not None and self._kind.is_serial:
            self.is_retired = True
            self._end_all(Unasked, Unasked)

    def _end_all(self, first: Callable[[], Exception], rest: Callable[[], Exception]) -> None:
        """Raise this in those who wait; a serial process is at work for the first."""
        for this in self._pending.values():
            this.set_over(first())
            first = rest
        self._pending.clear()

    async def _read(self) -> None:
        """Hand out answers until it ends."""
        is_readable, stdout = True, self._process.stdout
        assert stdout is not None
        try:
            while chunk := await stdout.read(_CHUNK_BYTES):
                self._unread += chunk
                while (said := self._said()) is not None:
                    self._hand_out(said)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            is_readable = False
        finally:
            self.is_retired = True
            kill_group(self._process)
            self._stay()
        while await stdout.read(_CHUNK_BYTES):  # else its end is not seen
            pass
        code = await self._process.wait()
        why: Callable[[], Ended] = partial(Ended, "it said what is no answer")
        if is_readable:
            why = _ENDED if code >= 0 or code in {-SIGKILL, -SIGTERM} else Ended
        self._end_all(why, Unasked if self._kind.is_serial else why)

    def _said(self) -> Said | None:
        """Return the next answer, if it is here. Raise `ValueError` for one that nobody reads."""
        if len(self._unread) < LENGTH.size:
            return None
        end = LENGTH.size + LENGTH.unpack_from(self._unread)[0]
        if end > LENGTH.size + self._kind.answer_bytes_max:
            raise ValueError("an answer is too long")
        if len(self._unread) < end:
            return None
        said = _SAID.decode(self._unread[LENGTH.size : end])
        del self._unread[:end]
        return said

    def _hand_out(self, said: Said) -> None:
        this = self._pending.get(said.number)
        if this is not None and this.has_all_with(said, is_json=self._kind.is_json):
            del self._pending[said.number]
            this.set_over(None)
        for first in islice(self._pending.values(), self._kind.is_serial):
            first.since = time.monotonic()

    def _end_unless_needed(self) -> None:
        self._stay()
        if self._pending or self.ended.done():
            return
        if self.is_retired:
            kill_group(self._process)
        else:
            self._idle = asyncio.get_running_loop().call_later(self._kind.idle_s, self.retire)

    def _stay(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
