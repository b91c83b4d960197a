"""Rows and reports with everything that a test does not care about filled in."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from weft.core.states import SHARE_NEED, Reason
from weft.ports.store import (
    ArrayRow,
    Claimed,
    ClaimRequest,
    EndReport,
    JobRows,
    NewGroup,
    Shape,
    StartReport,
)
from weft.wire.spec import ArrayRange, JobSpec, encode_array, encode_chunk

T = TypeVar("T")
MUCH = 10**8
_BILLED_S = 0.002


def _column(value: T | Sequence[T]) -> list[T]:
    """Return a column of `JobRows`: one value stands for all jobs."""
    return list(value) if isinstance(value, list | tuple) else [value]  # type: ignore[list-item]


def job_rows(
    n_jobs: int = 1,
    *,
    first_job: int = 1,
    parents: Mapping[int, Iterable[int]] | None = None,
    group: int | Sequence[int] = 0,
    priority: int | Sequence[int] = 0,
    always_run: bool | Sequence[bool] = False,
    max_attempts: int | Sequence[int] = 1,
    retry_on: Iterable[Reason] = (),
    shapes: Sequence[Shape] = (Shape(),),
    shape_index: int | Sequence[int] = 0,
    names: Mapping[int, str] | None = None,
    sets: Mapping[int, tuple[int, ...]] | None = None,
    on_end: Collection[tuple[int, int]] = (),
    on_start: Collection[tuple[int, int]] = (),
    shares: Mapping[tuple[int, int], int] | None = None,
) -> JobRows:
    """Return a bunch of no-ops in one chunk. `parents`, `names` and `sets` are by job number;
    `on_end` has the pairs of a child and a parent whose end is enough, `on_start` of its start;
    `shares` by such pairs the percentage of the parents that must succeed.
    """
    combos = {
        combo: number for number, combo in enumerate(dict.fromkeys((sets or {}).values()), 1)
    }
    edges = [(child, parent) for child, all_of in (parents or {}).items() for parent in all_of]
    loose = dict.fromkeys(on_end, -1) | dict.fromkeys(on_start, 0)
    loose |= {edge: SHARE_NEED - share for edge, share in (shares or {}).items()}
    labels = names or {}
    return JobRows(
        first_job=first_job,
        n_jobs=n_jobs,
        shapes=list(shapes),
        shape_index=_column(shape_index),
        group_id=_column(group),
        priority=_column(priority),
        always_run=_column(always_run),
        max_attempts=_column(max_attempts),
        retry_on=[sum(1 << reason for reason in retry_on)],
        combo_index=[combos.get(sets.get(j, ()), 0) for j in range(first_job, first_job + n_jobs)]
        if sets
        else [],
        combo_number=[number for combo, number in combos.items() for _ in combo],
        combo_set=[one for combo in combos for one in combo],
        edge_child=[child for child, _parent in edges],
        edge_parent=[parent for _child, parent in edges],
        edge_parent_n=[loose.get(edge, 1) for edge in edges] if loose else [],
        label_job=list(labels),
        label_name=list(labels.values()),
        label_attributes=[None] * len(labels),
        chunk_first=[first_job],
        chunk_n=[n_jobs],
        chunk_body=[encode_chunk([JobSpec()] * n_jobs)],
    )


def tree(*paths: str) -> list[NewGroup]:
    """Return groups, numbered from 1 in this order; a path follows the one that it is in."""
    numbers = {path: number for number, path in enumerate(paths, 1)}
    return [
        NewGroup(group_id=number, parent_id=numbers.get(above, 0), name=name)
        for number, (above, _, name) in enumerate((path.rpartition("/") for path in paths), 1)
    ]


def request(limit_jobs: int = 100, *, call: int = 1) -> ClaimRequest:
    """Return a request that only the number of jobs limits."""
    return ClaimRequest(
        budget_cpu_m=MUCH, budget_memory_mib=MUCH, limit_jobs=limit_jobs, call=call
    )


def key_of(claimed: Claimed) -> tuple[int, int, int]:
    """Return batch, job and attempt."""
    return claimed.batch_id, claimed.job_id, claimed.attempt


def start_report(claimed: Claimed, *, age_us: int = 0) -> StartReport:
    """Return the report that an attempt began to run."""
    return StartReport(
        batch_id=claimed.batch_id, job_id=claimed.job_id, attempt=claimed.attempt, age_us=age_us
    )


async def run_long_enough() -> None:
    """Let a job run until it is billed: whole milliseconds count, and none before its claim."""
    await asyncio.sleep(_BILLED_S)


def end_report(
    claimed: Claimed,
    reason: Reason | None = None,
    *,
    start_age_us: int | None = 1000,
    end_age_us: int = 0,
    exit_code: int | None = None,
    message: str = "",
    signal: int | None = None,
) -> EndReport:
    """Return the report that an attempt ended: with success, unless a reason is given."""
    return EndReport(
        batch_id=claimed.batch_id,
        job_id=claimed.job_id,
        attempt=claimed.attempt,
        start_age_us=start_age_us,
        end_age_us=end_age_us,
        reason=reason,
        exit_code=exit_code,
        signal=signal,
        cpu_ms=1,
        memory_peak_bytes=1,
        stdout_bytes=0,
        stderr_bytes=0,
        truncated=False,
        location=None,
        message=message,
    )


def with_fields(rows: JobRows, **fields_of: object) -> JobRows:
    """Give jobs rare fields: `j2={…}`."""
    rows.rare_job = [int(job[1:]) for job in fields_of]
    rows.rare_fields = list(fields_of.values())  # type: ignore[arg-type]
    return rows


def array_rows(
    *counts: int | None,
    first: int = 1,
    edges: dict[int, list[range]] | None = None,
    **columns: object,
) -> JobRows:
    """Return a bunch of entries: `None` is an ordinary job, a number an array.

    `edges`: parents by the first job of an entry.
    """
    sizes = [count or 1 for count in counts]
    firsts = [first + sum(sizes[:place]) for place in range(len(sizes))]
    template = JobSpec(command=("/bin/echo", "$WEFT_INDEX"))
    rows = job_rows(len(counts), first_job=first, **columns)  # type: ignore[arg-type]
    rows.n_jobs = sum(sizes)
    rows.entry_n = sizes
    rows.chunk_first, rows.chunk_n = firsts, sizes
    rows.chunk_body = [
        encode_chunk([JobSpec(command=("/bin/true",))])
        if count is None
        else encode_array(template, ArrayRange(10, count))
        for count in counts
    ]
    rows.arrays = [
        ArrayRow(
            first_job=at,
            n_jobs=count,
            first_index=10,
            name=f"array{at}",
            attributes={"k": str(at)},
        )
        for at, count in zip(firsts, counts, strict=True)
        if count is not None
    ]
    for child, parents in (edges or {}).items():
        for parent in parents:
            rows.edge_child.append(child)
            rows.edge_parent.append(parent.start)
            rows.edge_parent_n.append(len(parent))
    return rows
