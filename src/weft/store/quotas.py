"""The part of `ApiStore` for quotas."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store import Caller, Row
from weft.store.database import Database


class Quotas:
    """How much users may have: jobs that have not ended, batches that have such jobs or none yet,
    cores of running jobs, and bytes that are stored.

    A submission, a new batch, a commit, or what is sent before one raises `QuotaExceeded` if it
    would exceed a quota, and changes nothing; those at the same time count each other. What a user
    has is what their batches have. Jobs that
    were submitted while there was a quota of cores are not offered while it is used; one that asks
    for more than all of it is refused. Stored are specs and payloads that were sent, and what
    attempts that have ended have written; the last may exceed the quota, then nothing more comes.
    """

    _database: Database

    async def list_quotas(self, caller: Caller) -> Sequence[Row]:
        """Return `kind, name`, the limits `jobs, batches, cores, bytes`, and what is used of them,
        `n_jobs, n_batches, n_cores, n_bytes`, of the tenant, of each user, and of users; only
        their own for somebody who does not see the tenant.
        """
        rows = await self._database.call(
            "list_quotas",
            caller=caller,
            of_user_id=None if caller.sees_tenant else caller.user_id,
        )
        return [row[0] for row in rows]

    async def set_quota(self, caller: Caller, user: str | None, patch: Mapping[str, Any]) -> Row:
        """Change `jobs`, `batches`, `cores` or `bytes` (None: no limit) of a user, or of each;
        return the limits. What is there stays. Raise `UserNotFound`.
        """
        document: Row = await self._database.value(
            "set_quota", caller=caller, of_name=user, patch=patch
        )
        return document

    async def set_tenant_quota(
        self,
        caller: Caller,  # noqa: ARG002 (the route has asked for their right)
        tenant: str,
        patch: Mapping[str, Any],
    ) -> Row:
        """Change `jobs`, `batches`, `cores` or `bytes` of all users of a tenant together; return
        the limits. Raise `TenantNotFound`.
        """
        document: Row = await self._database.value("set_tenant_quota", of_name=tenant, patch=patch)
        return document
