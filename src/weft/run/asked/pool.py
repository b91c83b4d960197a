"""Processes of one kind that answer questions: one for each key, started when first needed.

One that does not answer in time, says too much or dies is killed with all that it started, and the
next question has another. Only its own are killed.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from weft.core.bounded import ENVELOPE_DEPTH_MAX, read_msgpack
from weft.run.asked.asked_process import AskedProcess, Ended
from weft.run.asked.frames import Asked, Failure
from weft.run.asked.kinds import KINDS


class NotStarted(Ended):
    """The process did not begin to answer."""


class Failed(Exception):
    """A question has no answer, by no fault of its process."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


class Pool:
    """Asks processes of one kind. `site`: what they are told first, by key."""

    def __init__(
        self, kind: str, within_s: float, site: Callable[[Any], object] = lambda _: None,
        *, memory_bytes: int | None = None,
    ) -> None:  # fmt: skip
        self.within_s = within_s
        """For one answer."""
        self.kind, self._site = KINDS[kind], site
        self._memory_bytes = memory_bytes or self.kind.memory_bytes
        self._turns = WeakValueDictionary[Hashable, asyncio.Lock]()
        self._ready: dict[Hashable, AskedProcess] = {}
        """Those that take questions."""
        self._all: set[AskedProcess] = set()

    @property
    def pids(self) -> Sequence[int]:
        """Return the processes that run now."""
        return [process.pid for process in self._all]

    async def ask(self, key: Hashable, question: object, kind: Any) -> Any:  # noqa: ANN401 (of `kind`)
        """Return the answer, of this type. Raise `Failed`, `Ended`, `TimeoutError`, `OSError`."""
        async with aclosing(self.answers(key, [question], kind)) as answers:
            async for _, answer in answers:
                if isinstance(answer, Failed):
                    raise answer
                return answer
        raise Ended

    async def answers(
        self, key: Hashable, questions: Sequence[object], kind: Any, one_s: float = 0.0,  # noqa: ANN401
        all_s: float = 0.0,
    ) -> AsyncGenerator[tuple[float, Any], None]:  # fmt: skip
        """Yield the seconds of CPU and the answer, or `Failed`, of each until all are spent. Raise
        as `ask` does.
        """
        left = len(questions)
        async with self._process(key) as process:
            with process.asked(Asked(questions, one_s, all_s)) as answer:
                try:
                    while left:
                        async with asyncio.timeout(self.within_s):
                            said = await answer()
                        left = 0 if said.value is None and said.failure is None else left - 1
                        if said.failure is not None:
                            yield said.seconds, Failed(said.failure)
                        elif said.value is not None:
                            yield said.seconds, _value_of(said.value, kind)
                except BaseException as error:
                    if isinstance(error, Exception) or (left and self.kind.is_serial):
                        process.retire()
                    raise

    async def close(self) -> None:
        """End all processes."""
        for process in [*self._all]:
            await process.end()

    @asynccontextmanager
    async def _process(self, key: Hashable) -> AsyncIterator[AskedProcess]:
        """Give the process of a key, to one at a time if it is serial."""
        turn = self._turns.setdefault(key, asyncio.Lock())
        async with turn:
            process = self._ready.get(key)
            if process is None or process.is_retired:
                process = await self._start(key)
            if self.kind.is_serial:
                yield process
        if not self.kind.is_serial:
            yield process

    async def _start(self, key: Hashable) -> AskedProcess:
        try:
            async with asyncio.timeout(self.kind.start_s):
                site = self._site(key)
                process = await AskedProcess.start(self.kind, site, self._memory_bytes)
        except (TimeoutError, OSError, EOFError) as error:
            raise NotStarted("it did not start", by_others=True) from error
        self._ready[key] = process
        self._all.add(process)
        process.ended.add_done_callback(lambda _: self._forget(key, process))
        return process

    def _forget(self, key: Hashable, process: AskedProcess) -> None:
        self._all.discard(process)
        if self._ready.get(key) is process:
            del self._ready[key]


def _value_of(body: bytes, kind: Any) -> Any:  # noqa: ANN401 (of `kind`)
    try:
        return read_msgpack(body, kind, depth_max=ENVELOPE_DEPTH_MAX)
    except msgspec.MsgspecError as error:
        raise Ended("it said what is no answer") from error
