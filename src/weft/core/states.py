"""The words of the state machine, and which attempt they are said of.

States, phases, outcomes and reasons, and which transition is legal. Of an attempt: the name under
which a remote engine knows it, and what it is told meanwhile.

The same table stands in SQL (`weft.job_transition`), where it is enforced;
`tests/store/test_states.py` proves that the two agree. Numbers are stored in the database and sent
on the wire, so they never change their meaning.
"""

import re
from collections.abc import Mapping
from enum import IntEnum
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from weft.core.bounds import LongNumber, Number, ShortNumber

JobStateWord = Literal[
    "pending",
    "ready",
    "queued",
    "creating",
    "running",
    "blocked",
    "success",
    "failed",
    "error",
    "cancelled",
]


class JobState(IntEnum):
    """The state of a job."""

    PENDING = 0
    READY = 1
    QUEUED = 2
    CREATING = 3
    RUNNING = 4
    BLOCKED = 5
    SUCCESS = 6
    FAILED = 7
    ERROR = 8
    CANCELLED = 9

    @property
    def word(self) -> str:
        """Return the name used in documents and on the command line."""
        return self.name.lower()

    @property
    def is_terminal(self) -> bool:
        """Say whether a job in this state has ended."""
        return self >= JobState.SUCCESS


class Need(IntEnum):
    """What is enough of a parent, if not its success, as the edge to it says."""

    END = 1
    START = 2
    TOLD = 3
    """It was to begin, and the child was told that it has."""


SHARE_NEED: Final = -1_000_000_000
"""Rows of jobs write `95%` of parents as this minus 95; an edge to one of them has -95."""

ENDED_WORDS: Final = frozenset(state.word for state in JobState if state.is_terminal)
"""States of ended jobs, as documents name them."""


def shown_state(document: Mapping[str, Any]) -> str:
    """Return the state of a job, batch or group as lists show it: `waiting`, if it is a batch or
    group that runs and in which nothing has started yet, `running, 7 failed`, if it has not ended;
    `claimed`, if it is a job or an attempt that its worker has not started yet.
    """
    state = str(document["state"])
    if state == "running" and document.get("phase") == Phase.ASSIGNED.word:
        return "claimed"
    if state != "running" or not document.get("n_jobs"):
        return state
    counts = {
        "failed": document.get("n_failed", 0) + document.get("n_errored", 0),
        "cancelled": document.get("n_cancelled", 0),
    }
    ends = [f"{count:,} {word}" for word, count in counts.items() if count]
    begun = ("n_running", "n_blocked", "n_completed")
    has_begun = ends or any(document.get(name) for name in begun)
    return ", ".join([state, *ends]) if has_begun else "waiting"


class Phase(IntEnum):
    """The step that a running attempt is in."""

    ASSIGNED = 1
    PREPARING = 2
    STAGING_INPUTS = 3
    SUBMITTING = 4
    QUEUED_REMOTE = 5
    EXECUTING = 6
    COLLECTING = 7
    ARCHIVING = 8
    PUBLISHING = 9

    @property
    def word(self) -> str:
        """Return the name used in documents."""
        return self.name.lower()


class Reason(IntEnum):
    """Why an attempt did not succeed."""

    EXIT = 1
    SIGNAL = 2
    TIMEOUT = 3
    OOM = 4
    DISK = 5
    NO_PROGRAM = 6
    NO_IMAGE = 7
    BAD_SPEC = 8
    CANCELLED = 9
    PREEMPTED = 10
    LOST = 11
    LOG_LIMIT = 12
    SYSTEM = 13
    DEADLINE = 14
    BLOCKED = 15
    OVERDUE = 16
    FILES = 17

    @property
    def word(self) -> str:
        """Return the name used in documents."""
        return self.name.lower()


ReasonNumber = Annotated[int, Meta(ge=int(min(Reason)), le=int(max(Reason)))]
PhaseNumber = Annotated[int, Meta(ge=int(min(Phase)), le=int(max(Phase)))]


@cache
def word_of(kind: type[JobState | Phase | Reason], number: int) -> str:
    """Return the word of a number. Of one that this release does not know, a later one or somebody
    else has written it, a text that says so.

    >>> word_of(Reason, 4), word_of(Reason, 99)
    ('oom', 'unknown (99)')
    """
    known = kind._value2member_map_.get(number)
    return f"unknown ({number})" if known is None else known.name.lower()


_S = JobState
TRANSITIONS = MappingProxyType(
    {
        _S.PENDING: frozenset({_S.READY, _S.ERROR, _S.CANCELLED}),
        _S.READY: frozenset(
            {_S.QUEUED, _S.CREATING, _S.RUNNING, _S.SUCCESS, _S.ERROR, _S.CANCELLED}
        ),
        _S.QUEUED: frozenset({_S.READY, _S.RUNNING, _S.BLOCKED, _S.ERROR, _S.CANCELLED}),
        _S.CREATING: frozenset({_S.READY, _S.RUNNING, _S.ERROR, _S.CANCELLED}),
        _S.RUNNING: frozenset(
            {_S.SUCCESS, _S.FAILED, _S.ERROR, _S.CANCELLED, _S.BLOCKED, _S.READY}
        ),
        _S.BLOCKED: frozenset({_S.READY, _S.FAILED, _S.ERROR, _S.CANCELLED}),
        _S.FAILED: frozenset({_S.PENDING, _S.READY}),
        _S.ERROR: frozenset({_S.PENDING, _S.READY}),
        _S.CANCELLED: frozenset({_S.PENDING, _S.READY}),
        _S.SUCCESS: frozenset[JobState](),
    }
)


_NAME = re.compile(r"weft-b([1-9][0-9]{0,17})-j([1-9][0-9]{0,8})-a([1-9][0-9]{0,4})")


class AttemptKey(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Which attempt: batch number, job number, attempt number."""

    batch_id: LongNumber
    job_id: Number
    attempt: ShortNumber

    @property
    def name(self) -> str:
        """Return `weft-b12-j7-a1`: no other attempt ever has this name, so a second submission
        under it is the same one.
        """
        return f"weft-b{self.batch_id}-j{self.job_id}-a{self.attempt}"


def parse_attempt_name(name: str) -> AttemptKey | None:
    """Read `weft-b12-j7-a1`; None: it is not the name of an attempt."""
    match = _NAME.fullmatch(name)
    return None if match is None else AttemptKey(*map(int, match.groups()))


class Command(msgspec.Struct, frozen=True):
    """One command: from the database to the agent, and from there to its runner."""

    number: int
    key: AttemptKey
    signal: int | None = None
    """A signal for its first process."""
    extra_ms: int = 0
    """Without a signal or message: by how much longer than its time limit it may run, in all."""
    message: str | None = None
    """A text that it gets as a file."""
