"""A process that answers questions, as whoever asks sees it: any number at the same time.

One that is retired gets no more questions, and is killed with all that it started when the others
have ended. Its environment holds no settings and no secrets.
"""

import asyncio
import os
import pickle
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from signal import SIGKILL, SIGTERM
from typing import Final

import msgspec

from weft.run.asked.frames import LENGTH, Said
from weft.run.asked.kinds import Kind
from weft.run.host.process_group import kill_group

_ENVIRONMENT: Final = ("LANG", "LC_ALL", "PATH", "PYTHONPATH", "TZ")
_SAID: Final = msgspec.msgpack.Decoder(Said)


class Ended(EOFError):
    """There is no answer. `by_others`: no question is at fault, the process was ended."""

    def __init__(
        self, why: str = "it ended without an answer", *, by_others: bool = False
    ) -> None:
        super().__init__(why)
        self.by_others = by_others


class AskedProcess:
    """A process with the questions that are under way in it."""

    def __init__(self, kind: Kind, process: asyncio.subprocess.Process) -> None:
        self.is_retired = False
        """It gets no more questions, and ends after those that it has."""
        self._kind = kind
        self._process = process
        self._pending: dict[int, asyncio.Queue[Said | Ended]] = {}
        self._numbers = count()
        self._idle: asyncio.TimerHandle | None = None
        self.ended = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, kind: Kind, site: object, memory_bytes: int | None) -> "AskedProcess":
        """Return a process that is ready. Raise `Ended` or `OSError`."""
        process = cls(kind, await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "weft.run.asked", kind.name,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, start_new_session=True, cwd="/",
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        ))  # fmt: skip
        try:
            with process.asked((site, memory_bytes)) as answer:
                await answer()
        except BaseException:
            await process.end()
            raise
        return process

    @property
    def pid(self) -> int:
        """Return its number."""
        return self._process.pid

    @contextmanager
    def asked(self, what: object) -> Iterator[Callable[[], Awaitable[Said]]]:
        """Ask; give what returns the answers one by one, and raises `Ended`."""
        number = next(self._numbers)
        answers = self._pending[number] = asyncio.Queue()

        async def answer() -> Said:
            said = await answers.get()
            if isinstance(said, Ended):
                raise said
            return said

        self._stay()
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(pickle.dumps((number, what)))
            if self.ended.done():
                answers.put_nowait(Ended(by_others=True))
            yield answer
        finally:
            del self._pending[number]
            self._end_unless_needed()

    def retire(self) -> None:
        """Give it no more questions."""
        self.is_retired = True
        self._end_unless_needed()

    async def end(self) -> None:
        """Kill it with all that it started."""
        self.is_retired = True
        kill_group(self._process)
        await self.ended

    async def _read(self) -> None:
        """Hand out answers until it ends."""
        is_readable = True
        try:
            while True:
                said = await self._said()
                if said.number in self._pending:  # else nobody waits for it any more
                    self._pending[said.number].put_nowait(said)
        except EOFError:
            pass
        except (ValueError, RecursionError, msgspec.MsgspecError):
            is_readable = False
        finally:
            self.is_retired = True
            kill_group(self._process)
            self._stay()
        code = await self._process.wait()
        by_others = is_readable and (code >= 0 or code in {-SIGKILL, -SIGTERM})
        for answers in self._pending.values():
            answers.put_nowait(Ended(by_others=by_others))

    async def _said(self) -> Said:
        """Return the next answer. Raise `EOFError`; `ValueError` for one that nobody reads."""
        assert self._process.stdout is not None
        (length,) = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))
        if length > self._kind.answer_bytes_max:
            raise ValueError("an answer is too long")
        return _SAID.decode(await self._process.stdout.readexactly(length))

    def _end_unless_needed(self) -> None:
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
