"""`/v1/overview` and `/v1/workers`."""

from litestar import Response, get, post

from weft.api.http.parameters import Query
from weft.api.http.path_ids import worker_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import workers
from weft.wire.answers.batches import Minutes, Overview
from weft.wire.answers.workers import ChangedWorker, ShownWorker, Worker
from weft.wire.documents.batches import Cordon, Empty

WORKERS_MAX = 10_000
POOL = ("pool",)
ALL = ("all",)


@get("/v1/overview", opt={"answer": Overview})
async def overview(request: AnyRequest) -> Response[bytes]:
    """Get the workers and how many jobs wait and run."""
    Query(request, ())
    return reply(await workers.overview(services_of(request), caller_of(request)))


@get("/v1/overview/minutes", opt={"answer": Minutes})
async def overview_minutes(request: AnyRequest) -> Response[bytes]:
    """Get how many jobs waited and ran, and how many ended, in each of the last 60 minutes: jobs
    of your own batches, or of the whole tenant if you may see all of it.
    """
    Query(request, ())
    rows = await services_of(request).store.list_minutes(caller_of(request))
    return reply({"items": rows})


@get("/v1/workers", opt={"page": Worker, "query": ALL})
async def list_workers(request: AnyRequest) -> Response[bytes]:
    """List the workers by name; `all`: also those that have ended in order."""
    with_deleted = Query(request, ALL).flag("all")
    found = await workers.list_workers(
        services_of(request), caller_of(request), with_deleted=with_deleted, limit=WORKERS_MAX
    )
    return reply({"items": found, "cursor": None})


@get("/v1/workers/{w:str}", opt={"answer": ShownWorker, "query": POOL, "refuses": (409,)})
async def get_worker(request: AnyRequest) -> Response[bytes]:
    """Get a worker, with who changed its state, when and why."""
    pool, name = Query(request, POOL).text("pool"), worker_of(request)
    return reply(await workers.get_worker(services_of(request), caller_of(request), name, pool))


@post("/v1/workers/{w:str}/cordon", opt={"answer": ChangedWorker, "body": Cordon, "query": POOL})
async def cordon_worker(request: AnyRequest) -> Response[bytes]:
    """Let a worker take no new job; what it has goes on. A repeat changes
    nothing.
    """
    pool, name = Query(request, POOL).text("pool"), worker_of(request)
    document = await read_document(request, Cordon)
    return reply(
        await workers.cordon_worker(
            services_of(request), caller_of(request), name, pool, reason=document.reason
        )
    )


@post("/v1/workers/{w:str}/drain", opt={"answer": ChangedWorker, "body": Cordon, "query": POOL})
async def drain_worker(request: AnyRequest) -> Response[bytes]:
    """Let a worker take no new job, and its process end in order when nothing runs; one that was
    lost is deleted at once. A repeat changes nothing.
    """
    pool, name = Query(request, POOL).text("pool"), worker_of(request)
    document = await read_document(request, Cordon)
    return reply(
        await workers.drain_worker(
            services_of(request), caller_of(request), name, pool, reason=document.reason
        )
    )


@post("/v1/workers/{w:str}/uncordon", opt={"answer": ChangedWorker, "body": Empty, "query": POOL})
async def uncordon_worker(request: AnyRequest) -> Response[bytes]:
    """Let a worker take jobs again, also one that drains. A repeat changes
    nothing.
    """
    pool, name = Query(request, POOL).text("pool"), worker_of(request)
    await read_document(request, Empty)
    return reply(
        await workers.uncordon_worker(services_of(request), caller_of(request), name, pool)
    )


@post(
    "/v1/workers/{w:str}/lose",
    opt={"answer": ChangedWorker, "body": Empty, "query": POOL, "refuses": (409,)},
)
async def lose_worker(request: AnyRequest) -> Response[bytes]:
    """Give up a silent worker whose jobs an engine elsewhere runs: they are lost
    and run again. Whoever asks for it has made sure that nothing of it runs.
    """
    pool, name = Query(request, POOL).text("pool"), worker_of(request)
    await read_document(request, Empty)
    return reply(await workers.lose_worker(services_of(request), caller_of(request), name, pool))


ROUTES = (
    overview, overview_minutes, list_workers, get_worker, cordon_worker, drain_worker,
    uncordon_worker, lose_worker,
)  # fmt: skip
