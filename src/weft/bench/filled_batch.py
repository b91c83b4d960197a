"""Batches full of jobs, made by the functions that the api calls."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol, Self

import msgspec

from weft.bench.plan import BenchFailed
from weft.ports.store import ArrayRow, Caller, JobRows, NewBatch, NewGroup, Shape
from weft.store import ApiStore, open_api_store
from weft.submission.translation.gates import JOB_GATES
from weft.wire.documents.batches import ConcurrencyKey
from weft.wire.spec import CHUNK_JOBS_MAX, ArrayRange, JobSpec, encode_array, encode_chunk

BUNCH_JOBS = 10_000
ARRAY_JOBS = 1_000_000
PARALLEL = 2
SHAPE = Shape(cpu_m=1000, memory_mib=512)
TRACE_ID = "0" * 32
KEY_PLACES = 2
"""Jobs with one concurrency key that may run at a time."""


@dataclass(frozen=True)
class GroupColumns:
    """The columns of `JobRows` that say where jobs sit."""

    group_id: list[int]
    combo_index: list[int] = field(default_factory=list)
    combo_number: list[int] = field(default_factory=list)
    combo_set: list[int] = field(default_factory=list)


class Layout(Protocol):
    """Groups, and where each job sits."""

    def new_groups(self) -> list[NewGroup]:
        """Return the groups of the batch."""

    def columns(self, first: int, count: int) -> GroupColumns:
        """Return where these consecutive jobs sit."""


@dataclass(frozen=True)
class NestedGroups:
    """All jobs in the deepest of nested tree groups."""

    deep: int = 3
    """Below the root: each job counts in one more."""

    def new_groups(self) -> list[NewGroup]:
        return [
            NewGroup(group_id=depth, parent_id=depth - 1, name=f"level{depth}")
            for depth in range(1, self.deep + 1)
        ]

    def columns(self, first: int, count: int) -> GroupColumns:  # noqa: ARG002 (all sit in one)
        return GroupColumns([self.deep])


NESTED = NestedGroups()


class Filler:
    """Submits batches as role `weft_api`; `rates` are jobs per second, commit included."""

    def __init__(self, dsn: str, token: str) -> None:
        self._dsn = dsn
        self._token = token
        self._open = AsyncExitStack()
        self._store: ApiStore | None = None
        self._caller: Caller | None = None
        self.rates: list[float] = []
        self.commit_ms: list[float] = []
        specs = [JobSpec(command=("/bin/true",), trace_id=TRACE_ID)] * CHUNK_JOBS_MAX
        self._chunk = encode_chunk(specs)

    async def __aenter__(self) -> Self:
        self._store = await self._open.enter_async_context(open_api_store(self._dsn))
        self._caller = await self._store.authenticate(self._token)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    @property
    def opened(self) -> tuple[ApiStore, Caller]:
        """Return the store and the user."""
        if self._store is None or self._caller is None:
            raise BenchFailed("the throw-away server does not know its own user")
        return self._store, self._caller

    async def fill(
        self, jobs: int, layout: Layout = NESTED, *, in_arrays: int = 0, keys: int = 0,
        lifecycle: str | None = None,
    ) -> int:  # fmt: skip
        """Submit one batch with this many jobs, in groups as the layout says; return its number.

        `in_arrays`: number of jobs that come as arrays. `keys`: number of concurrency keys that
        every other job has one of; two jobs with one run at a time.
        """
        store, caller = self.opened
        begun = time.perf_counter()
        new = NewBatch(name="bench", trace_id=TRACE_ID, lifecycle=lifecycle)
        batch_id, _ = await store.create_batch(caller, new, idempotency_key=None, digest=b"")
        groups = layout.new_groups()
        reserved, _ = await store.create_update(
            caller, batch_id, n_jobs=jobs, n_groups=len(groups), idempotency_key=None, digest=b"",
            trace_id=TRACE_ID,
        )  # fmt: skip
        await store.add_groups(caller, batch_id, reserved.update_id, groups)
        bunches = chain(
            self._arrays(in_arrays, layout), self.bunches(in_arrays + 1, jobs, layout, keys)
        )

        async def send() -> None:
            for bunch in bunches:
                await store.add_jobs(caller, batch_id, reserved.update_id, bunch)

        await asyncio.gather(*(send() for _ in range(PARALLEL)))
        filled = time.perf_counter()
        await store.commit_update(caller, batch_id, reserved.update_id)
        self.commit_ms.append((time.perf_counter() - filled) * 1000)
        self.rates.append(jobs / (time.perf_counter() - begun))
        return batch_id

    def _arrays(self, jobs: int, layout: Layout) -> Iterator[JobRows]:
        spec = JobSpec(command=("/bin/true",), trace_id=TRACE_ID)
        for first in range(1, jobs + 1, ARRAY_JOBS):
            count = min(ARRAY_JOBS, jobs - first + 1)
            where = layout.columns(first, 1)
            yield JobRows(
                first_job=first, n_jobs=count, shapes=[SHAPE], shape_index=[0],
                group_id=where.group_id, combo_index=where.combo_index,
                combo_number=where.combo_number, combo_set=where.combo_set,
                priority=[0], always_run=[False], max_attempts=[1], retry_on=[0],
                chunk_first=[first], chunk_n=[count],
                chunk_body=[encode_array(spec, ArrayRange(first - 1, count))],
                entry_n=[count],
                arrays=[ArrayRow(first_job=first, n_jobs=count, first_index=first - 1)],
            )  # fmt: skip

    def bunches(self, begin: int, jobs: int, layout: Layout, keys: int) -> Iterator[JobRows]:
        """Yield the rows of single jobs from this number on."""
        for first in range(begin, jobs + 1, BUNCH_JOBS):
            count = min(BUNCH_JOBS, jobs - first + 1)
            starts = range(0, count, CHUNK_JOBS_MAX)
            where = layout.columns(first, count)
            limited = range(first + first % 2, first + count, 2) if keys else range(0)
            yield JobRows(
                first_job=first, n_jobs=count, shapes=[SHAPE], shape_index=[0],
                group_id=where.group_id, combo_index=where.combo_index,
                combo_number=where.combo_number, combo_set=where.combo_set,
                priority=[0], always_run=[False], max_attempts=[1], retry_on=[0],
                chunk_first=[first + start for start in starts],
                chunk_n=[min(CHUNK_JOBS_MAX, count - start) for start in starts],
                chunk_body=[self._chunk] * len(starts), rare_job=list(limited),
                rare_fields=[_with_key(job // 2 % keys) for job in limited],
            )  # fmt: skip


def _with_key(number: int) -> dict[str, Any]:
    """Return the rare fields of a job with a concurrency key, as the api makes them."""
    limit = ConcurrencyKey(f"key-{number}", KEY_PLACES)
    gate = JOB_GATES["concurrency_key"].gate(limit)
    return {"concurrency_key": msgspec.to_builtins(limit), "gates": [msgspec.to_builtins(gate)]}
