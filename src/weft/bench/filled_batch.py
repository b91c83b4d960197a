"""Batches full of jobs, made by the functions that the api calls."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any, Self

from weft.bench.plan import BenchFailed
from weft.ports.store import Caller, JobRows, NewBatch, NewGroup, Origin, Shape
from weft.store import ApiStore, open_api_store
from weft.wire.spec import CHUNK_JOBS_MAX, JobSpec, encode_chunk

BUNCH_JOBS = 10_000
PARALLEL = 2
SHAPE = Shape(cpu_m=1000, memory_mib=512)
TRACE_ID = "0" * 32
Columns = dict[str, Any]
"""The columns of `JobRows` that say where jobs sit."""


class NestedGroups:
    """All jobs in the deepest of nested tree groups: below the root, each counts in one more."""

    def __init__(self, deep: int = 3) -> None:
        self.deep = deep

    def new_groups(self) -> list[NewGroup]:
        """Return the groups of the batch."""
        return [
            NewGroup(group_id=depth, parent_id=depth - 1, name=f"level{depth}")
            for depth in range(1, self.deep + 1)
        ]

    def columns(self, first: int, count: int) -> Columns:  # noqa: ARG002 (all sit in one)
        """Return where these consecutive jobs sit."""
        return {"group_id": [self.deep]}


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
        self,
        jobs: int,
        layout: NestedGroups = NESTED,
        *,
        rows: Iterator[JobRows] | None = None,
        lifecycle: str | None = None,
    ) -> int:
        """Submit one batch with this many jobs, in groups as the layout says; return its number.

        `rows`: other ones than single jobs.
        """
        store, caller = self.opened
        begun = time.perf_counter()
        new = NewBatch(name="bench", lifecycle=lifecycle)
        origin = Origin(trace_id=TRACE_ID)
        batch_id, _ = await store.create_batch(caller, new, origin)
        groups = layout.new_groups()
        reserved, _ = await store.create_update(
            caller, batch_id, origin, n_jobs=jobs, n_groups=len(groups)
        )
        await store.add_groups(caller, batch_id, reserved.update_id, groups)
        bunches = rows or self.bunches(1, jobs, layout)

        async def send() -> None:
            for bunch in bunches:
                await store.add_jobs(caller, batch_id, reserved.update_id, bunch)

        await asyncio.gather(*(send() for _ in range(PARALLEL)))
        filled = time.perf_counter()
        await store.commit_update(caller, batch_id, reserved.update_id)
        self.commit_ms.append((time.perf_counter() - filled) * 1000)
        self.rates.append(jobs / (time.perf_counter() - begun))
        return batch_id

    def bunches(self, begin: int, jobs: int, layout: NestedGroups) -> Iterator[JobRows]:
        """Yield the rows of single jobs from this number on."""
        for first in range(begin, jobs + 1, BUNCH_JOBS):
            count = min(BUNCH_JOBS, jobs - first + 1)
            starts = range(0, count, CHUNK_JOBS_MAX)
            yield JobRows(
                first_job=first,
                n_jobs=count,
                shapes=[SHAPE],
                shape_index=[0],
                priority=[0],
                always_run=[False],
                max_attempts=[1],
                retry_on=[0],
                chunk_first=[first + start for start in starts],
                chunk_n=[min(CHUNK_JOBS_MAX, count - start) for start in starts],
                chunk_body=[self._chunk] * len(starts),
                **layout.columns(first, count),
            )
