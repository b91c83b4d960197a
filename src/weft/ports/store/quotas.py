"""The calls of the api about quotas."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from weft.ports.store.callers import Caller, Row


class QuotaStore(Protocol):
    """How much users may have submitted that has not ended: jobs, and batches that have such jobs.

    A submission or a commit that would exceed a quota raises `QuotaExceeded` and changes nothing;
    those at the same time count each other. What a user has is what their batches have.
    """

    async def list_quotas(self, caller: Caller) -> Sequence[Row]:
        """Return `kind, name, jobs, batches, n_jobs, n_batches` of the tenant, of each user, and
        of users; only their own for somebody who does not see the tenant.
        """

    async def set_quota(self, caller: Caller, user: str | None, patch: Mapping[str, Any]) -> Row:
        """Change `jobs` or `batches` (None: no limit) of a user, or of each; return the limits.
        What was submitted stays. Raise `UserNotFound`.
        """

    async def set_tenant_quota(self, caller: Caller, tenant: str, patch: Mapping[str, Any]) -> Row:
        """Change `jobs` or `batches` of all users of a tenant together; return the limits. Raise
        `TenantNotFound`.
        """
