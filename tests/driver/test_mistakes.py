"""A mistake at any step of any loop: that loop begins anew, and the term and the others go on."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from driver.fake_store import FakeDriverStore
from weft.driver import term
from weft.driver.adapters import Adapters
from weft.driver.loops import LOOPS
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.term import Term
from weft.settings import Settings
from weft.store import DriverStore

SETTINGS = Settings(home=Path("/nowhere"), heartbeat_s=0.02)


class Mistaken:
    """A store that fails one loop at its nth call."""

    def __init__(self, store: FakeDriverStore, error: type[Exception], at: int) -> None:
        self._store, self._error, self._at = store, error, at
        self.n_calls = 0

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(*args: object, **named: object) -> object:
            self.n_calls += 1
            if self.n_calls == self._at:
                raise self._error(name)
            return await getattr(self._store, name)(*args, **named)

        return call

    @property
    def is_through(self) -> bool:
        """It has failed, and the loop has called again; or it makes fewer calls."""
        return self.n_calls != self._at


def mistaken(loop: Loop, error: type[Exception], at: int) -> tuple[Loop, Mistaken]:
    store = Mistaken(FakeDriverStore(), error, at)

    async def run(context: LoopContext) -> None:
        await loop.run(replace(context, store=cast("DriverStore", store)))

    return replace(loop, run=run), store


@pytest.mark.parametrize("error", [RecursionError, MemoryError, ValueError])
@pytest.mark.parametrize("at", [1, 2, 3])
async def test_every_loop_begins_anew(
    error: type[Exception], at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term, "_RETRY_LONGEST_S", 0.001)
    pairs = [mistaken(loop, error, at) for loop in LOOPS]
    running = Term(FakeDriverStore(), 0, SETTINGS, Adapters(), loops=[loop for loop, _ in pairs])
    task = asyncio.create_task(running.run())
    try:
        async with asyncio.timeout(30):
            while not all(store.is_through for _, store in pairs) or not pairs[0][1].n_calls > at:
                assert not task.done(), task.exception()
                running.wake_all()
                await asyncio.wait([task], timeout=0.005)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
