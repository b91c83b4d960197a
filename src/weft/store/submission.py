"""The half of `ApiStore` that takes batches, updates, groups and jobs."""

from collections.abc import Sequence
from typing import Any

import asyncpg

from weft.ports.store import Caller, GroupLimits, JobRows, NewBatch, NewGroup, Reserved, Row
from weft.store.database import Database
from weft.wire.spec import decode_chunk


class SubmissionCalls:
    """The api's calls that create things. The methods are documented at the port."""

    def __init__(self, database: Database, limits: GroupLimits) -> None:
        self._database = database
        self._limits = limits

    async def create_batch(
        self, caller: Caller, new: NewBatch, *, idempotency_key: str | None, digest: bytes
    ) -> tuple[int, bool]:
        """Create an empty batch."""
        (row,) = await self._database.call(
            "create_batch", **_batch(caller, new, idempotency_key, digest)
        )
        return row["batch_id"], row["is_new"]

    async def submit(
        self,
        caller: Caller,
        new: NewBatch | int,
        groups: Sequence[NewGroup],
        jobs: JobRows | None,
        *,
        idempotency_key: str | None,
        digest: bytes,
        trace_id: str,
    ) -> tuple[int, Reserved, bool]:
        """Create a batch with one committed update, or add such an update to a batch.

        One transaction.
        """
        (row,) = await self._database.call(
            "submit",
            tenant_id=caller.tenant_id,
            user_id=caller.user_id,
            trace_id=trace_id,
            idempotency_key=idempotency_key,
            digest=digest,
            **_submitted_batch(new),
            **_submitted_groups(groups),
            depth_max=self._limits.depth_max,
            groups_max=self._limits.batch_groups_max,
            **_submitted_jobs(jobs or NO_JOBS),
        )
        return row["batch_id"], _reserved(row), row["is_new"]

    async def create_update(
        self,
        caller: Caller,
        batch_id: int,
        *,
        n_jobs: int,
        n_groups: int,
        idempotency_key: str | None,
        digest: bytes,
        trace_id: str,
    ) -> tuple[Reserved, bool]:
        """Reserve contiguous numbers."""
        (row,) = await self._database.call(
            "create_update",
            tenant_id=caller.tenant_id,
            user_id=caller.user_id,
            batch_id=batch_id,
            new_jobs=n_jobs,
            new_groups=n_groups,
            trace_id=trace_id,
            idempotency_key=idempotency_key,
            digest=digest,
            groups_max=self._limits.batch_groups_max,
        )
        return _reserved(row), row["is_new"]

    async def get_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Return the numbers that an update reserved."""
        (row,) = await self._database.call(
            "get_update", tenant_id=caller.tenant_id, batch_id=batch_id, of_update_id=update_id
        )
        return _reserved(row)

    async def add_groups(
        self,
        caller: Caller,
        batch_id: int,
        update_id: int,
        groups: Sequence[NewGroup],
        *,
        idempotency_key: str | None = None,
        digest: bytes = b"",
    ) -> bool:
        """Add groups to an open update."""
        return bool(
            await self._database.value(
                "add_groups",
                tenant_id=caller.tenant_id,
                batch_id=batch_id,
                update_id=update_id,
                **_groups(groups),
                depth_max=self._limits.depth_max,
                idempotency_key=idempotency_key,
                digest=digest,
            )
        )

    async def add_jobs(
        self,
        caller: Caller,
        batch_id: int,
        update_id: int,
        jobs: JobRows,
        *,
        idempotency_key: str | None = None,
        digest: bytes = b"",
    ) -> bool | None:
        """Add a bunch to an open update."""
        is_new: bool | None = await self._database.value(
            "add_jobs",
            **_bunch(caller, batch_id, update_id, jobs),
            idempotency_key=idempotency_key,
            digest=digest,
        )
        return is_new

    async def get_bunch(
        self, caller: Caller, batch_id: int, update_id: int, *, first_job: int, n_jobs: int
    ) -> Sequence[Row]:
        """Return the jobs of a bunch."""
        rows = await self._database.call(
            "get_bunch",
            tenant_id=caller.tenant_id,
            of_batch_id=batch_id,
            of_update_id=update_id,
            first_position=first_job,
            n_jobs=n_jobs,
        )
        chunks = await self._database.call(
            "get_specs",
            tenant_id=caller.tenant_id,
            of_batch_id=batch_id,
            first_jobs=sorted({row["spec_first"] for row in rows}),
        )
        specs = {row["first_job"]: decode_chunk(row["body"]) for row in chunks}
        return [
            {
                **row,
                "group": row["group_id"],
                "groups": row["set_ids"],
                "spec": specs[row["spec_first"]][row["job_id"] - row["spec_first"]],
            }
            for row in rows
        ]

    async def commit_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Make the update visible and runnable."""
        (row,) = await self._database.call(
            "commit_update", tenant_id=caller.tenant_id, batch_id=batch_id, of_update_id=update_id
        )
        return _reserved(row)


