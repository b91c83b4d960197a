"""What a remote runner wants of its engine, and what stands before it: whatever else an engine
raises than `Unavailable` is no answer either.

One job, or one odd answer, must not end the gateway, which everybody's jobs are told by.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from types import FunctionType
from typing import Final, Protocol, TypeVar, cast

import msgspec

from weft.core.ends.conditions import Blocked
from weft.core.errors import Unavailable, WeftError
from weft.core.files.products import WrongProducts
from weft.core.states import Command, Phase, Reason
from weft.ports.log_store import Stored
from weft.ports.runner import Assignment, check_requirements
from weft.telemetry.log import log
from weft.wire.log_format import Piece


class Status(msgspec.Struct, frozen=True):
    """An engine's status of one attempt."""

    phase: Phase
    """`queued_remote` until it runs, then `executing`, `collecting` …"""
    started_s_ago: float | None = None
    ended_s_ago: float | None = None
    """None: the attempt has not ended."""
    exit_code: int | None = None
    signal: int | None = None
    message: str = ""
    """Details for people: where it ran, under which number, what the engine says of its end."""
    reason: Reason | None = None
    """Why it did not succeed, if exit code and signal do not tell."""
    node: str = ""
    """Where it ran, by a name with which the engine can avoid it; empty: it cannot."""
    is_gone: bool = False
    """Whether the engine has nothing of it any more, neither output nor files."""
    cpu_ms: int = 0
    """Time of processors that an ended attempt used; 0: the engine does not know it."""
    memory_peak_bytes: int = 0
    """The most memory that it held at a time; 0: the engine does not know it."""
    progress: str = ""
    """The line with which it last said how far it is; empty: it says nothing."""


class Left(msgspec.Struct, frozen=True):
    """What an attempt wrote for weft to files at its engine; empty: nothing."""

    products: bytes = b""
    ask: bytes = b""
    """What it waits for (`$WEFT_BLOCK_FILE`)."""


class Engine(Protocol):
    """A system that runs attempts elsewhere. It takes and answers sets, in as few calls as it can.

    Every call may raise `Unavailable`, also if the engine received it. But a call that raised or
    was cancelled must have no effect any more once a later call has been answered, and a
    submission once `settle` was.
    """

    meets: frozenset[str]
    """What jobs may require of it (`weft.wire.spec.REQUIREMENTS`); others end and say so."""
    followed_max: int
    """Of how many attempts `grown` may be asked at a time; 0: it is not there."""

    async def submit(
        self, assignments: Mapping[str, Assignment]
    ) -> Mapping[str, WeftError | Blocked]:
        """Take attempts by name; a known name means the same attempt.

        Return those that are refused: with `WeftError` what can never run, with `Blocked` what
        cannot run now.
        """

    def avoid(self, nodes: Collection[str]) -> None:
        """Begin nothing new on these nodes; an engine that names no node is told none."""

    async def settle(self, names: Sequence[str]) -> None:
        """Return once submissions of these that were not answered have arrived, or never will."""

    async def statuses(self, names: Sequence[str]) -> Mapping[str, Status]:
        """Return the statuses of these attempts, without those the engine was never given."""

    async def stop(self, names: Sequence[str], *, grace_ms: int) -> None:
        """End attempts, at once if they have not begun; unknown names are ignored."""

    async def tell(self, one: Assignment, command: Command) -> str:
        """Tell an attempt that runs something: a signal for its first process, or how much longer
        than its limit it may run. Return why that cannot be; empty: it is told.
        """

    async def grown(self, stored: Mapping[str, Stored]) -> Mapping[str, Sequence[Piece]]:
        """Return what attempts that run have written beyond what is stored of them, a bounded
        piece of each (`outputs.live_bytes`). What cannot be read now is left out.
        """

    async def output(self, name: str, stored: Stored) -> Sequence[Piece]:
        """Return the output of an ended attempt that is not stored yet (`outputs.rest_of`)."""

    async def left(self, name: str) -> Left:
        """Return what an ended attempt left, each file up to a byte more than it may have: the
        agent refuses that. An engine that cannot bring a file back lets jobs not know of one.
        Raise `WrongProducts` for products of which only a part came.
        """

    async def forget(self, names: Sequence[str]) -> None:
        """Drop everything that is kept about ended attempts."""

    async def changed(self) -> None:
        """Return when a status may have changed."""


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
