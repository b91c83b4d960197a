"""From documents of jobs to the columns that the store takes.

One pass per column instead of one per job: 10,000 jobs are 10,000 times of everything that is
written here. Every problem of a request is found before any is reported, and nothing is stored
before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from weft.api.check import check_jobs
from weft.api.set_columns import sets_of
from weft.api.shapes import ShapeBook
from weft.core.errors import InvalidValue, WrongType
from weft.core.parents import Earlier, order_jobs, resolve_parents
from weft.core.problems import Problems
from weft.core.states import Reason
from weft.ports.store import JobRows, Row
from weft.settings import Settings
from weft.wire.documents import JobDocument
from weft.wire.spec import CHUNK_BYTES_MAX, CHUNK_JOBS_MAX, JobSpec, compress_chunk, pack_specs

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
    order: Sequence[int] | None
    """Index in the document of each row; None: as in the document."""


def translate(
    jobs: Sequence[JobDocument], request: Request, workers: Sequence[Row], problems: Problems
) -> Translated:
    """Return the rows of these jobs; `workers`: capacities, see `ShapeBook`.

    Raise `InvalidDocument` for all that is wrong, also what `problems` held before.
    """
    check_jobs(
        jobs,
        request.settings,
        problems,
        inherit_env=request.inherit_env,
        body_bytes=request.body_bytes,
        may_hold_nul=request.may_hold_nul,
    )
    book = ShapeBook(workers, request.media)
    shape_index = book.index_of(jobs, problems)
    group_id = _groups(jobs, request, problems)
    combos = sets_of(jobs, request, problems)
    retry_on = _retries(jobs, problems)
    parents = _parents(jobs, request, problems)
    problems.raise_any()
    order = None
    if request.whole and parents is not None:
        order = order_jobs(parents, [job.name for job in jobs], problems)
        problems.raise_any()
    if order is not None and parents is not None:
        jobs = [jobs[index] for index in order]
        shape_index, group_id, retry_on, combos.index = (
            column if len(column) <= 1 else [column[index] for index in order]
            for column in (shape_index, group_id, retry_on, combos.index)
        )
        parents = _renumbered(parents, order)
    rows = JobRows(
        first_job=request.first,
        n_jobs=len(jobs),
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
    )
    if parents is not None:
        _fill_edges(rows, parents)
    _fill_labels(rows, jobs)
    _fill_chunks(rows, jobs, request)
    return Translated(rows, order)


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
    jobs: Sequence[JobDocument], request: Request, problems: Problems
) -> list[tuple[int, ...]] | None:
    """Return the parents of each job; None: no job has any."""
    refs = [job.parents for job in jobs]
    if not any(refs):
        return None
    return resolve_parents(
        [job.name for job in jobs] if request.whole else (),
        refs,
        first=request.first,
        earlier=Earlier(request.batch_id, names=request.whole),
        problems=problems,
    )


def _renumbered(parents: Sequence[tuple[int, ...]], order: Sequence[int]) -> list[tuple[int, ...]]:
    position = {index + 1: place for place, index in enumerate(order, 1)}
    return [
        tuple(position[parent] if parent > 0 else parent for parent in parents[index])
        for index in order
    ]


def _fill_edges(rows: JobRows, parents: Sequence[tuple[int, ...]]) -> None:
    for child, own in enumerate(parents, rows.first_job):
        if own:
            rows.edge_child.extend([child] * len(own))
            rows.edge_parent.extend(own)


def _fill_labels(rows: JobRows, jobs: Sequence[JobDocument]) -> None:
    labelled = [
        (number, job.name, job.attributes or None)
        for number, job in enumerate(jobs, rows.first_job)
        if job.name is not None or job.attributes
    ]
    if labelled:
        rows.label_job, rows.label_name, rows.label_attributes = (
            list(column) for column in zip(*labelled, strict=True)
        )


def _fill_chunks(rows: JobRows, jobs: Sequence[JobDocument], request: Request) -> None:
    trace_id = request.trace_id
    specs = [
        JobSpec(
            job.command,
            job.script,
            job.env,
            None,
            job.cwd,
            job.stdin,
            job.timeout_s,
            job.executor,
            trace_id,
        )
        for job in jobs
    ]
    for start in range(0, len(specs), CHUNK_JOBS_MAX):
        _add_chunks(rows, specs[start : start + CHUNK_JOBS_MAX], start, request.inherit_env)


def _add_chunks(
    rows: JobRows, specs: list[JobSpec], start: int, inherit_env: dict[str, str] | None
) -> None:
    """Add these specs as one chunk, or as several if it would be too large."""
    packed = pack_specs(specs, inherit_env)
    if len(packed) > CHUNK_BYTES_MAX and len(specs) > 1:
        half = len(specs) // 2
        _add_chunks(rows, specs[:half], start, inherit_env)
        _add_chunks(rows, specs[half:], start + half, inherit_env)
        return
    rows.chunk_first.append(rows.first_job + start)
    rows.chunk_n.append(len(specs))
    rows.chunk_body.append(compress_chunk(packed))
