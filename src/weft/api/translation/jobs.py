"""From documents of jobs to the columns that the store takes.

One pass per column instead of one per job: 10,000 jobs are 10,000 times of everything that is
written here. Every problem of a request is found before any is reported, and nothing is stored
before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from weft.api.translation.check import check_jobs
from weft.api.translation.functions import sources_of
from weft.api.translation.rows import count_edges, fill_chunks, fill_edges, fill_labels
from weft.api.translation.sets import sets_of
from weft.api.translation.shapes import ShapeBook
from weft.core.errors import InvalidValue, TooManyParents, WrongType
from weft.core.parents import Earlier, Parents, order_jobs, renumbered, resolve_parents
from weft.core.positions import Positions
from weft.core.problems import Problems
from weft.core.states import Reason
from weft.ports.store import JobRows, Row
from weft.settings import Settings
from weft.wire.documents import JobDocument

Value = TypeVar("Value", int, bool)
GROUP_MAX: Final = 2_000_000_000
CURABLE: Final = (
    Reason.EXIT,
    Reason.SIGNAL,
    Reason.TIMEOUT,
    Reason.OOM,
    Reason.DISK,
    Reason.SYSTEM,
)
"""What another attempt may cure. Lost and preempted attempts are repeated anyway, by their own
count.
"""
_DEFAULT_RETRY: Final = sum(1 << reason for reason in CURABLE)
_REASONS: Final = {
    reason.word: 1 << reason
    for reason in Reason
    if reason not in {Reason.LOST, Reason.PREEMPTED, Reason.CANCELLED}
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is the same for all jobs of a request."""

    settings: Settings
    media: str
    trace_id: str
    body_bytes: int
    may_hold_nul: bool
    inherit_env: dict[str, str] | None = None
    batch_id: int | None = None
    """None: the batch is being created."""
    first: int = 1
    """Position of the first job in its update."""
    whole: bool = False
    """The document holds all jobs of the update: parents may be named, groups are paths."""
    group_by_path: Mapping[str, int] = field(default_factory=dict)
    set_by_name: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Translated:
    """Rows, and where each job of the document went if they had to be sorted."""

    rows: JobRows
    positions: Sequence[int] | None
    """Position in the update of each job of the document, of an array that of its first; None:
    in the document's order.
    """


def translate(
    jobs: Sequence[JobDocument], request: Request, workers: Sequence[Row], problems: Problems
) -> Translated:
    """Return the rows of these jobs; `workers`: capacities, see `ShapeBook`.

    Raise `InvalidDocument` for all that is wrong, also what `problems` held before.
    """
    _check(jobs, request, problems)
    book = ShapeBook(workers, request.media)
    shape_index = book.index_of(jobs, problems)
    group_id = _groups(jobs, request, problems)
    combos = sets_of(jobs, request, problems)
    retry_on = _retries(jobs, problems)
    positions = Positions([job.count for job in jobs], first=request.first)
    sources = sources_of(jobs, positions, request, problems)
    parents = _parents(jobs, request, positions, problems)
    problems.raise_any()
    order = None
    if request.whole and parents is not None:
        order = order_jobs(parents, [job.name for job in jobs], problems, positions)
        problems.raise_any()
    if order is not None and parents is not None:
        jobs = [jobs[index] for index in order]
        shape_index, group_id, retry_on, combos.index = (
            column if len(column) <= 1 else [column[index] for index in order]
            for column in (shape_index, group_id, retry_on, combos.index)
        )
        before = positions
        parents, positions = renumbered(parents, positions, order)
        sources = sources.moved(order, before, positions, problems)
        problems.raise_any()
    rows = JobRows(
        first_job=request.first,
        n_jobs=positions.n_jobs,
        shapes=book.shapes,
        shape_index=shape_index,
        group_id=group_id,
        priority=_one_if_same([job.priority for job in jobs]),
        always_run=_one_if_same([job.always_run for job in jobs]),
        max_attempts=_one_if_same([job.max_attempts for job in jobs]),
        retry_on=retry_on,
        combo_index=combos.index,
        combo_number=combos.number,
        combo_set=combos.sets,
        entry_n=[positions.count_of(n) for n in range(len(jobs))] if positions.has_arrays else [],
    )
    if parents is not None:
        fill_edges(rows, parents, positions)
    fill_labels(rows, jobs, positions)
    fill_chunks(
        rows,
        jobs,
        positions,
        sources,
        trace_id=request.trace_id,
        inherit_env=request.inherit_env,
    )
    return Translated(rows, None if order is None else _numbers(order, positions))


