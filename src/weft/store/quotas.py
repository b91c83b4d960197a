"""The quotas of tenants and users, in the api's store."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import calls, documents, value


class Quotas(StorePart):
    """How much users may have: jobs that have not ended, batches that have such jobs or none yet,
    cores of running jobs, and bytes that are stored.

    A submission, a new batch, a commit, or what is sent before one raises `QuotaExceeded` if it
    would exceed a quota, and changes nothing; those at the same time count each other. What a user
    has is what their batches have. Jobs that were submitted while there was a quota of cores are
    not offered while it is used; one that asks for more than all of it is refused. Stored are
    specs and payloads that were sent, and what attempts that have ended have written; the last may
    exceed the quota, then nothing more comes.
    """

    @calls(documents, of_user_id=lambda caller: None if caller.sees_tenant else caller.user_id)
    async def list_quotas(self, caller: Caller) -> Sequence[Row]:
        """Return `kind, name`, the limits `jobs, batches, cores, bytes`, and what is used of them,
        `n_jobs, n_batches, n_cores, n_bytes`, of the tenant, of each user, and of users; only
        their own for somebody who does not see the tenant.
        """

    @calls(value, user="of_name")
    async def set_quota(self, caller: Caller, user: str | None, patch: Mapping[str, Any]) -> Row:
        """Change `jobs`, `batches`, `cores` or `bytes` (None: no limit) of a user, or of each;
        return the limits. What is there stays. Raise `UserNotFound`.
        """

    @calls(value, caller=None, tenant="of_name")
    async def set_tenant_quota(self, caller: Caller, tenant: str, patch: Mapping[str, Any]) -> Row:
        """Change `jobs`, `batches`, `cores` or `bytes` of all users of a tenant together; return
        the limits. Raise `TenantNotFound`.
        """
