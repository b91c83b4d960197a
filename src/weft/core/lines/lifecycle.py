"""Lifecycles: the statuses of a kind of job, which may follow which, and the core states and
phases that belong to them.

A status is a positive number, its place in `statuses`; 0 stands for a job that has none yet. Core
moves bring their statuses along `ways`, which are found here when a lifecycle is saved; that each
step is allowed is asked and checked in SQL, where the table stands (`weft.lifecycle_edge`).
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from weft.core.lines.exits_of_lifecycles import ExitRule, parse_exits
from weft.core.lines.limits import Limits, parse_limits
from weft.core.states import JobState, Phase

STATUSES_MAX: Final = 100
_WORD: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ERRORS: Final = frozenset({JobState.FAILED, JobState.ERROR, JobState.BLOCKED, JobState.CANCELLED})
"""Core states whose statuses no way leads through: it may end there."""
_FIELDS: Final = (
    "statuses",
    "first",
    "next",
    "core",
    "phase",
    "exit",
    "limits",
    "on_limit",
    "lost",
)
_STATES: Final = {state.word: state for state in JobState}
FINISHED: Final = 20
PUBLISHED: Final = 21
"""What deliveries do after the end of a job; the phase `publishing` is theirs, too."""
PHASES: Final[Mapping[str, int]] = {
    **{phase.word: int(phase) for phase in Phase},
    "finished": FINISHED,
    "published": PUBLISHED,
}
_DELIVERING: Final = frozenset({FINISHED, int(Phase.PUBLISHING), PUBLISHED})
_STARTING: Final = int(Phase.ASSIGNED)

Say = Callable[[tuple[str, ...], str], None]
"""Takes where something is wrong in the document, and what."""
Edges = Mapping[int, frozenset[int]]


@dataclass(frozen=True)
class Move:
    """What a core move brings: from each status a way to the nearest one of its own.

    `phase` 0: the state, whatever the phase; negative: what an exit code asks for. A way is empty
    if the status fits already, and `None` if no allowed one leads there.
    """

    state: int
    phase: int
    ways: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class Lifecycle:
    """A checked lifecycle. `cores`: by status the states that it names."""

    statuses: tuple[str, ...]
    next: Edges
    cores: tuple[frozenset[JobState], ...]
    phases: Mapping[int, int]
    exits: tuple[ExitRule, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def moves(self) -> Iterator[Move]:
        """Return what each core state and phase brings that the lifecycle names; the states in
        which jobs begin are always there.
        """
        for state in JobState:
            named = {n for n, core in enumerate(self.cores, 1) if state in core}
            if named or state in {JobState.PENDING, JobState.READY}:
                yield Move(state, 0, self._ways(named, begins=state <= JobState.READY))
        for phase, status in self.phases.items():
            ways = self._ways({status}, begins=False)
            if phase <= max(Phase):
                yield Move(JobState.RUNNING, phase, ways)
            if phase in _DELIVERING:
                yield Move(JobState.SUCCESS, phase, ways)
        for status in sorted({rule.status for rule in self.exits} - {0}):
            yield Move(JobState.BLOCKED, -status, self._ways({status}, begins=False))

    def _ways(self, named: set[int], *, begins: bool) -> tuple[tuple[int, ...] | None, ...]:
        ways = [self._way(number, named) for number in range(len(self.statuses) + 1)]
        if begins:
            for number in self._kept():
                ways[number] = ()
        if begins and ways[0] is None:
            ways[0] = (min(self.next[0]),)
        return tuple(ways)

    def _kept(self) -> set[int]:
        """Return the statuses of blocked jobs from which an attempt can begin: they stay while a
        job that is ready again waits for a worker.
        """
        starts = {n for n, core in enumerate(self.cores, 1) if JobState.RUNNING in core}
        starts |= {status for phase, status in self.phases.items() if phase == _STARTING}
        return {
            n
            for n, core in enumerate(self.cores, 1)
            if JobState.BLOCKED in core and self.next[n] & starts
        }

    def _way(self, start: int, named: set[int]) -> tuple[int, ...] | None:
        """Return the shortest way, of equal ones that of the lowest numbers; `None`: there is
        none but through an error.
        """
        if start in named:
            return ()
        found = {start}
        waiting: deque[tuple[tuple[int, ...], int]] = deque([((), start)])
        while named and waiting:
            way, at = waiting.popleft()
            if nearest := sorted(self.next[at] & named):
                return (*way, nearest[0])
            for number in sorted(self.next[at] - found):
                found.add(number)
                if not self.cores[number - 1] & _ERRORS:
                    waiting.append(((*way, number), number))
        return None


def parse_lifecycle(document: Mapping[str, object], say: Say) -> Lifecycle | None:
    """Check the table of one lifecycle; return `None` if something was said about it."""
    said: list[str] = []

    def wrong(where: tuple[str, ...], what: str) -> None:
        said.append(what)
        say(where, what)

    for name in document:
        if name not in _FIELDS:
            wrong((name,), f"a lifecycle has no such field; it has {', '.join(_FIELDS)}")
    statuses = _statuses(document.get("statuses"), wrong)
    if not statuses:
        return None
    reader = _Reader(statuses, wrong)
    cores = reader.cores(document)
    exits = parse_exits(
        document.get("exit", []),
        reader.number_of,
        cores,
        lambda where, what: wrong(("exit", *where), what),
    )
    limits = parse_limits(document, reader.number_of, statuses, wrong)
    lifecycle = Lifecycle(
        statuses, reader.edges(document), cores, reader.phases(document), exits, limits
    )
    if not said:
        _check(lifecycle, wrong)
    return None if said else lifecycle


def _statuses(given: object, wrong: Say) -> tuple[str, ...]:
    if not isinstance(given, list) or not 1 <= len(given) <= STATUSES_MAX:
        wrong(("statuses",), f"it should be a list of 1 to {STATUSES_MAX} words")
        return ()
    for word in given:
        if not isinstance(word, str) or not _WORD.fullmatch(word):
            wrong(("statuses",), f"{word!r} should be a word such as error_checked")
            return ()
    if twice := sorted({word for word in given if given.count(word) > 1}):
        wrong(("statuses",), f'"{twice[0]}" is there twice')
        return ()
    return tuple(given)


class _Reader:
    """Turns words and numbers of statuses into numbers, and says what is not there."""

    def __init__(self, statuses: Sequence[str], wrong: Say) -> None:
        self._statuses = statuses
        self._numbers: dict[object, int] = {}
        for number, word in enumerate(statuses, 1):
            self._numbers |= {word: number, number: number, str(number): number}
        self._wrong = wrong

    def edges(self, document: Mapping[str, object]) -> Edges:
        """Return which may follow which; 0: which may come first."""
        found = {number: frozenset[int]() for number in range(len(self._statuses) + 1)}
        found[0] = self._many(document.get("first"), ("first",))
        for key, given in self._table(document, "next").items():
            where = ("next", key)
            if number := self._one(key, where):
                if found[number]:
                    self._wrong(where, f'"{self._statuses[number - 1]}" is there twice')
                found[number] = self._many(given, where)
        return found

    def cores(self, document: Mapping[str, object]) -> tuple[frozenset[JobState], ...]:
        """Return by status the core states that it names."""
        found = [frozenset[JobState]()] * len(self._statuses)
        for key, given in self._table(document, "core").items():
            words = given if isinstance(given, list) else [given]
            named = [word for word in words if isinstance(word, str) and word in _STATES]
            for word in words:
                if word not in named:
                    self._wrong(("core", key), f"{word!r} is not one of {', '.join(_STATES)}")
            if number := self._one(key, ("core", key)):
                found[number - 1] = frozenset(_STATES[word] for word in named)
        return tuple(found)

    def phases(self, document: Mapping[str, object]) -> Mapping[int, int]:
        """Return by phase the status that it brings."""
        found = {}
        for key, given in self._table(document, "phase").items():
            if key not in PHASES:
                self._wrong(("phase", key), f"it is not one of {', '.join(PHASES)}")
            elif number := self._one(given, ("phase", key)):
                found[PHASES[key]] = number
        return found

    def _table(self, document: Mapping[str, object], field: str) -> Mapping[str, object]:
        given = document.get(field, {})
        if isinstance(given, Mapping):
            return given
        self._wrong((field,), "it should be a table")
        return {}

    def _many(self, given: object, where: tuple[str, ...]) -> frozenset[int]:
        if given == "*":
            return frozenset(range(1, len(self._statuses) + 1))
        if not isinstance(given, list):
            self._wrong(where, 'it should be a list of statuses, or "*" for all')
            return frozenset()
        return frozenset(filter(None, (self._one(one, where) for one in given)))

    def _one(self, given: object, where: tuple[str, ...]) -> int:
        number = self.number_of(given)
        if not number:
            self._wrong(where, f"{given!r} is not one of its statuses")
        return number

    def number_of(self, given: object) -> int:
        """Return the number of a status, 0 if there is none."""
        if isinstance(given, str | int) and not isinstance(given, bool):
            return self._numbers.get(given, 0)
        return 0


def _check_paths(lifecycle: Lifecycle, wrong: Say) -> None:
    """Say which step of a path the table does not allow: the job would stay where it is."""
    limits, number = lifecycle.limits, {word: n for n, word in enumerate(lifecycle.statuses, 1)}
    starts = [lifecycle.statuses[n - 1] for n in sorted(limits.statuses)]
    for name, one in (("on_limit", limits.on_limit), ("lost", limits.lost)):
        path = one.statuses if one is not None else ()
        steps = list(pairwise(path))
        if name == "on_limit" and path:
            steps += [(start, path[0]) for start in starts]
        for start, to in steps:
            if number[to] not in lifecycle.next[number[start]]:
                wrong(
                    (name,), f'its path goes from "{start}" to "{to}", which next does not allow'
                )


def _check(lifecycle: Lifecycle, wrong: Say) -> None:
    """Say what would leave jobs without a way: statuses that nothing reaches or leaves, core
    states that nothing ends.
    """
    reached = _reached(lifecycle.next, 0)
    ending = {n for n, core in enumerate(lifecycle.cores, 1) if any(s.is_terminal for s in core)}
    if not lifecycle.next[0]:
        wrong(("first",), "it should name at least one status")
        return
    if not ending:
        wrong(("core",), "it has no end: no status names success, failed, error or cancelled")
        return
    for number, word in enumerate(lifecycle.statuses, 1):
        if number not in reached:
            wrong(("statuses",), f'nothing leads to "{word}"')
        elif not lifecycle.next[number] and number not in ending:
            wrong(("next",), f'nothing follows "{word}", which is no end')
        elif number not in ending and not _reached(lifecycle.next, number) & ending:
            wrong(("next",), f'no end can be reached from "{word}"')
    _check_paths(lifecycle, wrong)
    for state in (JobState.PENDING, JobState.READY):
        firsts = [n for n in sorted(lifecycle.next[0]) if state in lifecycle.cores[n - 1]]
        if len(firsts) > 1:
            words = " and ".join(f'"{lifecycle.statuses[n - 1]}"' for n in firsts[:2])
            wrong(("first",), f"a {state.word} job could begin as {words}")


def _reached(edges: Edges, start: int) -> set[int]:
    found: set[int] = set()
    waiting = [start]
    while waiting:
        new = edges[waiting.pop()] - found
        found |= new
        waiting += new
    return found
