"""The submissions of the api, in its store."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from weft.ports.store import (
    UNKEYED,
    Caller,
    GroupLimits,
    JobRows,
    NewBatch,
    NewGroup,
    Origin,
    Reserved,
    Row,
)
from weft.store.database import Database
from weft.store.declared import (
    KEYED,
    TRACED,
    calls,
    column,
    documents,
    filled,
    nothing,
    number,
    truth,
    user_id,
    value,
)
from weft.wire.payload import PART_BYTES
from weft.wire.spec import decode_chunk


def _batch(new: NewBatch) -> dict[str, Any]:
    """Return it with the names of the columns."""
    found = dict(vars(new))
    dates = {name: found[name] and found[name].isoformat() for name in ("created_at", "ended_at")}
    return {"unique_by": found.pop("unique"), **found, **dates}


def _depth_max(self: "SubmissionCalls", depth_max: int | None) -> int:
    return min(depth_max or self._limits.depth_max, self._limits.depth_max)


def _groups_max(self: "SubmissionCalls") -> int:
    return self._limits.batch_groups_max


_GROUPS: Final = {
    "group_ids": column("groups", "group_id"),
    "parent_ids": column("groups", "parent_id"),
    "names": column("groups", "name"),
    "attributes": column("groups", "attributes"),
    "cancel_afters": column("groups", "cancel_after_n_failures"),
    "callbacks": column("groups", "callback"),
    "are_sets": column("groups", "is_set"),
}
"""The fields of `weft.group_columns`."""


class SubmissionCalls:
    """The api's calls that create things."""

    def __init__(self, database: Database, limits: GroupLimits) -> None:
        self._database = database
        self._limits = limits

    @calls(
        lambda rows: (rows[0]["batch_id"], rows[0]["is_new"]),
        user_id=user_id,
        batch=_batch,
        **TRACED,
    )
    async def create_batch(
        self, caller: Caller, new: NewBatch, origin: Origin
    ) -> tuple[int, bool]:
        """Create an empty batch; return its number and whether it is new.

        Same key and digest: the existing number, False. Same key, another digest:
        `IdempotencyConflict`. Raise `ProjectNotFound` if the caller is no member of its billing
        project.
        """

    @calls(
        lambda rows: (rows[0]["batch_id"], filled(Reserved, rows[0]), rows[0]["added_at"]),
        user_id=user_id,
        of_batch_id=lambda new: new if isinstance(new, int) else None,
        batch=lambda new: None if isinstance(new, int) else _batch(new),
        groups=lambda groups: (
            {name: make(groups) for name, make in _GROUPS.items()} if groups else None
        ),
        new_jobs=lambda jobs: jobs.n_jobs if jobs else 0,
        jobs=lambda jobs: job_columns(jobs) if jobs else None,
        depth_max=lambda self: self._limits.depth_max,
        groups_max=_groups_max,
        **TRACED,
    )
    async def submit(
        self,
        caller: Caller,
        new: NewBatch | int,
        groups: Sequence[NewGroup],
        jobs: JobRows | None,
        origin: Origin,
    ) -> tuple[int, Reserved, datetime | None]:
        """Create a batch (or use an existing one), add one update with these groups and jobs,
        and commit it.

        One transaction. Numbers of groups, jobs and parents in `groups` and `jobs` are relative to
        the update and start at 1. An earlier job or group is referred to by its negative number
        (-7 is j7); group 0 is the root. Return the batch, the reserved numbers and when
        they were added; None: by an earlier call. Keys are as for `create_batch`. Raise as
        `create_batch`, `add_groups`, `add_jobs`, `commit_update`; no number is reserved then.
        """

    @calls(
        lambda rows: (filled(Reserved, rows[0]), rows[0]["is_new"]),
        user_id=user_id,
        n_jobs="new_jobs",
        n_groups="new_groups",
        groups_max=_groups_max,
        **TRACED,
    )
    async def create_update(
        self, caller: Caller, batch_id: int, origin: Origin, *, n_jobs: int, n_groups: int
    ) -> tuple[Reserved, bool]:
        """Reserve contiguous numbers for jobs and groups; return them and whether they are new.

        Keys are as for `create_batch`. Raise `BatchCancelled`, `BatchFull`, `TooManyGroups`.
        """

    @calls(value, batch_id="of_batch_id")
    async def get_key_answer(
        self, caller: Caller, batch_id: int, repeat_key: str | None, *, is_new: bool
    ) -> Row:
        """Return `skipped` if the submission with this idempotency key made no batch because this
        one has its key, and `replaced`, the batch that it replaced.
        """

    @calls(lambda rows: filled(Reserved, rows[0]), update_id="of_update_id")
    async def get_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Return the numbers that an update reserved. Raise `UpdateNotFound`."""

    @calls(number, batch_id="of_batch_id", update_id="of_update_id")
    async def last_group_of_update(self, caller: Caller, batch_id: int, update_id: int) -> int:
        """Return the position within an update of the last group that was added to it; 0: none.
        Raise `UpdateNotFound`.
        """

    @calls(truth, depth_max=_depth_max, **_GROUPS, **KEYED)
    async def add_groups(
        self,
        caller: Caller,
        batch_id: int,
        update_id: int,
        groups: Sequence[NewGroup],
        origin: Origin = UNKEYED,
        *,
        depth_max: int | None = None,
    ) -> bool:
        """Add groups to an open update, at most `depth_max` levels below the root, or as many as
        the setting says; return whether any of them is new.

        Numbers are relative as in `submit`. A repeat does nothing. Raise `IdempotencyConflict` if
        the key was used with another digest, `BunchDiffers` if a number belongs to another group,
        `UpdateNotFound`, `UpdateCommitted`, `OutsideUpdate`, `GroupNotFound` for a parent,
        `GroupExists`, `GroupTooDeep`.
        """

    async def add_jobs(
        self,
        caller: Caller,
        batch_id: int,
        update_id: int,
        jobs: JobRows,
        origin: Origin = UNKEYED,
    ) -> bool | None:
        """Add a bunch to an open update; return True.

        Numbers are relative as in `submit`. A repeat of the same jobs from the same body
        (`digest`) does nothing and returns False; None: another body has filled these numbers,
        see `get_bunch`. Raise `IdempotencyConflict` if the key was used with another digest,
        `BunchOverlap` if it has some of these numbers only, `UpdateNotFound`, `UpdateCommitted`,
        `OutsideUpdate`, `ParentNotFound`, `GroupNotFound`.
        """
        is_new: bool | None = await self._database.value(
            "add_jobs",
            **_bunch(caller, batch_id, update_id, jobs),
            idempotency_key=origin.key,
            digest=origin.digest,
        )
        return is_new

    async def get_bunch(
        self, caller: Caller, batch_id: int, update_id: int, *, first_job: int, n_jobs: int
    ) -> Sequence[Row]:
        """Return the jobs of an update from a position on, one row per job in order of their
        numbers, also before the commit: `job_id, cpu_m, memory_mib, storage_mib, gpu, group,
        groups, priority, always_run, max_attempts, retry_on, name, attributes, rare_fields,
        parents` with absolute numbers, negative if their end is enough, below -10^9 if their
        start is, above 10^9 of a share, and `spec`. Raise `UpdateNotFound`.
        """
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

    @calls(nothing)
    async def add_payload_part(
        self, caller: Caller, batch_id: int, digest: bytes, part: int, body: bytes, *, n_bytes: int
    ) -> None:
        """Store a part of a payload, once. Raise `BatchNotFound`, `BatchCancelled`."""

    @calls(documents, batch_id="of_batch_id", part_bytes=lambda: PART_BYTES)
    async def missing_payloads(
        self, caller: Caller, batch_id: int, digests: Sequence[bytes]
    ) -> Sequence[bytes]:
        """Return those of these payloads that the batch does not have whole."""

    @calls(lambda rows: filled(Reserved, rows[0]), update_id="of_update_id")
    async def commit_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Make the update visible and runnable; before, only `get_update` and `get_bunch` see it.

        A repeat gives the same answer. Raise `UpdateIncomplete`, which lists what is missing,
        `UpdateNotFound`, `BatchCancelled`.
        """


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
