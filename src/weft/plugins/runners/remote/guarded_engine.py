"""Stands before an engine: whatever else it raises than `Unavailable` is no answer either.

One job, or one odd answer, must not end the gateway, which everybody's jobs are told by.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import Final

from weft.core.command import Command
from weft.core.ends.conditions import Blocked
from weft.core.errors import Unavailable, WeftError
from weft.core.files.products import WrongProducts
from weft.plugins.runners.remote.engine import Engine, Left, Status
from weft.ports.log_store import Stored
from weft.ports.runner import Assignment, check_requirements
from weft.telemetry.log import log
from weft.wire.log_format import Piece

_CHARS_MAX: Final = 400


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

    async def settle(self, names: Sequence[str]) -> None:
        """Settle."""
        with self._asked("settle"):
            await self._engine.settle(names)

    async def statuses(self, names: Sequence[str]) -> Mapping[str, Status]:
        """Ask for statuses."""
        with self._asked("statuses"):
            return await self._engine.statuses(names)

    async def stop(self, names: Sequence[str], *, grace_ms: int) -> None:
        """Stop."""
        with self._asked("stop"):
            await self._engine.stop(names, grace_ms=grace_ms)

    async def tell(self, assignment: Assignment, command: Command) -> str:
        """Tell an attempt something."""
        with self._asked("tell"):
            return await self._engine.tell(assignment, command)

    async def grown(self, stored: Mapping[str, Stored]) -> Mapping[str, Sequence[Piece]]:
        """Ask for output of what runs."""
        with self._asked("grown"):
            return await self._engine.grown(stored)

    async def output(self, name: str, stored: Stored) -> Sequence[Piece]:
        """Ask for the rest of an output."""
        with self._asked("output"):
            return await self._engine.output(name, stored)

    async def left(self, name: str) -> Left:
        """Ask for what an attempt left."""
        with self._asked("left"):
            return await self._engine.left(name)

    async def forget(self, names: Sequence[str]) -> None:
        """Forget."""
        with self._asked("forget"):
            await self._engine.forget(names)

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
