"""Show workers, and let them take no new jobs."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from weft.api.calls.call import call
from weft.api.calls.path_ids import WorkerName
from weft.api.services import Services
from weft.api.use_cases.conditions import failing_lines
from weft.core.access.rights import Right
from weft.ports.store import Caller, Row
from weft.ports.worker_link import LinkFacts
from weft.submission.services import Answer
from weft.wire.answers.overview import Minutes, Overview
from weft.wire.answers.workers import ChangedWorker, ShownWorker, Worker
from weft.wire.documents.workers import Cordon

WORKERS_MAX = 10_000


@call("POST /v1/workers/{w}/cordon", Right.ADMINISTER, ChangedWorker)
async def cordon_worker(
    services: Services, caller: Caller, name: WorkerName, document: Cordon, *, pool: str | None
) -> Answer:
    """Let a worker take no new job; what it has goes on. A repeat changes nothing. Return it.
    Raise `RightMissing`, `WorkerEnded`.
    """
    changed = await services.store.cordon_worker(caller, name, pool, reason=document.reason)
    return await _changed(services, caller, name, pool, changed=changed)


@call("POST /v1/workers/{w}/drain", Right.ADMINISTER, ChangedWorker)
async def drain_worker(
    services: Services, caller: Caller, name: WorkerName, document: Cordon, *, pool: str | None
) -> Answer:
    """Let a worker take no new job, and its process end in order when nothing runs; one that was
    lost is deleted at once. A repeat changes nothing. Return it. Raise `RightMissing`,
    `WorkerEnded`.
    """
    changed = await services.store.drain_worker(caller, name, pool, reason=document.reason)
    return await _changed(services, caller, name, pool, changed=changed)


@call("POST /v1/workers/{w}/uncordon", Right.ADMINISTER, ChangedWorker)
async def uncordon_worker(
    services: Services, caller: Caller, name: WorkerName, *, pool: str | None
) -> Answer:
    """Let a worker take jobs again, also one that drains. A repeat changes nothing. Return it.
    Raise `RightMissing`, `WorkerEnded`.
    """
    changed = await services.store.uncordon_worker(caller, name, pool)
    return await _changed(services, caller, name, pool, changed=changed)


@call("POST /v1/workers/{w}/lose", Right.ADMINISTER, ChangedWorker, marks={"refuses": (409,)})
async def lose_worker(
    services: Services, caller: Caller, name: WorkerName, *, pool: str | None
) -> Answer:
    """Give up a silent worker whose jobs an engine elsewhere runs: they are lost and run again.
    Whoever asks for it has made sure that nothing of it runs. Raise `RightMissing`,
    `WorkerAtWork`.
    """
    changed = await services.store.lose_worker(caller, name, pool)
    return await _changed(services, caller, name, pool, changed=changed)


def with_link(services: Services, rows: Iterable[Row]) -> list[Row]:
    """Return documents of workers with what those outside have said last."""
    told = {} if services.link is None else services.link.hearing.told()
    return [{**row, "link": _link_of(told, row)} for row in rows]


def _link_of(told: Mapping[tuple[str, str], LinkFacts], worker: Row) -> Answer | None:
    facts = told.get((worker["pool"], worker["worker"]))
    if facts is None or not worker["linked"] or worker["ended_at"] is not None:
        return None
    return msgspec.structs.asdict(facts)


@call("GET /v1/workers/{w}", Right.READ, ShownWorker, marks={"refuses": (409,)})
async def get_worker(
    services: Services, caller: Caller, name: WorkerName, *, pool: str | None
) -> Row:
    """Return a worker and who changed its state. Raise `WorkerNotFound`, `WorkerAmbiguous`."""
    return with_link(services, [await services.store.get_worker(caller, name, pool)])[0]


@call("GET /v1/workers", Right.READ, page=Worker)
async def list_workers(
    services: Services,
    caller: Caller,
    *,
    all_: bool,
    limit: int = WORKERS_MAX,
    after: tuple[str, str] | None = None,
) -> Sequence[Row]:
    """Return the workers by name; `all`: also those that have ended in order."""
    rows = await services.store.list_workers(caller, with_deleted=all_, limit=limit, after=after)
    return with_link(services, rows)


@call("GET /v1/overview/minutes", Right.READ, Minutes, client="list_minutes")
async def overview_minutes(services: Services, caller: Caller) -> Answer:
    """Return how many jobs waited and ran at the end of each of the last 60 minutes, and how many
    ended in it: `at, n_waiting, n_running, n_succeeded, n_failed, n_cancelled`, oldest first. It
    counts your own batches, or all of the tenant if you may see all of it.
    """
    return {"items": await services.store.list_minutes(caller)}


@call("GET /v1/overview", Right.READ, Overview, public=False)
async def overview(services: Services, caller: Caller) -> Answer:
    """Return the workers and how many jobs wait and run."""
    found = {**await services.store.overview(caller)}
    failing = await failing_lines(services, caller) if found.pop("has_lines") else ()
    n_aside = sum(one["cordon_reason"] is not None for one in found["workers"])
    found["incidents"] = found["conditions"] + len(failing) + n_aside
    return {**found, "workers": with_link(services, found["workers"])}


async def _changed(
    services: Services, caller: Caller, name: str, pool: str | None, *, changed: bool
) -> Answer:
    worker = await get_worker(services, caller, name, pool=pool)
    return {**worker, "changed": changed}
