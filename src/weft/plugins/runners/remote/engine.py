"""What a remote runner wants of its engine."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import msgspec

from weft.core.ends.conditions import Blocked
from weft.core.errors import WeftError
from weft.core.states import Command, Phase, Reason
from weft.ports.log_store import Stored
from weft.ports.runner import Assignment
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
