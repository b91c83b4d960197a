"""Processes of one kind that answer questions: one for each key, started when first needed.

One that does not answer in time, says too much or dies is killed with all that it started, and the
next question has another. Only its own are killed.
"""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from weft.run.isolated.kinds import KINDS, Asked, Failure
from weft.run.isolated.process import Answer, AskedProcess, Ended, Unasked


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
        self,
        kind: str,
        within_s: float,
        site: Callable[[Any], object] = lambda _: None,
        *,
        memory_bytes: int | None = None,
    ) -> None:
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
        """Return the answer, of this type. Raise `Failed`, `Ended`, `TimeoutError`."""
        answers: list[Answer] = []
        await self.answers(key, Asked([question]), kind, answers)
        if not answers:
            raise Ended
        ((_, answer),) = answers
        if isinstance(answer, Failure):
            raise Failed(answer)
        return answer

    async def answers(self, key: Hashable, what: Asked, kind: Any, into: list[Answer]) -> None:  # noqa: ANN401
        """Add what is found, until all is or the seconds are spent. Raise as `ask` does."""
        while True:
            process = await self._process(key)
            with suppress(Unasked):
                return await process.ask(what, self.within_s, kind, into)

    def retire(self, key: Hashable) -> None:
        """Let the process of a key end, if there is one."""
        if key in self._ready:
            self._ready[key].retire()

    async def close(self) -> None:
        for process in [*self._all]:
            await process.end()

    async def _process(self, key: Hashable) -> AskedProcess:
        async with self._turns.setdefault(key, asyncio.Lock()):  # of who starts it
            process = self._ready.get(key)
            if process is None or process.is_retired:
                process = await self._start(key)
            return process

    async def _start(self, key: Hashable) -> AskedProcess:
        try:
            process = await AskedProcess.start(self.kind, self._site(key), self._memory_bytes)
        except (TimeoutError, OSError, EOFError) as error:
            limit = f" within {self.kind.start_s:g} s" if isinstance(error, TimeoutError) else ""
            raise NotStarted(f"it did not start{limit}", by_others=True) from error
        self._ready[key] = process
        self._all.add(process)
        process.ended.add_done_callback(lambda _: self._forget(key, process))
        return process

    def _forget(self, key: Hashable, process: AskedProcess) -> None:
        self._all.discard(process)
        if self._ready.get(key) is process:
            del self._ready[key]


class AsksPool:
    """Whoever has a pool of its own."""

    pool: Pool

    async def close(self) -> None:
        """End all processes."""
        await self.pool.close()
