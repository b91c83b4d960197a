"""Show workers, and let them take no new jobs."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from weft.api.services import Services
from weft.ports.store import Caller, Row
from weft.ports.worker_link import LinkFacts
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


def with_link(services: Services, rows: Iterable[Row]) -> list[Row]:
    """Return documents of workers with what those outside have said last."""
    told = {} if services.link is None else services.link.hearing.told()
    return [{**one, "link": _link_of(told, one)} for one in rows]


def _link_of(told: Mapping[tuple[str, str], LinkFacts], worker: Row) -> Answer | None:
    said = told.get((worker["pool"], worker["worker"]))
    if said is None or not worker["linked"] or worker["ended_at"] is not None:
        return None
    return msgspec.structs.asdict(said)


async def get_worker(services: Services, caller: Caller, name: str, pool: str | None) -> Row:
    """Return a worker, with who changed its state."""
    return with_link(services, [await services.store.get_worker(caller, name, pool)])[0]


async def list_workers(
    services: Services,
    caller: Caller,
    *,
    with_deleted: bool,
    limit: int,
    after: tuple[str, str] | None = None,
) -> Sequence[Row]:
    """Return workers by name."""
    rows = await services.store.list_workers(
        caller, with_deleted=with_deleted, limit=limit, after=after
    )
    return with_link(services, rows)


async def overview(services: Services, caller: Caller) -> Answer:
    """Return the workers and how many jobs wait and run."""
    found = {**await services.store.overview(caller)}
    del found["has_lines"]
    return {**found, "workers": with_link(services, found["workers"])}


async def _changed(
    services: Services, caller: Caller, name: str, pool: str | None, *, changed: bool
) -> Answer:
    found = await get_worker(services, caller, name, pool)
    return {**found, "changed": changed}
