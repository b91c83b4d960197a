"""The half of `ApiStore` that takes batches, updates, groups and jobs."""

from collections.abc import Sequence
from typing import Any

import asyncpg

from weft.ports.store import Caller, GroupLimits, JobRows, NewBatch, NewGroup, Reserved, Row
from weft.store.database import Database
from weft.wire.payload import PART_BYTES
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
            "create_batch",
            caller=caller,
            user_id=caller.user_id,
            batch=_batch(new),
            trace_id=new.trace_id,
            idempotency_key=idempotency_key,
            digest=digest,
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
            caller=caller,
            user_id=caller.user_id,
            of_batch_id=new if isinstance(new, int) else None,
            batch=None if isinstance(new, int) else _batch(new),
            groups=_groups(groups) if groups else None,
            new_jobs=jobs.n_jobs if jobs else 0,
            jobs=job_columns(jobs) if jobs else None,
            depth_max=self._limits.depth_max,
            groups_max=self._limits.batch_groups_max,
            trace_id=trace_id,
            idempotency_key=idempotency_key,
            digest=digest,
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
            caller=caller,
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
            "get_update", caller=caller, batch_id=batch_id, of_update_id=update_id
        )
        return _reserved(row)

    async def last_group_of_update(self, caller: Caller, batch_id: int, update_id: int) -> int:
        """Return the position of the last group that was added to an update."""
        return int(
            await self._database.value(
                "last_group_of_update",
                caller=caller,
                of_batch_id=batch_id,
                of_update_id=update_id,
            )
        )

    async def add_groups(
        self,
        caller: Caller,
        batch_id: int,
        update_id: int,
        groups: Sequence[NewGroup],
        *,
        idempotency_key: str | None = None,
        digest: bytes = b"",
        depth_max: int | None = None,
    ) -> bool:
        """Add groups to an open update."""
        return bool(
            await self._database.value(
                "add_groups",
                caller=caller,
                batch_id=batch_id,
                update_id=update_id,
                **_groups(groups),
                depth_max=min(depth_max or self._limits.depth_max, self._limits.depth_max),
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
            caller=caller,
            of_batch_id=batch_id,
            of_update_id=update_id,
            first_position=first_job,
            n_jobs=n_jobs,
        )
        chunks = await self._database.call(
            "get_specs",
            caller=caller,
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

    async def add_payload_part(
        self, caller: Caller, batch_id: int, digest: bytes, part: int, body: bytes, *, n_bytes: int
    ) -> None:
        """Store a part of a payload."""
        await self._database.call(
            "add_payload_part",
            caller=caller,
            batch_id=batch_id,
            digest=digest,
            part=part,
            n_bytes=n_bytes,
            body=body,
        )

    async def missing_payloads(
        self, caller: Caller, batch_id: int, digests: Sequence[bytes]
    ) -> Sequence[bytes]:
        """Return those that the batch does not have whole."""
        rows = await self._database.call(
            "missing_payloads",
            caller=caller,
            of_batch_id=batch_id,
            digests=digests,
            part_bytes=PART_BYTES,
        )
        return [row[0] for row in rows]

    async def commit_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Make the update visible and runnable."""
        (row,) = await self._database.call(
            "commit_update", caller=caller, batch_id=batch_id, of_update_id=update_id
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


def _batch(new: NewBatch) -> dict[str, Any]:
    return {
        "name": new.name,
        "billing_project": new.billing_project,
        "attributes": new.attributes,
        "callback": new.callback,
        "cancel_after_n_failures": new.cancel_after_n_failures,
        "gates": new.gates,
        "door": new.door,
        "foreign_trace": new.foreign_trace,
        "foreign_id": new.foreign_id,
        "foreign_document": new.foreign_document,
        "foreign_kind": new.foreign_kind,
        "lifecycle": new.lifecycle,
        "sink": new.sink,
        "subscriptions": new.subscriptions,
        "output_keep_s": new.output_keep_s,
        "created_at": new.created_at and new.created_at.isoformat(),
        "ended_at": new.ended_at and new.ended_at.isoformat(),
    }


def _groups(groups: Sequence[NewGroup]) -> dict[str, Any]:
    """Return the fields of `weft.group_columns`."""
    return {
        "group_ids": [group.group_id for group in groups],
        "parent_ids": [group.parent_id for group in groups],
        "names": [group.name for group in groups],
        "attributes": [dict(group.attributes) for group in groups],
        "cancel_afters": [group.cancel_after_n_failures for group in groups],
        "callbacks": [group.callback for group in groups],
        "are_sets": [group.is_set for group in groups],
    }


def _bunch(caller: Caller, batch_id: int, update_id: int, jobs: JobRows) -> dict[str, Any]:
    return {
        "caller": caller,
        "batch_id": batch_id,
        "update_id": update_id,
        "first_job": jobs.first_job,
        "n_jobs": jobs.n_jobs,
        "jobs": job_columns(jobs),
    }


def job_columns(jobs: JobRows) -> dict[str, Any]:
    """Return the fields of `weft.job_columns`."""
    return {
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
        "edge_parent_ns": jobs.edge_parent_n,
        "combo_indexes": jobs.combo_index,
        "combo_numbers": jobs.combo_number,
        "combo_sets": jobs.combo_set,
        "entry_ns": jobs.entry_n,
        "array_firsts": [array.first_job for array in jobs.arrays],
        "array_ns": [array.n_jobs for array in jobs.arrays],
        "array_indexes": [array.first_index for array in jobs.arrays],
        "array_names": [array.name for array in jobs.arrays],
        "array_attributes": [array.attributes for array in jobs.arrays],
        "label_jobs": jobs.label_job,
        "label_names": jobs.label_name,
        "label_attributes": jobs.label_attributes,
        "rare_jobs": jobs.rare_job,
        "rare_fields": jobs.rare_fields,
        "chunk_firsts": jobs.chunk_first,
        "chunk_ns": jobs.chunk_n,
        "chunk_bodies": jobs.chunk_body,
        "output_keep_s": jobs.output_keep_s,
    }
