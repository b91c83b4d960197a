"""The part of the store that shares batches."""

from collections.abc import Collection, Sequence
from typing import Protocol

from weft.core.access.permissions import Permission
from weft.ports.store.callers import Caller, Row


class PermissionStore(Protocol):
    """What users may do with batches of others."""

    async def share_batch(
        self,
        caller: Caller,
        batch_id: int,
        user: str,
        permission: Permission | None,
        *,
        said: str | None = None,
    ) -> Row:
        """Let a user of the tenant do this with a batch, instead of what they could; None: nothing
        more. Return `batch_id, user_id, user, permission, granted_by, granted_at`. `said`: what
        the client of a door called it, kept in the history: `bob: all (WRITE)`.

        Raise `BatchNotFound`, `PermissionMissing`, `UserNotFound`.
        """

    async def share_job(
        self, caller: Caller, batch_id: int, job_id: int, user: str, permission: Permission | None
    ) -> Row:
        """Do what `share_batch` does with one job; the row also has its `job_id`.

        Raise `BatchNotFound`, `JobNotFound`, `PermissionMissing`, `UserNotFound`.
        """

    async def list_job_permissions(
        self, caller: Caller, batch_id: int, job_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom one job is shared, as `share_job` does, after a user number.

        Raise `BatchNotFound`, `JobNotFound`.
        """

    async def list_shared_jobs(
        self, caller: Caller, *, before: tuple[int, int] | None, limit: int
    ) -> Sequence[Row]:
        """Return the documents of single jobs that were shared with the caller, with `permission,
        granted_by, granted_at`, below a batch and job number, the highest first.
        """

    async def sees_batch(self, caller: Caller, batch_id: int) -> bool:
        """Return whether the caller sees the whole batch; False: single jobs of it alone.

        Raise `BatchNotFound`.
        """

    async def list_allowed(self, caller: Caller, batch_ids: Sequence[int]) -> Collection[int]:
        """Return on which of these batches the caller may do what the request needs."""

    async def list_permissions(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom a batch is shared, as `share_batch` does, after a user number.

        Raise `BatchNotFound`.
        """
