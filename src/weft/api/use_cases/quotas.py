"""Quotas: administrators say how much there may be at a time."""

import msgspec

from weft.api.services import Services
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import get_logger
from weft.wire.documents.quotas import QuotaEdit

log = get_logger()


async def set_quota(
    services: Services, caller: Caller, user: str | None, edit: QuotaEdit
) -> Answer:
    """Change the quota of a user, or of each; return its limits. Raise `UserNotFound`."""
    found = await services.store.set_quota(caller, user, msgspec.to_builtins(edit))
    return _told(caller, found)


async def set_tenant_quota(
    services: Services, caller: Caller, tenant: str, edit: QuotaEdit
) -> Answer:
    """Change the quota of a tenant; return its limits. Raise `TenantNotFound`."""
    found = await services.store.set_tenant_quota(caller, tenant, msgspec.to_builtins(edit))
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
