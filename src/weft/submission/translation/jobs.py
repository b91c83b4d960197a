"""From documents of jobs to the columns that the store takes.

One pass per column instead of one per job, because a request may have 10,000 jobs. All problems of
a document are found before any is reported, and nothing is stored before that.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from weft.core.errors import InvalidValue, TooManyParents, WrongType
from weft.core.graph.parents import Earlier, Parents, order_jobs, renumbered, resolve_parents
from weft.core.graph.positions import Positions
from weft.core.problems import Problems
from weft.ports.store import JobRows, Row, Shape
from weft.submission.translation.check import check_jobs
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.fields import JobField, check_fields, given_fields
from weft.submission.translation.functions import carriers_of, moved_carriers
from weft.submission.translation.gates import asks_of
from weft.submission.translation.groups import GROUP_MAX, Combos, cut_arrays, sets_of
from weft.submission.translation.kinds import STARTS_MAX, check_children, check_services
from weft.submission.translation.retries import DEFAULT_RETRY, check_retried, mask_of
from weft.submission.translation.rows import (
    Columns,
    count_edges,
    fill_chunks,
    fill_edges,
    fill_labels,
    fill_rare_fields,
)
from weft.wire.documents.jobs import JobDocument

Value = TypeVar("Value", int, bool)
THREAD_JOBS: Final = 500
"""A larger document is translated in a thread, so that other requests are served meanwhile."""

THREAD_VALUES: Final = 10_000
"""So is one of few jobs with more items than these."""


def _n_values(job: JobDocument) -> int:
    """Return how many items the fields of a job have that may have very many."""
    many = (job.command, job.env, job.parents, job.groups, job.attributes)
    return sum(len(one) for one in many if one) + (
        0 if job.simulation is None else len(job.simulation.steps)
    )


@dataclass(frozen=True)
class Translated:
    """The rows, and the position of each job if the document had to be sorted."""

    rows: JobRows
    positions: Sequence[int] | None
    """Position in the update of each job of the document, for an array of its first job; None: in
    the document's order.
    """


async def translate_apart(
    jobs: Sequence[JobDocument],
    context: DocumentContext,
    workers: Sequence[Row],
    problems: Problems,
) -> Translated:
    """Return the rows of a document (`translate`); of a larger one they are made in a thread."""
    n_values = sum(len(job.values or ()) for job in context.rare(jobs))
    if len(jobs) + n_values <= THREAD_JOBS and sum(map(_n_values, jobs)) <= THREAD_VALUES:
        return translate(jobs, context, workers, problems)
    return await asyncio.to_thread(translate, jobs, context, workers, problems)


def translate(
    jobs: Sequence[JobDocument],
    context: DocumentContext,
    workers: Sequence[Row],
    problems: Problems,
) -> Translated:
    """Return the rows of these jobs; `workers`: capacities, see `ShapeBook`.

    Raise `InvalidDocument` with everything that is wrong, including what `problems` already has.
    """
    fields = _checked(jobs, context, problems)
    positions = _positions(jobs, context)
    asks, combos = asks_of(jobs, context, workers, problems), sets_of(jobs, context, problems)
    parents, loose = _parents(jobs, context, positions, problems)
    columns = Columns(
        shape_index=asks.shape_index,
        group_id=_groups(jobs, context, problems),
        retry_on=_retries(context.rare(jobs) or jobs[:1], problems),
        combo_index=combos.index,
        licences=asks.licences,
        more=asks.more,
        parents=parents,
        loose=loose,
        carriers=carriers_of(context.rare(jobs), positions, context, problems),
    )
    if fields and columns.parents:
        check_children(jobs, columns.parents, columns.loose, positions, problems)
    problems.raise_any()
    order = None
    if context.whole and columns.parents:
        order = order_jobs(columns.parents, [job.name for job in jobs], problems, positions)
        problems.raise_any()
    numbers = None
    if order is not None:
        numbers = positions.numbers_in(order)
        columns = _renumbered(columns, positions, numbers, problems)
    entries: Sequence[int] | None = order
    if positions.has_arrays and any(job.values for job in jobs):
        jobs, entries = cut_arrays(jobs, order or range(len(jobs)))
    elif order is not None:
        jobs = [jobs[entry] for entry in order]
    if entries is not None:
        columns, positions = columns.of_entries(entries), _positions(jobs, context)
    rows = _rows(jobs, context, positions, columns, asks.shapes, combos)
    if columns.licences or fields:
        fill_rare_fields(rows, jobs, positions, fields, columns, context.apps)
        rows.output_keep_s = _longest_keep_s(jobs)
    fill_chunks(rows, jobs, positions, fields, columns, context)
    return Translated(rows, numbers)


def _checked(
    jobs: Sequence[JobDocument], context: DocumentContext, problems: Problems
) -> Sequence[JobField]:
    """Check the texts of these jobs, and the fields that few jobs have; return those of these
    fields that any of them has.
    """
    for job in jobs:
        if job.script is not None:
            job.script = _as_unix(job.script)
    fields = [] if context.ordinary else given_fields(jobs)
    check_fields(fields, jobs, context.settings, problems)
    if fields and not context.has_lifecycle:
        check_retried(jobs, problems)
    if fields:
        check_services(jobs, problems, has_lifecycle=context.has_lifecycle)
    check_jobs(jobs, context, problems)
    return fields


def _as_unix(script: str) -> str:
    """Return a script without what Windows' editors add: no kernel finds the interpreter then."""
    script = script.removeprefix("\ufeff")
    return script.replace("\r\n", "\n") if script.partition("\n")[0].endswith("\r") else script


