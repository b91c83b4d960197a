"""Tenants: administrators of the site make them."""

from weft.api.services import Answer, Origin, Services
from weft.api.use_cases.tokens import new_token
from weft.api.use_cases.users import check_may_give
from weft.core.rights import UserRole
from weft.ports.store import Caller
from weft.telemetry.log import get_logger
from weft.wire.tenant_documents import TenantDocument

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
    return {
        "tenant_id": tenant_id,
        "name": document.name,
        "admin": document.admin,
        "token": token,
    }
