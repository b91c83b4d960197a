"""Quotas of tenants and users."""

from collections.abc import Sequence

import msgspec

from weft.api.calls.call import call
from weft.api.calls.path_ids import (
    TenantName,
    UserName,
)
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.documents.quotas import Quota, QuotaEdit


@call("GET /v1/quotas", Right.READ, page=Quota)
async def list_quotas(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the quotas of the tenant and of users, with what they have of that: `kind, name,
    jobs, batches, cores, bytes, n_jobs, n_batches, n_cores, n_bytes`; to somebody who does not see
    the tenant's batches, their own.
    """
    return await services.store.list_quotas(caller)


@call("PATCH /v1/users/{user}/quota", Right.MANAGE, Quota, client="")
async def set_user_quota(
    services: Services, caller: Caller, user: UserName, edit: QuotaEdit
) -> Answer:
    """Change how much a user may have at a time. What is there stays."""
    return await set_quota(services, caller, user, edit)


@call("PATCH /v1/user-quota", Right.MANAGE, Quota, client="")
async def set_default_quota(services: Services, caller: Caller, edit: QuotaEdit) -> Answer:
    """Change how much each user may have at a time, unless their own quota says it."""
    return await set_quota(services, caller, None, edit)


async def set_quota(
    services: Services, caller: Caller, user: str | None, edit: QuotaEdit
) -> Answer:
    """Change the quota of a user, or of each; return its limits. Raise `UserNotFound`."""
    found = await services.store.set_quota(caller, user, msgspec.to_builtins(edit))
    return _told(caller, found)


@call("PATCH /v1/tenants/{tenant}/quota", Right.ADMINISTER, Quota, spread=False)
async def set_tenant_quota(
    services: Services, caller: Caller, tenant: TenantName, changes: QuotaEdit
) -> Answer:
    """Change how much all users of a tenant together may have at a time; return it. For
    administrators of the site. Raise `RightMissing`, `TenantNotFound`.
    """
    found = await services.store.set_tenant_quota(caller, tenant, msgspec.to_builtins(changes))
    return _told(caller, found)


def _told(caller: Caller, found: Row) -> Answer:
    log.info(
        "quota.set",
        kind=found["kind"],
        name=found["name"],
        jobs=found["jobs"],
        batches=found["batches"],
        cores=found["cores"],
        bytes=found["bytes"],
        by=caller.user_name,
    )
    return dict(found)