def _positions(jobs: Sequence[JobDocument], context: DocumentContext) -> Positions:
    sizes = [None] * len(jobs) if context.ordinary else [job.array_size for job in jobs]
    return Positions(sizes, first=context.first)


def _renumbered(
    columns: Columns, positions: Positions, numbers: Sequence[int], problems: Problems
) -> Columns:
    """Return the columns with the numbers that jobs get when they are put into order."""
    moved = replace(
        columns,
        parents=renumbered(columns.parents, positions, numbers),
        loose={need: renumbered(of, positions, numbers) for need, of in columns.loose.items()},
        carriers=moved_carriers(columns.carriers, positions, numbers, problems),
    )
    problems.raise_any()
    return moved


def _rows(
    jobs: Sequence[JobDocument],
    context: DocumentContext,
    positions: Positions,
    columns: Columns,
    shapes: list[Shape],
    combos: Combos,
) -> JobRows:
    """Return the rows without what only some jobs have."""
    rows = JobRows(
        first_job=positions.first,
        n_jobs=positions.n_jobs,
        shapes=shapes,
        shape_index=_one_if_same(columns.shape_index),
        group_id=_one_if_same(columns.group_id),
        priority=_one_if_same([job.priority for job in jobs]),
        always_run=_one_if_same([job.always_run for job in jobs]),
        max_attempts=_one_if_same(
            _attempts(context.rare(jobs)) or [job.max_attempts for job in jobs]
        ),
        retry_on=_one_if_same(columns.retry_on),
        combo_index=_one_if_same(columns.combo_index),
        combo_number=combos.number,
        combo_set=combos.sets,
        entry_n=[positions.count_of(n) for n in range(len(jobs))] if positions.has_arrays else [],
    )
    if columns.parents:
        fill_edges(rows, columns, positions)
    fill_labels(rows, jobs, positions)
    return rows


def _attempts(jobs: Sequence[JobDocument]) -> list[int]:
    return [job.max_attempts if job.service is None else STARTS_MAX for job in jobs]


def _longest_keep_s(jobs: Sequence[JobDocument]) -> int | None:
    found = [job.log.keep_s for job in jobs if job.log is not None and job.log.keep_s is not None]
    return max(found) if len(found) == len(jobs) else None


def _one_if_same(column: Sequence[Value]) -> list[Value]:
    """Return one element for a column of equal ones."""
    if column and column.count(column[0]) == len(column):
        return [column[0]]
    return list(column)


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
                message = "in a bunch a group is a number: 1 of this update, 0 the root, -3 for g3"
                problems.add(WrongType, f"/jobs/{index}/group", message)
        elif group is not None:
            number = group
            if context.whole and group != 0:
                message = "in a whole submission a group is a path such as /stage1"
                problems.add(WrongType, f"/jobs/{index}/group", message)
            elif abs(group) > GROUP_MAX:
                problems.add(InvalidValue, f"/jobs/{index}/group", "not the number of a group")
        numbers.append(number or 0)
    return numbers


def _retries(jobs: Sequence[JobDocument], problems: Problems) -> list[int]:
    given = [
        (job.retry_on, job.retry, job.external_errors, job.exit_codes, job.retry_with, job.service)
        for job in jobs
    ]
    if given.count((None,) * 6) == len(given):
        return [DEFAULT_RETRY]
    return [_mask_of(job, index, problems) for index, job in enumerate(jobs)]


def _mask_of(job: JobDocument, index: int, problems: Problems) -> int:
    at = f"/jobs/{index}"
    return mask_of(job, lambda where, message: problems.add(InvalidValue, at + where, message))


def _parents(
    jobs: Sequence[JobDocument], context: DocumentContext, positions: Positions, problems: Problems
) -> tuple[Sequence[Parents], Mapping[str, Sequence[Parents]]]:
    """Return the parents of each entry as `resolve_parents`; empty: no job has any."""
    refs = [job.parents for job in jobs]
    if not any(refs):
        return (), {}
    resolved = resolve_parents(
        [job.name for job in jobs] if context.whole else (),
        refs,
        positions=positions,
        earlier=Earlier(context.batch_id, names=context.whole),
        problems=problems,
        groups=[job.group for job in jobs] if context.whole else (),
    )
    n_edges, limit = count_edges(resolved[0], positions), context.settings.bunch_edges_max
    if n_edges > limit:
        raise TooManyParents(
            "the jobs of the request have too many parents",
            detail=f"Its jobs have {n_edges} parents in all, at most {limit} (bunch_edges_max).",
            hint="Put a job without a command between two arrays: it waits for all jobs of the "
            "first, and all jobs of the second wait for it.",
        )
    return resolved
