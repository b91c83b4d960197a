"""`/v1/queues`: where jobs wait."""

from litestar import Response, get, post, put

from weft.api.http.parameters import Query
from weft.api.http.path_ids import queue_of
from weft.api.http.replies import reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_submission,
    services_of,
)
from weft.api.use_cases import queues, reroute
from weft.wire.answers.queues import Queue, QueuesRerouted, QueuesSaved, QueuesTested
from weft.wire.documents.batches import BatchDocument, Empty
from weft.wire.documents.queues import QueuesDocument
from weft.wire.documents.reroutes import RerouteDocument


@get("/v1/queues", opt={"page": Queue})
async def list_queues(request: AnyRequest) -> Response[bytes]:
    """List the queues in the order in which their guards are asked."""
    Query(request, ())
    rows = await queues.list_queues(services_of(request), caller_of(request))
    return reply({"items": rows, "cursor": None})


@put("/v1/queues", opt={"answer": QueuesSaved, "body": QueuesDocument, "refuses": (409,)})
async def save_queues(request: AnyRequest) -> Response[bytes]:
    """Make these the queues of the tenant. Waiting jobs stay where they are;
    a queue that has some is not deleted.
    """
    Query(request, ())
    document = await read_document(request, QueuesDocument)
    return reply(await queues.save_queues(services_of(request), caller_of(request), document))


@post("/v1/queue-test", opt={"answer": QueuesTested, "body": BatchDocument})
async def test_queues(request: AnyRequest) -> Response[bytes]:
    """Say which queue would take each job of a batch now, and why the queues before it would not.
    Nothing is created.
    """
    Query(request, ())
    document, origin = await read_submission(request, BatchDocument)
    answer = await queues.test_queues(services_of(request), caller_of(request), document, origin)
    return reply(answer)


@get("/v1/queues/{q:str}", opt={"answer": Queue})
async def get_queue(request: AnyRequest) -> Response[bytes]:
    """Get a queue."""
    Query(request, ())
    name = queue_of(request)
    return reply(await queues.get_queue(services_of(request), caller_of(request), name))


@post("/v1/queues/{q:str}/drain", opt={"answer": Queue, "refuses": (409,)})
async def drain_queue(request: AnyRequest) -> Response[bytes]:
    """Let a queue take no more jobs. Those that wait there run on."""
    Query(request, ())
    await read_document(request, Empty)
    name = queue_of(request)
    return reply(await queues.drain_queue(services_of(request), caller_of(request), name))


@post("/v1/queue-reroute", opt={"answer": QueuesRerouted, "body": RerouteDocument})
async def reroute_queues(request: AnyRequest) -> Response[bytes]:
    """Move the next jobs that wait to the queues that guards choose now, or to one queue. Jobs
    that name their queue, or have run before, stay unless `to` is given; repeat with the cursor
    until it is null.
    """
    Query(request, ())
    document = await read_document(request, RerouteDocument)
    return reply(await reroute.reroute(services_of(request), caller_of(request), document))


ROUTES = (list_queues, save_queues, test_queues, get_queue, drain_queue, reroute_queues)