def _numbers(order: Sequence[int], positions: Positions) -> list[int]:
    """Return where each entry of the document went."""
    numbers = [0] * len(order)
    for place, index in enumerate(order):
        numbers[index] = positions.firsts[place]
    return numbers


def _check(jobs: Sequence[JobDocument], request: Request, problems: Problems) -> None:
    check_jobs(
        jobs,
        request.settings,
        problems,
        inherit_env=request.inherit_env,
        body_bytes=request.body_bytes,
        may_hold_nul=request.may_hold_nul,
    )


def _one_if_same(column: list[Value]) -> list[Value]:
    """Return one element for a column of equal ones."""
    return column[:1] if column.count(column[0]) == len(column) else column


def _groups(jobs: Sequence[JobDocument], request: Request, problems: Problems) -> list[int]:
    given = [job.group for job in jobs]
    if given.count(None) == len(given):
        return [0]
    numbers: list[int] = []
    for index, group in enumerate(given):
        number: int | None = 0
        if isinstance(group, str):
            number = 0 if group == "/" else request.group_by_path.get(group)
            if number is None and not request.whole:
                problems.add(
                    WrongType,
                    f"/jobs/{index}/group",
                    "in a bunch a group is a number: of the update, 0 the root, -3 an earlier g3",
                )
        elif group is not None:
            number = group
            if request.whole and group != 0:
                problems.add(
                    WrongType,
                    f"/jobs/{index}/group",
                    "in a document that is submitted at once a group is a path such as /stage1",
                )
            elif abs(group) > GROUP_MAX:
                problems.add(InvalidValue, f"/jobs/{index}/group", "not the number of a group")
        numbers.append(number or 0)
    return _one_if_same(numbers)


def _retries(jobs: Sequence[JobDocument], problems: Problems) -> list[int]:
    given = [job.retry_on for job in jobs]
    if given.count(None) == len(given):
        return [_DEFAULT_RETRY]
    masks: list[int] = []
    for index, words in enumerate(given):
        mask = _DEFAULT_RETRY if words is None else 0
        for place, word in enumerate(words or ()):
            if word not in _REASONS:
                problems.add(
                    InvalidValue,
                    f"/jobs/{index}/retry_on/{place}",
                    f"{word[:40]!r} is none of {', '.join(_REASONS)}",
                )
            mask |= _REASONS.get(word, 0)
        masks.append(mask)
    return _one_if_same(masks)


def _parents(
    jobs: Sequence[JobDocument], request: Request, positions: Positions, problems: Problems
) -> list[Parents] | None:
    """Return the parents of each entry; None: no job has any."""
    refs = [job.parents for job in jobs]
    if not any(refs):
        return None
    parents = resolve_parents(
        [job.name for job in jobs] if request.whole else (),
        refs,
        positions=positions,
        earlier=Earlier(request.batch_id, names=request.whole),
        problems=problems,
    )
    n_edges, limit = count_edges(parents, positions), request.settings.bunch_edges_max
    if n_edges > limit:
        raise TooManyParents(
            "the jobs of the request have too many parents",
            detail=f"{n_edges} times a job of it waits for another one, at most {limit}.",
            hint="Put a job without a command between two arrays that wait for each other: it "
            "waits for all of the first, and all of the second wait for it.",
        )
    return parents
