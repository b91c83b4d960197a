"""The part of `ApiStore` that shares batches."""

from collections.abc import Collection, Sequence
from typing import Final

from weft.core.access.permissions import Permission
from weft.ports.store import Caller, Row
from weft.store.database import Database
from weft.store.documents import with_words

AFTER_ALL: Final = (2**63 - 1, 2**31 - 1)


class Permissions:
    """The api's calls about permissions. The methods are documented at the port."""

    _database: Database

    async def share_batch(
        self,
        caller: Caller,
        batch_id: int,
        user: str,
        permission: Permission | None,
        *,
        said: str | None = None,
    ) -> Row:
        """Share a batch, or share it no longer."""
        document: Row = await self._database.value(
            "share_batch",
            caller=caller,
            batch_id=batch_id,
            of_user=user,
            permission=permission,
            actor=f"user {caller.user_name}",
            said=said,
        )
        return document

    async def share_job(
        self, caller: Caller, batch_id: int, job_id: int, user: str, permission: Permission | None
    ) -> Row:
        """Share a job, or share it no longer."""
        document: Row = await self._database.value(
            "share_job",
            caller=caller,
            batch_id=batch_id,
            job_id=job_id,
            of_user=user,
            permission=permission,
            actor=f"user {caller.user_name}",
        )
        return document

    async def list_job_permissions(
        self, caller: Caller, batch_id: int, job_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom a job is shared."""
        rows = await self._database.call(
            "list_job_permissions",
            caller=caller,
            batch_id=batch_id,
            job_id=job_id,
            after=after,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

    async def list_shared_jobs(
        self, caller: Caller, *, before: tuple[int, int] | None, limit: int
    ) -> Sequence[Row]:
        """Return jobs that were shared with the caller."""
        batch_id, job_id = before or AFTER_ALL
        rows = await self._database.call(
            "list_shared_jobs",
            caller=caller,
            of_user_id=caller.user_id,
            before_batch=batch_id,
            before_job=job_id,
            limit_rows=limit,
        )
        return [with_words(row[0]) for row in rows]

    async def sees_batch(self, caller: Caller, batch_id: int) -> bool:
        """Return whether the caller sees all of it."""
        return bool(await self._database.value("sees_batch", caller=caller, batch_id=batch_id))

    async def list_allowed(self, caller: Caller, batch_ids: Sequence[int]) -> Collection[int]:
        """Return the numbers of batches."""
        rows = await self._database.call("list_allowed", caller=caller, batch_ids=list(batch_ids))
        return frozenset(row[0] for row in rows)

    async def list_permissions(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom a batch is shared."""
        rows = await self._database.call(
            "list_permissions", caller=caller, batch_id=batch_id, after=after, limit_rows=limit
        )
        return [row[0] for row in rows]
