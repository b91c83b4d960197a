"""The part of `ApiStore` that changes what is there."""

from collections.abc import Sequence

from weft.ports.store import Caller, EditLimits, Patch, Row
from weft.store.database import Database


class Edits:
    """What the api asks to change. The methods are documented at the port."""

    _database: Database

    async def edit_group(
        self, caller: Caller, batch_id: int, group_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name and attributes of a group."""
        return bool(
            await self._database.value(
                "edit_group",
                tenant_id=caller.tenant_id,
                batch_id=batch_id,
                group_id=group_id,
                patch=dict(patch),
                attributes_max=limits.attributes_max,
                groups_max=limits.rename_groups_max,
                actor=f"user {caller.user_name}",
            )
        )

    async def edit_job(
        self, caller: Caller, batch_id: int, job_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name and attributes of a job."""
        return bool(
            await self._database.value(
                "edit_job",
                tenant_id=caller.tenant_id,
                batch_id=batch_id,
                job_id=job_id,
                patch=dict(patch),
                attributes_max=limits.attributes_max,
                actor=f"user {caller.user_name}",
            )
        )

    async def group_history(
        self, caller: Caller, batch_id: int, group_id: int, *, before: int | None, limit: int
    ) -> Sequence[Row]:
        """Return history documents of a group."""
        rows = await self._database.call(
            "group_history",
            tenant_id=caller.tenant_id,
            batch_id=batch_id,
            group_id=group_id,
            before=before,
            limit_rows=limit,
        )
        return [row[0] for row in rows]
