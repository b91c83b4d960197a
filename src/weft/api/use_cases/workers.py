"""Show workers, and let them take no new jobs."""

from weft.api.services import Services
from weft.ports.store import Caller
from weft.submission.services import Answer


async def cordon_worker(
    services: Services, caller: Caller, name: str, pool: str | None, *, reason: str | None
) -> Answer:
    """Let a worker take no new job; what it has goes on."""
    changed = await services.store.cordon_worker(caller, name, pool, reason=reason)
    return await _changed(services, caller, name, pool, changed=changed)


async def drain_worker(
    services: Services, caller: Caller, name: str, pool: str | None, *, reason: str | None
) -> Answer:
    """Let a worker take no new job, and end when nothing runs."""
    changed = await services.store.drain_worker(caller, name, pool, reason=reason)
    return await _changed(services, caller, name, pool, changed=changed)


async def uncordon_worker(
    services: Services, caller: Caller, name: str, pool: str | None
) -> Answer:
    """Let a worker take jobs again."""
    changed = await services.store.uncordon_worker(caller, name, pool)
    return await _changed(services, caller, name, pool, changed=changed)


async def lose_worker(services: Services, caller: Caller, name: str, pool: str | None) -> Answer:
    """Give up a silent worker."""
    changed = await services.store.lose_worker(caller, name, pool)
    return await _changed(services, caller, name, pool, changed=changed)


async def _changed(
    services: Services, caller: Caller, name: str, pool: str | None, *, changed: bool
) -> Answer:
    found = await services.store.get_worker(caller, name, pool)
    return {**found, "changed": changed}
