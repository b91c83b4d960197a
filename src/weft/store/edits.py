"""The part of `ApiStore` that changes existing batches, groups and jobs."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store import Caller, EditLimits, Patch, Row
from weft.store.database import Database


class Edits:
    """The api's calls that change things. The methods are documented at the port."""

    _database: Database

    async def edit_group(
        self, caller: Caller, batch_id: int, group_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name and attributes of a group."""
        return bool(
            await self._database.value(
                "edit_group",
                caller=caller,
                batch_id=batch_id,
                group_id=group_id,
                patch=dict(patch),
                attributes_max=limits.attributes_max,
                groups_max=limits.rename_groups_max,
                actor=f"user {caller.user_name}",
            )
        )

    async def prioritize_group(
        self, caller: Caller, batch_id: int, group_id: int, *, patch: Patch, limits: EditLimits,
        trace_id: str,
    ) -> int:  # fmt: skip
        """Begin to change the priority of a group."""
        return int(
            await self._database.value(
                "prioritize_group",
                caller=caller,
                user_id=caller.user_id,
                batch_id=batch_id,
                group_id=group_id,
                patch=dict(patch),
                attributes_max=limits.attributes_max,
                groups_max=limits.rename_groups_max,
                actor=f"user {caller.user_name}",
                trace_id=trace_id,
            )
        )

    async def edit_job(
        self, caller: Caller, batch_id: int, job_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name, attributes and priority of a job."""
        return bool(
            await self._database.value(
                "edit_job",
                caller=caller,
                batch_id=batch_id,
                job_id=job_id,
                patch=dict(patch),
                attributes_max=limits.attributes_max,
                actor=f"user {caller.user_name}",
            )
        )

    async def retry_jobs(
        self, caller: Caller, batch_id: int, *, job_ids: Sequence[int] | None, query: str | None,
        within_group: int | None, trace_id: str, idempotency_key: str | None, digest: bytes,
        cause_id: int | None = None,
    ) -> int:  # fmt: skip
        """Begin to run failed jobs again."""
        return int(
            await self._database.value(
                "retry_jobs",
                caller=caller,
                user_id=caller.user_id,
                batch_id=batch_id,
                job_ids=None if job_ids is None else list(job_ids),
                query=query,
                within_group=within_group,
                cause_id=cause_id,
                actor=f"user {caller.user_name}",
                trace_id=trace_id,
                idempotency_key=idempotency_key,
                digest=digest,
            )
        )

    async def hide_batch(self, caller: Caller, batch_id: int, *, hidden: bool) -> bool:
        """Hide a batch, or show it again."""
        return bool(
            await self._database.value(
                "hide_batch",
                caller=caller,
                batch_id=batch_id,
                hidden=hidden,
                actor=f"user {caller.user_name}",
            )
        )

    async def resubmit_batch(
        self, caller: Caller, batch_id: int, *, failed: bool, changes: Mapping[str, Any],
        trace_id: str, idempotency_key: str | None, digest: bytes,
    ) -> int:  # fmt: skip
        """Begin to make a new batch from this one."""
        return int(
            await self._database.value(
                "resubmit_batch",
                caller=caller,
                user_id=caller.user_id,
                batch_id=batch_id,
                failed=failed,
                changes={"batch": {}, **changes},
                actor=f"user {caller.user_name}",
                trace_id=trace_id,
                idempotency_key=idempotency_key,
                digest=digest,
            )
        )

    async def hold_group(self, caller: Caller, batch_id: int, group_id: int) -> bool:
        """Hold a group."""
        return await self._change_hold("hold_group", caller, batch_id, group_id)

    async def release_group(self, caller: Caller, batch_id: int, group_id: int) -> bool:
        """Release a group."""
        return await self._change_hold("release_group", caller, batch_id, group_id)

    async def _change_hold(
        self, function: str, caller: Caller, batch_id: int, group_id: int
    ) -> bool:
        return bool(
            await self._database.value(
                function,
                caller=caller,
                batch_id=batch_id,
                group_id=group_id,
                actor=f"user {caller.user_name}",
            )
        )

    async def hold_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Hold single jobs."""
        return await self._change_holds("hold_jobs", caller, batch_id, job_ids)

    async def release_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Release single jobs."""
        return await self._change_holds("release_jobs", caller, batch_id, job_ids)

    async def _change_holds(
        self, function: str, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        rows = await self._database.call(
            function,
            caller=caller,
            batch_id=batch_id,
            job_ids=list(job_ids),
            actor=f"user {caller.user_name}",
        )
        return {row["job_id"]: row["outcome"] for row in rows}

    async def group_history(
        self, caller: Caller, batch_id: int, group_id: int, *, before: int | None, limit: int
    ) -> Sequence[Row]:
        """Return history documents of a group."""
        rows = await self._database.call(
            "group_history",
            caller=caller,
            batch_id=batch_id,
            group_id=group_id,
            before=before,
            limit_rows=limit,
        )
        return [row[0] for row in rows]
