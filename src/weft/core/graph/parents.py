"""Parents of jobs: from what a document says to edges, and into an order in which parents come
first. An entry of a document is one job, or an array of them. And whether jobs began after their
parents had ended.
"""

import heapq
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Annotated

import msgspec
from msgspec import Meta

from weft.core.errors import (
    InvalidDocument,
    InvalidValue,
    ParentAmbiguous,
    ParentCycle,
    ParentNotBelow,
    ParentNotFound,
    WrongType,
)
from weft.core.graph.positions import Positions
from weft.core.problems import Problems
from weft.core.states import SHARE_NEED

_NEED = re.compile(r"^(success|end|start|([1-9][0-9]?|100)%)$(?!\n)")
_EARLIER = re.compile(r"(?:b([1-9][0-9]{0,17})\.)?j([1-9][0-9]{0,8})")

_MOST = 1_000_000
"""Entries of groups that are parents, counted for each reference: they are edges, at least."""
_SHOWN_MAX = 10
"""Jobs of a cycle that are named."""

JobsRef = int | str | tuple[int, int]
"""What a job says: a position (1 is the first), the first and the last of several positions,
`"j7"` or `"b12.j7"` for an earlier job, a name, or the path of a group: all jobs in it.
"""


class ParentNeed(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A parent, and what the child needs of it."""

    of: JobsRef
    need: Annotated[str, Meta(extra_json_schema={"pattern": _NEED.pattern})] = "success"
    """`95%`: that share of them must succeed, rounded up."""


ParentRef = JobsRef | ParentNeed
Parent = int | range
"""A position in the update, several positions, or -7 for j7."""
Parents = tuple[Parent, ...]
Loose = Mapping[str, Sequence[Parents]]
"""By what is enough, parents of each entry; what asks for less comes later, and counts."""


def number_of_need(need: str) -> int:
    """Return how rows of jobs write what is enough of a parent.

    >>> number_of_need("end"), number_of_need("95%")
    (-1, -1000000095)
    """
    if need.endswith("%"):
        return SHARE_NEED - int(need[:-1])
    return -1 if need == "end" else 0


def refers_to_earlier(text: str) -> bool:
    """Say whether a text as a parent means an earlier job, whatever jobs are called."""
    return _EARLIER.fullmatch(text) is not None


@dataclass(frozen=True)
class Earlier:
    """Jobs outside the document that it may refer to."""

    batch_id: int | None
    """None: the batch is being created, so it has no earlier jobs."""
    names: bool
    """Whether names are allowed: only where all jobs are in one document."""


def resolve_parents(
    names: Sequence[str | None],
    refs: Sequence[Sequence[ParentRef]],
    *,
    positions: Positions,
    earlier: Earlier,
    problems: Problems,
    groups: Sequence[object] = (),
) -> tuple[list[Parents], Loose]:
    """Return the parents of each entry, none of them twice; and those that need not all succeed.

    The name of an array stands for all its jobs, the path of a group for those in it and below it:
    `groups` has the path of each entry. A wrong reference is noted in `problems` and left out. A
    name or a path may stand for later jobs; see `order_jobs`.
    """
    known = _Names(names, groups) if earlier.names else None
    scope = _Scope(positions, earlier, known, problems)
    found = [
        _distinct(parent for n, ref in enumerate(given) for parent in scope.all_of(ref, index, n))
        if given
        else ()
        for index, given in enumerate(refs)
    ]
    return found, {
        need: [tuple(scope.loose[need].get(index, ())) for index in range(len(found))]
        for need in sorted(scope.loose, key=number_of_need)
    }


def _distinct(parents: Iterator[Parent]) -> Parents:
    """Return each parent once; ranges that overlap become one."""
    found = tuple(dict.fromkeys(parents))
    if not any(isinstance(parent, range) for parent in found):
        return found
    return merged(found)


def merged(parents: Parents) -> Parents:
    """Return the same parents as few ranges and numbers, none of which is in two of them."""
    spans = sorted(
        (parent.start, parent.stop) if isinstance(parent, range) else (parent, parent + 1)
        for parent in dict.fromkeys(parents)
    )
    joined: list[list[int]] = []
    for start, stop in spans:
        if joined and 0 < start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], stop)
        else:
            joined.append([start, stop])
    return tuple(start if stop == start + 1 else range(start, stop) for start, stop in joined)


def numbers_of(parents: Parents) -> Iterator[int]:
    """Return the numbers of all jobs that these parents stand for."""
    return chain.from_iterable(one if isinstance(one, range) else (one,) for one in parents)


def count_of(parent: Parent) -> int:
    """Return how many jobs a parent stands for."""
    return len(parent) if isinstance(parent, range) else 1


class _Names:
    """Entries by name, and by the paths of groups."""

    def __init__(self, names: Sequence[str | None], groups: Sequence[object]) -> None:
        self.entry: dict[str, int] = {}
        self._groups = groups
        self.n_found = 0
        """In groups, for all references."""
        self.ambiguous: set[str] = set()
        for index, name in enumerate(names):
            if name is not None and self.entry.setdefault(name, index) != index:
                self.ambiguous.add(name)

    @cached_property
    def _by_path(self) -> Sequence[tuple[str, int]]:
        return sorted((f"{path}/", n) for n, path in enumerate(self._groups) if path)

    def in_group(self, path: str) -> Sequence[int]:
        """Return the entries in a group and below it; none if a job has this name."""
        if path in self.entry:
            return ()
        first = bisect_left(self._by_path, (f"{path}/", 0))
        end = bisect_left(self._by_path, (f"{path}0", 0))  # 0 comes after /
        self.n_found += end - first
        return [entry for _, entry in self._by_path[first:end]] if self.n_found <= _MOST else ()


@dataclass(frozen=True)
class _Scope:
    """The possible meanings of references in one document."""

    positions: Positions
    earlier: Earlier
    names: _Names | None
    problems: Problems
    loose: dict[str, dict[int, list[Parent]]] = field(default_factory=dict)
    """By what is enough, the parents of the entries that have such."""

    def all_of(self, ref: ParentRef, index: int, n: int) -> Parents:
        """Return what a reference stands for; empty if it was wrong."""
        if isinstance(ref, ParentNeed | dict):
            return self._needed(ref, index, n)
        is_path = isinstance(ref, str) and ref[:1] == "/"
        if is_path and self.names and (entries := self.names.in_group(str(ref))):
            return merged(tuple(map(self.positions.of, entries)))
        parent = self._resolve(ref, index, f"/jobs/{index}/parents/{n}")
        return (parent,) if parent else ()

    def _resolve(self, ref: JobsRef, index: int, pointer: str) -> Parent:
        """Return one parent; 0 if it was wrong."""
        if isinstance(ref, int):
            return self._position(ref, index, pointer)
        if not isinstance(ref, str):
            return self._range(ref, index, pointer)
        match = _EARLIER.fullmatch(ref)
        # A new batch has no earlier jobs: a name such as j1 is one.
        is_name = self.earlier.batch_id is None and self.names and ref in self.names.entry
        if match is not None and not is_name:
            return self._earlier(ref, match, pointer)
        return self._named(ref, pointer)

    def _wrong(self, kind: type[InvalidDocument], pointer: str, message: str) -> int:
        self.problems.add(kind, pointer, message)
        return 0

    def _needed(self, ref: object, index: int, n: int) -> Parents:
        try:
            found = msgspec.convert(ref, ParentNeed)
        except msgspec.ValidationError as error:
            self._wrong(WrongType, f"/jobs/{index}/parents/{n}", str(error))
            return ()
        if not _NEED.match(found.need):
            message = "success, end, start, or a share in whole percent, from 1% to 100%"
            self._wrong(InvalidValue, f"/jobs/{index}/parents/{n}/need", message)
            return ()
        parents = self.all_of(found.of, index, n)
        if parents and found.need != "success":
            self.loose.setdefault(found.need, {}).setdefault(index, []).extend(parents)
        return parents

    def _position(self, ref: int, index: int, pointer: str) -> int:
        own = self.positions.firsts[index]
        if ref < 1:
            message = f"{ref} is not a position; the first job is 1"
            return self._wrong(ParentNotFound, pointer, message)
        if ref >= own:
            message = f"parent {ref} is not below its child, which is job {own}"
            return self._wrong(ParentNotBelow, pointer, message)
        return ref

    def _range(self, ref: tuple[int, int], index: int, pointer: str) -> Parent:
        first, last = ref
        if first > last:
            message = f"[{first}, {last}] ends before it begins"
            return self._wrong(InvalidValue, pointer, message)
        if not all(self._position(one, index, pointer) for one in ref):
            return 0
        return range(first, last + 1) if first < last else first

    def _named(self, ref: str, pointer: str) -> Parent:
        name = repr(ref[:80])
        if self.names is None:
            where = "in a bunch a parent is a number, or j7 for an earlier job"
            return self._wrong(ParentNotFound, pointer, f"{name} is a name; {where}")
        if ref in self.names.ambiguous:
            return self._wrong(ParentAmbiguous, pointer, f"several jobs are named {name}")
        entry = self.names.entry.get(ref)
        if entry is None:
            message = f"no job of the document is named {name}"
            if self.names.n_found > _MOST:
                message = f"the groups that are parents have more than {_MOST:,} entries in all"
            elif ref[:1] == "/":
                message += ", and none is in a group of this path"
            return self._wrong(ParentNotFound, pointer, message)
        positions = self.positions.of(entry)
        return positions if len(positions) > 1 else positions.start

    def _earlier(self, ref: str, match: re.Match[str], pointer: str) -> int:
        batch_id = self.earlier.batch_id
        if batch_id is None:
            message = f"{ref}: a new batch has no earlier jobs, and no job of this name"
            return self._wrong(ParentNotFound, pointer, message)
        if match[1] is not None and int(match[1]) != batch_id:
            return self._wrong(ParentNotFound, pointer, f"{ref} is not in batch b{batch_id}")
        return -int(match[2])


def order_jobs(
    parents: Sequence[Parents],
    names: Sequence[str | None],
    problems: Problems,
    positions: Positions | None = None,
) -> list[int] | None:
    """Return the indices of the entries such that parents come first, else in the given order;
    None if they do already.

    `positions`: of the entries; none: each is one job, the first at 1. A cycle is noted in
    `problems` with its path.
    """
    numbered = positions or Positions([None] * len(parents))
    if _is_ordered(parents, numbered):
        return None
    above = [tuple(_entries_of(own, numbered)) for own in parents]
    children: list[list[int]] = [[] for _ in parents]
    missing = [len(own) for own in above]
    for index, own in enumerate(above):
        for parent in own:
            children[parent].append(index)
    ready = [index for index, count in enumerate(missing) if count == 0]
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for child in children[index]:
            missing[child] -= 1
            if missing[child] == 0:
                heapq.heappush(ready, child)
    if len(order) < len(parents):
        _note_cycle(above, missing, names, problems)
    return order


def _is_ordered(parents: Sequence[Parents], positions: Positions) -> bool:
    return all(
        (parent.stop <= first if isinstance(parent, range) else parent < first)
        for first, own in zip(positions.firsts, parents, strict=True)
        for parent in own
    )


def _entries_of(parents: Parents, positions: Positions) -> Mapping[int, None]:
    """Return the entries of the document that are parents, each once."""
    found: dict[int, None] = {}
    for parent in parents:
        if isinstance(parent, range):
            found.update((entry, None) for entry, _ in positions.pieces(parent))
        elif parent > 0:
            found[positions.entry_at(parent)] = None
    return found


def renumbered(
    parents: Sequence[Parents], positions: Positions, numbers: Sequence[int]
) -> list[Parents]:
    """Return the parents of each entry after all entries have moved: to `numbers`, their new first
    positions.
    """
    shift = [new - old for new, old in zip(numbers, positions.firsts, strict=True)]

    def move(parent: Parent) -> Iterator[Parent]:
        if isinstance(parent, range):
            for entry, piece in positions.pieces(parent):
                yield range(piece.start + shift[entry], piece.stop + shift[entry])
        else:
            yield parent + shift[positions.entry_at(parent)] if parent > 0 else parent

    return [_distinct(piece for parent in own for piece in move(parent)) for own in parents]


def _note_cycle(
    above: Sequence[Sequence[int]],
    missing: Sequence[int],
    names: Sequence[str | None],
    problems: Problems,
) -> None:
    """Walk up from any job left, always to a parent that is left too, until a job comes again."""
    index = next(index for index, count in enumerate(missing) if count)
    seen: dict[int, int] = {}
    path: list[int] = []
    while index not in seen:
        seen[index] = len(path)
        path.append(index)
        index = next(parent for parent in above[index] if missing[parent])
    cycle = [*path[seen[index] :], index]
    words = [names[one] or str(one + 1) for one in cycle]
    if len(words) > _SHOWN_MAX:
        between = f"({len(words) - _SHOWN_MAX:,} more jobs)"
        words = [*words[: _SHOWN_MAX - 1], between, words[-1]]
    problems.add(ParentCycle, f"/jobs/{index}/parents", " waits for ".join(words))


@dataclass(frozen=True)
class EarlyStart:
    """A job that began too early."""

    job_id: int
    started_at: datetime
    parent_id: int
    parent_ended_at: datetime | None
    """None: the parent has not ended."""


def early_starts(
    started: Mapping[int, datetime],
    ended: Mapping[int, datetime],
    parents: Mapping[int, Sequence[int]],
) -> Iterator[EarlyStart]:
    """Yield each pair of a job that began and a parent that had not ended by then.

    `started`: when the first attempt of each job began, of those that did; `ended`: when each job
    ended, of those that did.
    """
    for job, started_at in started.items():
        for parent in parents.get(job, ()):
            ended_at = ended.get(parent)
            if ended_at is None or ended_at > started_at:
                yield EarlyStart(job, started_at, parent, ended_at)
