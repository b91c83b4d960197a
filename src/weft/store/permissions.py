"""Permissions of users for batches and jobs, in the api's store."""

from collections.abc import Collection, Sequence
from typing import Final

from weft.core.access.rights import Permission
from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import (
    actor,
    calls,
    documents,
    truth,
    user_id,
    value,
)
from weft.store.documents import all_with_words

AFTER_ALL: Final = (2**63 - 1, 2**31 - 1)


class Permissions(StorePart):
    """What users may do with batches and jobs of others."""

    @calls(value, user="of_user", actor=actor)
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

    @calls(value, user="of_user", actor=actor)
    async def share_job(
        self, caller: Caller, batch_id: int, job_id: int, user: str, permission: Permission | None
    ) -> Row:
        """Do what `share_batch` does with one job; the row also has its `job_id`.

        Raise `BatchNotFound`, `JobNotFound`, `PermissionMissing`, `UserNotFound`.
        """

    @calls(documents, limit="limit_rows")
    async def list_job_permissions(
        self, caller: Caller, batch_id: int, job_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom one job is shared, as `share_job` does, after a user number.

        Raise `BatchNotFound`, `JobNotFound`.
        """

    @calls(
        all_with_words,
        of_user_id=user_id,
        limit="limit_rows",
        before_batch=lambda before: (before or AFTER_ALL)[0],
        before_job=lambda before: (before or AFTER_ALL)[1],
    )
    async def list_shared_jobs(
        self, caller: Caller, *, before: tuple[int, int] | None, limit: int
    ) -> Sequence[Row]:
        """Return the documents of single jobs that were shared with the caller, with `permission,
        granted_by, granted_at`, below a batch and job number, the highest first.
        """

    @calls(truth)
    async def sees_batch(self, caller: Caller, batch_id: int) -> bool:
        """Return whether the caller sees the whole batch; False: single jobs of it alone.

        Raise `BatchNotFound`.
        """

    @calls(lambda rows: frozenset(row[0] for row in rows))
    async def list_allowed(self, caller: Caller, batch_ids: Sequence[int]) -> Collection[int]:
        """Return on which of these batches the caller may do what the request needs."""

    @calls(documents, limit="limit_rows")
    async def list_permissions(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom a batch is shared, as `share_batch` does, after a user number.

        Raise `BatchNotFound`.
        """