def _reserved(row: asyncpg.Record) -> Reserved:
    return Reserved(
        update_id=row["update_id"],
        first_job=row["first_job"],
        first_group=row["first_group"],
        n_jobs=row["n_jobs"],
        n_groups=row["n_groups"],
        committed=row["committed"],
    )


def _batch(
    caller: Caller, new: NewBatch, idempotency_key: str | None, digest: bytes
) -> dict[str, Any]:
    return {
        "tenant_id": caller.tenant_id,
        "user_id": caller.user_id,
        "name": new.name,
        "billing_project": new.billing_project,
        "attributes": dict(new.attributes),
        "callback": new.callback,
        "cancel_after_n_failures": new.cancel_after_n_failures,
        "max_running": new.max_running,
        "trace_id": new.trace_id,
        "idempotency_key": idempotency_key,
        "digest": digest,
    }


def _submitted_batch(new: NewBatch | int) -> dict[str, Any]:
    """Return the arguments of `submit` for a new batch, or for one that is there."""
    batch = None if isinstance(new, int) else new
    return {
        "of_batch_id": new if batch is None else None,
        "batch_name": batch and batch.name,
        "batch_billing_project": batch and batch.billing_project,
        "batch_attributes": dict(batch.attributes) if batch else {},
        "batch_callback": batch and batch.callback,
        "batch_cancel_after": batch and batch.cancel_after_n_failures,
        "batch_max_running": batch and batch.max_running,
    }


def _submitted_groups(groups: Sequence[NewGroup]) -> dict[str, Any]:
    columns = _groups(groups)
    columns["group_names"] = columns.pop("names")
    columns["group_attributes"] = columns.pop("attributes")
    return columns


def _groups(groups: Sequence[NewGroup]) -> dict[str, Any]:
    return {
        "group_ids": [group.group_id for group in groups],
        "parent_ids": [group.parent_id for group in groups],
        "names": [group.name for group in groups],
        "attributes": [dict(group.attributes) for group in groups],
        "cancel_afters": [group.cancel_after_n_failures for group in groups],
        "callbacks": [group.callback for group in groups],
        "are_sets": [group.is_set for group in groups],
    }


NO_JOBS = JobRows(
    first_job=1,
    n_jobs=0,
    shapes=[],
    shape_index=[],
    group_id=[],
    priority=[],
    always_run=[],
    max_attempts=[],
    retry_on=[],
)


def _submitted_jobs(jobs: JobRows) -> dict[str, Any]:
    columns = _jobs(jobs)
    columns["new_jobs"] = jobs.n_jobs
    columns["job_group_ids"] = columns.pop("group_ids")
    return columns


def _bunch(caller: Caller, batch_id: int, update_id: int, jobs: JobRows) -> dict[str, Any]:
    return {
        "tenant_id": caller.tenant_id,
        "batch_id": batch_id,
        "update_id": update_id,
        "first_job": jobs.first_job,
        "n_jobs": jobs.n_jobs,
        **_jobs(jobs),
    }


def _jobs(jobs: JobRows) -> dict[str, Any]:
    columns = {
        "shape_cpu_ms": [shape.cpu_m for shape in jobs.shapes],
        "shape_memory_mibs": [shape.memory_mib for shape in jobs.shapes],
        "shape_storage_mibs": [shape.storage_mib for shape in jobs.shapes],
        "shape_gpus": [shape.gpu for shape in jobs.shapes],
        "shape_countables": [dict(shape.countables + shape.words) for shape in jobs.shapes],
        "shape_indexes": jobs.shape_index,
        "group_ids": jobs.group_id,
        "priorities": jobs.priority,
        "always_runs": jobs.always_run,
        "max_attempts": jobs.max_attempts,
        "retry_ons": jobs.retry_on,
        "edge_children": jobs.edge_child,
        "edge_parents": jobs.edge_parent,
        "label_jobs": jobs.label_job,
        "label_names": jobs.label_name,
        "label_attributes": jobs.label_attributes,
        "chunk_firsts": jobs.chunk_first,
        "chunk_ns": jobs.chunk_n,
        "chunk_bodies": jobs.chunk_body,
        "combo_indexes": jobs.combo_index,
        "combo_numbers": jobs.combo_number,
        "combo_sets": jobs.combo_set,
    }
    return columns | _arrays(jobs) if jobs.entry_n else columns


def _arrays(jobs: JobRows) -> dict[str, Any]:
    return {
        "entry_ns": jobs.entry_n,
        "edge_parent_ns": jobs.edge_parent_n,
        "array_firsts": [array.first_job for array in jobs.arrays],
        "array_ns": [array.n_jobs for array in jobs.arrays],
        "array_indexes": [array.first_index for array in jobs.arrays],
        "array_names": [array.name for array in jobs.arrays],
        "array_attributes": [array.attributes for array in jobs.arrays],
    }
