"""From documents of jobs to the columns that the store takes.

One pass per column instead of one per job, because a request may have 10,000 jobs. All problems of
a document are found before any is reported, and nothing is stored before that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from weft.core.errors import InvalidValue, TooManyParents, WrongType
from weft.core.parents import Earlier, Parents, order_jobs, renumbered, resolve_parents
from weft.core.positions import Positions
from weft.core.problems import Problems
from weft.ports.store import JobRows, Row
from weft.submission.translation.arrays import cut_arrays
from weft.submission.translation.check import check_jobs
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.functions import carriers_of
from weft.submission.translation.retries import DEFAULT_RETRY, check_retries, mask_of
from weft.submission.translation.retry_with import rules_of_more
from weft.submission.translation.rows import (
    count_edges,
    fill_chunks,
    fill_edges,
    fill_labels,
    fill_rare_fields,
)
from weft.submission.translation.sets import sets_of
from weft.submission.translation.shapes import ShapeBook
from weft.wire.documents import JobDocument

Value = TypeVar("Value", int, bool)
Chosen = TypeVar("Chosen")
GROUP_MAX: Final = 2_000_000_000


@dataclass(frozen=True)
class Translated:
    """The rows, and the position of each job if the document had to be sorted."""

    rows: JobRows
    positions: Sequence[int] | None
    """Position in the update of each job of the document, for an array of its first job; None: in
    the document's order.
    """


def translate(
    jobs: Sequence[JobDocument],
    context: DocumentContext,
    workers: Sequence[Row],
    problems: Problems,
) -> Translated:
    """Return the rows of these jobs; `workers`: capacities, see `ShapeBook`.

    Raise `InvalidDocument` with everything that is wrong, including what `problems` already has.
    """
    rare = _checked(jobs, context, problems)
    book = ShapeBook(workers, context.licences)
    shape_index = book.index_of(jobs, problems, context.router)
    licences, more = book.licences_of(jobs), rules_of_more(rare, book, shape_index, problems)
    group_id, combos = _groups(jobs, context, problems), sets_of(jobs, context, problems)
    retry_on = _retries(rare or jobs[:1], problems)
    positions = _positions(jobs, context)
    carriers = carriers_of(rare, positions, context, problems)
    parents = _parents(jobs, context, positions, problems)
    problems.raise_any()
    order = None
    if context.whole and parents is not None:
        order = order_jobs(parents, [job.name for job in jobs], problems, positions)
        problems.raise_any()
    if order is not None and parents is not None:
        jobs = [jobs[index] for index in order]
        before = positions
        parents, positions = renumbered(parents, positions, order)
        carriers = carriers.moved(order, before, positions, problems)
        problems.raise_any()
    numbers = None if order is None else _numbers(order, positions)
    entries: Sequence[int] | None = order
    if positions.has_arrays and any(job.values for job in jobs):
        jobs, cut = cut_arrays(jobs)
        positions = _positions(jobs, context)
        parents = parents and [parents[entry] for entry in cut]
        carriers = carriers.of_entries(cut)
        entries = cut if order is None else [order[entry] for entry in cut]
    rows = JobRows(
        first_job=context.first,
        n_jobs=positions.n_jobs,
        shapes=book.shapes,
        shape_index=_picked(shape_index, entries),
        group_id=_picked(group_id, entries),
        priority=_one_if_same([job.priority for job in jobs]),
        always_run=_one_if_same([job.always_run for job in jobs]),
        max_attempts=_one_if_same([job.max_attempts for job in jobs]),
        retry_on=_picked(retry_on, entries),
        combo_index=_picked(combos.index, entries),
        combo_number=combos.number,
        combo_set=combos.sets,
        entry_n=[positions.count_of(n) for n in range(len(jobs))] if positions.has_arrays else [],
    )
    if parents is not None:
        fill_edges(rows, parents, positions)
    fill_labels(rows, jobs, positions)
    if licences or rare:
        fill_rare_fields(rows, jobs, positions, _chosen(licences, entries), _chosen(more, entries))
    fill_chunks(rows, jobs, positions, carriers, context)
    return Translated(rows, numbers)


def _positions(jobs: Sequence[JobDocument], context: DocumentContext) -> Positions:
    sizes = [None] * len(jobs) if context.ordinary else [job.array_size for job in jobs]
    return Positions(sizes, first=context.first)


def _numbers(order: Sequence[int], positions: Positions) -> list[int]:
    """Return the position of each entry of the document."""
    numbers = [0] * len(order)
    for entry, index in enumerate(order):
        numbers[index] = positions.firsts[entry]
    return numbers


def _checked(
    jobs: Sequence[JobDocument], context: DocumentContext, problems: Problems
) -> Sequence[JobDocument]:
    """Check the texts of these jobs; return those that may have rare fields: all or none."""
    check_jobs(
        jobs,
        context.settings,
        problems,
        inherit_env=context.inherit_env,
        ordinary=context.ordinary,
    )
    return context.rare(jobs)


def _picked(column: list[int], entries: Sequence[int] | None) -> list[int]:
    """Return a column of the document for these entries of it; None: for all."""
    if entries is None or len(column) <= 1:
        return column
    return [column[entry] for entry in entries]


def _chosen(column: Sequence[Chosen], entries: Sequence[int] | None) -> Sequence[Chosen]:
    """Return a column, which may be empty, for these entries; None: for all."""
    return column if entries is None or not column else [column[entry] for entry in entries]


def _one_if_same(column: list[Value]) -> list[Value]:
    """Return one element for a column of equal ones."""
    return column[:1] if column.count(column[0]) == len(column) else column


def _groups(
    jobs: Sequence[JobDocument], context: DocumentContext, problems: Problems
) -> list[int]:
    given = [job.group for job in jobs]
    if given.count(None) == len(given):
        return [0]
    numbers: list[int] = []
    for index, group in enumerate(given):
        number: int | None = 0
        if isinstance(group, str):
            number = 0 if group == "/" else context.group_by_path.get(group)
            if number is None and not context.whole:
                problems.add(
                    WrongType,
                    f"/jobs/{index}/group",
                    "in a bunch a group is a number: 1 of this update, 0 the root, -3 for g3",
                )
        elif group is not None:
            number = group
            if context.whole and group != 0:
                problems.add(
                    WrongType,
                    f"/jobs/{index}/group",
                    "in a whole submission a group is a path such as /stage1",
                )
            elif abs(group) > GROUP_MAX:
                problems.add(InvalidValue, f"/jobs/{index}/group", "not the number of a group")
        numbers.append(number or 0)
    return _one_if_same(numbers)


def _retries(jobs: Sequence[JobDocument], problems: Problems) -> list[int]:
    given = [(job.retry_on, job.retry, job.external_errors, job.retry_with) for job in jobs]
    if given.count((None, None, None, None)) == len(given):
        return [DEFAULT_RETRY]
    check_retries(jobs, problems)
    return _one_if_same([_mask_of(job, index, problems) for index, job in enumerate(jobs)])


def _mask_of(job: JobDocument, index: int, problems: Problems) -> int:
    at = f"/jobs/{index}"
    return mask_of(job, lambda where, message: problems.add(InvalidValue, at + where, message))


def _parents(
    jobs: Sequence[JobDocument], context: DocumentContext, positions: Positions, problems: Problems
) -> list[Parents] | None:
    """Return the parents of each entry; None: no job has any."""
    refs = [job.parents for job in jobs]
    if not any(refs):
        return None
    parents = resolve_parents(
        [job.name for job in jobs] if context.whole else (),
        refs,
        positions=positions,
        earlier=Earlier(context.batch_id, names=context.whole),
        problems=problems,
    )
    n_edges, limit = count_edges(parents, positions), context.settings.bunch_edges_max
    if n_edges > limit:
        raise TooManyParents(
            "the jobs of the request have too many parents",
            detail=f"Its jobs have {n_edges} parents in all, at most {limit} are allowed.",
            hint="Put a job without a command between two arrays: it waits for all jobs of the "
            "first, and all jobs of the second wait for it.",
        )
    return parents
