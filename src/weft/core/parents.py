"""Parents of jobs: from what a document says to edges, and into an order in which parents come
first.
"""

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass

from weft.core.errors import ParentAmbiguous, ParentCycle, ParentNotBelow, ParentNotFound
from weft.core.problems import Problems

_EARLIER = re.compile(r"(?:b([1-9][0-9]{0,17})\.)?j([1-9][0-9]{0,8})")

ParentRefs = Sequence[int | str]
"""What a job says: positions (1 is the first), `"j7"` or `"b12.j7"` for earlier jobs, names."""


@dataclass(frozen=True)
class Earlier:
    """What may be referred to besides the jobs at hand."""

    batch_id: int | None
    """None: the batch is being created, so it has no earlier jobs."""
    names: bool
    """Whether names are allowed: only where all jobs are in one document."""


def resolve_parents(
    names: Sequence[str | None],
    refs: Sequence[ParentRefs],
    *,
    first: int,
    earlier: Earlier,
    problems: Problems,
) -> list[tuple[int, ...]]:
    """Return the parents of each job, without repeats: positive ones are positions in the update,
    negative ones -7 for j7.

    `first` is the position of the first job. A wrong reference is noted in `problems` and left
    out. A name may stand for a later job; see `order_jobs`.
    """
    by_name = _Names(names, first) if earlier.names else None
    resolved: list[tuple[int, ...]] = []
    for index, given in enumerate(refs):
        if not given:
            resolved.append(())
            continue
        numbers = dict.fromkeys(
            number
            for place, ref in enumerate(given)
            if (number := _resolve(ref, index, place, first, earlier, by_name, problems))
        )
        resolved.append(tuple(numbers))
    return resolved


class _Names:
    """Positions of jobs by name."""

    def __init__(self, names: Sequence[str | None], first: int) -> None:
        self.position: dict[str, int] = {}
        self.ambiguous: set[str] = set()
        for position, name in enumerate(names, first):
            if name is not None and self.position.setdefault(name, position) != position:
                self.ambiguous.add(name)


def _resolve(
    ref: int | str,
    index: int,
    place: int,
    first: int,
    earlier: Earlier,
    names: _Names | None,
    problems: Problems,
) -> int:
    """Return the number of one parent; 0 if it was wrong."""
    pointer = f"/jobs/{index}/parents/{place}"
    if isinstance(ref, int):
        return _resolve_position(ref, first + index, pointer, problems)
    match = _EARLIER.fullmatch(ref)
    if match is not None:
        return _resolve_earlier(ref, match, earlier, pointer, problems)
    if names is None:
        problems.add(
            ParentNotFound,
            pointer,
            f"{ref[:80]!r} is a name; in a bunch a parent is a number, or j7 for an earlier job",
        )
        return 0
    if ref in names.ambiguous:
        problems.add(ParentAmbiguous, pointer, f"several jobs are called {ref[:80]!r}")
        return 0
    position = names.position.get(ref, 0)
    if not position:
        problems.add(ParentNotFound, pointer, f"no job of the document is called {ref[:80]!r}")
    return position


def _resolve_position(ref: int, own: int, pointer: str, problems: Problems) -> int:
    if ref < 1:
        problems.add(ParentNotFound, pointer, f"{ref} is no position; the first job is 1")
        return 0
    if ref >= own:
        problems.add(
            ParentNotBelow, pointer, f"parent {ref} is not below its child, which is job {own}"
        )
        return 0
    return ref


def _resolve_earlier(
    ref: str, match: re.Match[str], earlier: Earlier, pointer: str, problems: Problems
) -> int:
    if earlier.batch_id is None:
        problems.add(ParentNotFound, pointer, f"{ref}: a new batch has no earlier jobs")
        return 0
    if match[1] is not None and int(match[1]) != earlier.batch_id:
        problems.add(ParentNotFound, pointer, f"{ref} is not in batch b{earlier.batch_id}")
        return 0
    return -int(match[2])


def order_jobs(
    parents: Sequence[tuple[int, ...]], names: Sequence[str | None], problems: Problems
) -> list[int] | None:
    """Return the indices of the jobs such that parents come first, else in the given order; None
    if they do already.

    Positions in `parents` begin with 1. A cycle is noted in `problems` with its path.
    """
    if all(parent <= index for index, own in enumerate(parents) for parent in own):
        return None
    children: list[list[int]] = [[] for _ in parents]
    missing = [0] * len(parents)
    for index, own in enumerate(parents):
        for parent in own:
            if parent > 0:
                children[parent - 1].append(index)
                missing[index] += 1
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
        _note_cycle(parents, missing, names, problems)
    return order


def _note_cycle(
    parents: Sequence[tuple[int, ...]],
    missing: Sequence[int],
    names: Sequence[str | None],
    problems: Problems,
) -> None:
    """Walk up from any job that is left, always to a parent that is left too, until a job comes
    again.
    """
    index = next(index for index, count in enumerate(missing) if count)
    seen: dict[int, int] = {}
    path: list[int] = []
    while index not in seen:
        seen[index] = len(path)
        path.append(index)
        index = next(p - 1 for p in parents[index] if p > 0 and missing[p - 1])
    cycle = [*path[seen[index] :], index]
    words = [names[one] or str(one + 1) for one in cycle]
    problems.add(ParentCycle, f"/jobs/{index}/parents", " waits for ".join(words))
