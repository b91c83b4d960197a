"""Stands before an engine: whatever else it raises than `Unavailable` is no answer either.

One job, or one odd answer, must not end the gateway, which everybody's jobs are told by.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from types import FunctionType
from typing import Final, TypeVar, cast

from weft.core.ends.conditions import Blocked
from weft.core.errors import Unavailable, WeftError
from weft.core.files.products import WrongProducts
from weft.plugins.runners.remote.engine import Engine
from weft.ports.runner import Assignment, check_requirements
from weft.telemetry.log import log

_CHARS_MAX: Final = 400
_Call = TypeVar("_Call", bound=Callable[..., object])


def _guarded(call: _Call) -> _Call:
    """Return the call of an engine, guarded."""
    name = cast("FunctionType", call).__name__

    async def guarded(self: "GuardedEngine", *words: object, **options: object) -> object:
        with self._asked(name):
            return await getattr(self._engine, name)(*words, **options)

    return cast("_Call", guarded)


class GuardedEngine:
    """An engine whose calls raise `Unavailable` and, for products, `WrongProducts` only."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.meets = engine.meets
        self.followed_max = engine.followed_max
        self._odd: set[str] = set()
        """The calls whose last answer was odd, and logged."""

    async def submit(
        self, assignments: Mapping[str, Assignment]
    ) -> Mapping[str, WeftError | Blocked]:
        """Submit what requires nothing that the engine cannot give."""
        refused: dict[str, WeftError | Blocked] = {}
        for name, one in assignments.items():
            try:
                check_requirements(one.spec, self.meets)
            except WeftError as error:
                refused[name] = error
        rest = {name: one for name, one in assignments.items() if name not in refused}
        with self._asked("submit"):
            return {**refused, **await self._engine.submit(rest)}

    def avoid(self, nodes: Collection[str]) -> None:
        """Tell it the nodes to avoid."""
        self._engine.avoid(nodes)

    settle = _guarded(Engine.settle)
    statuses = _guarded(Engine.statuses)
    stop = _guarded(Engine.stop)
    tell = _guarded(Engine.tell)
    grown = _guarded(Engine.grown)
    output = _guarded(Engine.output)
    left = _guarded(Engine.left)
    forget = _guarded(Engine.forget)

    async def changed(self) -> None:
        """Wait for a change."""
        await self._engine.changed()

    async def changed_or(self, event: asyncio.Event) -> None:
        """Wait for a change, or for an event of the gateway's own."""
        waits = {asyncio.ensure_future(self.changed()), asyncio.ensure_future(event.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    @contextmanager
    def _asked(self, call: str) -> Iterator[None]:
        try:
            yield
        except (Unavailable, WrongProducts):
            raise
        except Exception as error:
            at = extract_tb(error.__traceback__)[-1]
            why = f"{type(error).__name__}: {error}"[:_CHARS_MAX]
            if call not in self._odd:
                self._odd.add(call)
                source = f"{Path(at.filename).name}:{at.lineno}"
                log.warning("worker.engine_odd", call=call, why=why, source=source)
            raise Unavailable(
                "the engine's answer is not understood",
                detail=f"{call}: {why}",
                hint="The gateway asks again by itself; look at what stands before the engine.",
            ) from error
        else:
            self._odd.discard(call)
