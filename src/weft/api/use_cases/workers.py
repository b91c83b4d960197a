"""Show workers, and let them take no new jobs; only administrators may do that."""

from weft.api.services import Answer, Services
from weft.core.errors import AdminOnly
from weft.ports.store import Caller


async def cordon_worker(
    services: Services, caller: Caller, name: str, pool: str | None, *, reason: str | None
) -> Answer:
    """Let a worker take no new job; what it has goes on. Raise `AdminOnly`."""
    _require_admin(caller)
    changed = await services.store.cordon_worker(caller, name, pool, reason=reason)
    return await _changed(services, caller, name, pool, changed=changed)


async def drain_worker(
    services: Services, caller: Caller, name: str, pool: str | None, *, reason: str | None
) -> Answer:
    """Let a worker take no new job, and end when nothing runs. Raise `AdminOnly`."""
    _require_admin(caller)
    changed = await services.store.drain_worker(caller, name, pool, reason=reason)
    return await _changed(services, caller, name, pool, changed=changed)


async def uncordon_worker(
    services: Services, caller: Caller, name: str, pool: str | None
) -> Answer:
    """Let a worker take jobs again. Raise `AdminOnly`."""
    _require_admin(caller)
    changed = await services.store.uncordon_worker(caller, name, pool)
    return await _changed(services, caller, name, pool, changed=changed)


def _require_admin(caller: Caller) -> None:
    if not caller.is_admin:
        raise AdminOnly(
            "only administrators can change workers",
            detail=f"User {caller.user_name} is not an administrator of this tenant.",
            hint="Ask an administrator of your tenant to do it.",
        )


async def _changed(
    services: Services, caller: Caller, name: str, pool: str | None, *, changed: bool
) -> Answer:
    found = await services.store.get_worker(caller, name, pool)
    return {**found, "changed": changed}
