"""Tenants: administrators of the site make them, and theirs say what holds in them."""

import msgspec

from weft.api.services import Services
from weft.api.use_cases.users import check_may_give
from weft.core.access.rights import Right, UserRole
from weft.core.access.token_text import new_token
from weft.ports.store import Caller
from weft.submission.services import Answer, Origin
from weft.telemetry.log import get_logger
from weft.wire.documents.tenants import TenantDocument, TenantEdit

log = get_logger()


async def create_tenant(
    services: Services, caller: Caller, document: TenantDocument, origin: Origin
) -> Answer:
    """Make a tenant; return the token of its first user, for the only time. Raise
    `RightMissing`, `TenantExists`.
    """
    check_may_give(caller, UserRole.TENANT_ADMIN)
    token = new_token()
    tenant_id = await services.store.create_tenant(
        caller, document.name, admin=document.admin, token=token, idempotency_key=origin.key
    )
    log.info("tenant.created", tenant=document.name, user=document.admin, by=caller.user_name)
    return {"tenant_id": tenant_id, "name": document.name, "admin": document.admin, "token": token}


async def get_tenant(services: Services, caller: Caller, name: str) -> Answer:
    """Return a tenant. Raise `TenantNotFound`."""
    tenant_id = await _tenant_of(services, caller, name)
    return dict(await services.store.get_tenant(tenant_id, name))


async def set_tenant(services: Services, caller: Caller, name: str, edit: TenantEdit) -> Answer:
    """Change what holds in a tenant; return it. Raise `TenantNotFound`."""
    tenant_id = await _tenant_of(services, caller, name)
    tenant = await services.store.set_tenant(tenant_id, name, msgspec.to_builtins(edit))
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
