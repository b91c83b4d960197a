"""Tenants, which administrators of the site make."""

from collections.abc import Sequence

import msgspec

from weft.api.calls.call import Cursor, call
from weft.api.calls.path_ids import TenantName
from weft.api.services import Services
from weft.api.use_cases.users import check_may_give
from weft.core.access.rights import Right, UserRole
from weft.core.access.token_text import new_token
from weft.core.bounds import INT_MAX
from weft.ports.store import Caller, Origin, Row
from weft.settings.jobs_apart import check_apart
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.documents.tenants import (
    Tenant,
    TenantCreated,
    TenantDocument,
    TenantEdit,
)


@call("GET /v1/tenants", Right.ADMINISTER, page=Tenant, cursor=Cursor("t", "tenant_id", INT_MAX))
async def list_tenants(services: Services, _: Caller, *, after: int, limit: int) -> Sequence[Row]:
    """Return all tenants, in the order of their numbers. For administrators of the site."""
    return await services.store.list_tenants(after=after, limit=limit)


@call("POST /v1/tenants", Right.ADMINISTER, TenantCreated)
async def create_tenant(
    services: Services, caller: Caller, document: TenantDocument, origin: Origin
) -> Answer:
    """Create a tenant with its first user, who has role `tenant-admin`. The text of their token is
    the answer's `token`, and nowhere else: a repeat with the same key makes another one in its
    place. Raise `RightMissing`, `TenantExists`, `JobsNotApart`.
    """
    check_may_give(caller, UserRole.TENANT_ADMIN)
    if not document.trusted:
        check_apart(services.settings, document.admin, UserRole.TENANT_ADMIN)
    token = new_token()
    tenant_id = await services.store.create_tenant(
        caller, document.name, admin=document.admin, token=token, idempotency_key=origin.key
    )
    log.info("tenant.created", tenant=document.name, user=document.admin, by=caller.user_name)
    return {"tenant_id": tenant_id, "name": document.name, "admin": document.admin, "token": token}


@call("GET /v1/tenants/{tenant}", Right.MANAGE, Tenant)
async def get_tenant(services: Services, caller: Caller, name: TenantName) -> Answer:
    """Return a tenant; to somebody who does not administer the site only their own exists. Raise
    `RightMissing`, `TenantNotFound`.
    """
    tenant_id = await _tenant_of(services, caller, name)
    return dict(await services.store.get_tenant(tenant_id, name))


@call("PATCH /v1/tenants/{tenant}", Right.MANAGE, Tenant, public=False, spread=False)
async def set_tenant(
    services: Services, caller: Caller, name: TenantName, changes: TenantEdit
) -> Answer:
    """Change what holds in a tenant; return it. For somebody who does not administer the site only
    their own exists. Raise `TenantNotFound`.
    """
    tenant_id = await _tenant_of(services, caller, name)
    tenant = await services.store.set_tenant(tenant_id, name, msgspec.to_builtins(changes))
    log.info(
        "tenant.set",
        tenant=tenant["name"],
        on_user_removal=tenant["on_user_removal"],
        allowed=sorted(tenant["allowed"]),
        output_keep_s=tenant["output_keep_s"],
        output_keep_bytes=tenant["output_keep_bytes"],
        by=caller.user_name,
    )
    return dict(tenant)


async def _tenant_of(services: Services, caller: Caller, name: str) -> int:
    """Return the number of the tenant that a caller means: their own, unless they administer the
    site. Whoever names another gets `TenantNotFound` when that number is used.
    """
    if caller.may(Right.ADMINISTER):
        return await services.store.find_tenant(name)
    return caller.tenant_id
