"""Batches of a bench whose jobs come as arrays, or have concurrency keys."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import msgspec

from weft.bench.filled_batch import NESTED, SHAPE, TRACE_ID, Filler, NestedGroups
from weft.ports.store import ArrayRow, JobRows
from weft.submission.translation.gates import JOB_GATES
from weft.wire.documents.jobs import ConcurrencyKey
from weft.wire.spec import ArrayRange, JobSpec, encode_array

ARRAY_JOBS = 1_000_000
KEY_PLACES = 2
"""Jobs with one concurrency key that may run at a time."""


async def fill_arrays(
    filler: Filler, jobs: int, in_arrays: int, layout: NestedGroups = NESTED
) -> int:
    """Submit one batch, so many of whose jobs come as arrays; return its number."""
    singles = filler.bunches(in_arrays + 1, jobs, layout)
    return await filler.fill(jobs, layout, rows=chain(_arrays(in_arrays, layout), singles))


async def fill_keys(filler: Filler, jobs: int, keys: int) -> int:
    """Submit one batch, every other job of which has one of so many concurrency keys."""
    return await filler.fill(jobs, rows=_limited(filler.bunches(1, jobs, NESTED), keys))


def _arrays(jobs: int, layout: NestedGroups) -> Iterator[JobRows]:
    spec = JobSpec(command=("/bin/true",), trace_id=TRACE_ID)
    for first in range(1, jobs + 1, ARRAY_JOBS):
        count = min(ARRAY_JOBS, jobs - first + 1)
        yield JobRows(
            first_job=first,
            n_jobs=count,
            shapes=[SHAPE],
            shape_index=[0],
            **layout.columns(first, 1),
            priority=[0],
            always_run=[False],
            max_attempts=[1],
            retry_on=[0],
            chunk_first=[first],
            chunk_n=[count],
            chunk_body=[encode_array(spec, ArrayRange(first - 1, count))],
            entry_n=[count],
            arrays=[ArrayRow(first_job=first, n_jobs=count, first_index=first - 1)],
        )


def _limited(bunches: Iterator[JobRows], keys: int) -> Iterator[JobRows]:
    for bunch in bunches:
        first = bunch.first_job
        limited = range(first + first % 2, first + bunch.n_jobs, 2) if keys else range(0)
        fields = [_with_key(job // 2 % keys) for job in limited]
        yield replace(bunch, rare_job=list(limited), rare_fields=fields)


def _with_key(number: int) -> dict[str, Any]:
    """Return the rare fields of a job with a concurrency key, as the api makes them."""
    limit = ConcurrencyKey(f"key-{number}", KEY_PLACES)
    gate = JOB_GATES["concurrency_key"].gate(limit)
    return {"concurrency_key": msgspec.to_builtins(limit), "gates": [msgspec.to_builtins(gate)]}
