"""`/v1/sinks/{sink}/deliveries`: messages of production lines, and a further try."""

from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import message_of, sink_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.http.routing import Response, get, post
from weft.wire.answers.lines import Message
from weft.wire.documents.batches import Empty
from weft.wire.documents.lines import MessageDecision


@get("/v1/sinks/{sink:str}/deliveries", opt={"page": Message, "query": PAGE})
async def list_messages(request: AnyRequest) -> Response[bytes]:
    """List the messages of a sink, the oldest first, each with the state of its delivery."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_messages(
        caller_of(request), sink_of(request), after=cursor_of(query, "m") or 0, limit=limit
    )
    return reply(page(rows, limit, "m", "delivery_id"))


@post(
    "/v1/sinks/{sink:str}/deliveries/{message:str}/redeliver",
    opt={"answer": Message, "body": Empty, "refuses": (409,)},
)
async def redeliver_message(request: AnyRequest) -> Response[bytes]:
    """Try to send a message again now, also one that was given up. A repeat does nothing while
    that is under way.
    """
    Query(request, ())
    sink, message = sink_of(request), message_of(request)
    await read_document(request, Empty)
    store = services_of(request).store
    return reply({**await store.redeliver_message(caller_of(request), sink, message)})


@post(
    "/v1/sinks/{sink:str}/deliveries/{message:str}/decide",
    status_code=200,
    opt={"answer": Message, "body": MessageDecision, "refuses": (409,)},
)
async def decide_message(request: AnyRequest) -> Response[bytes]:
    """Send a message that a check has stopped, or drop it."""
    Query(request, ())
    sink, message = sink_of(request), message_of(request)
    decision = (await read_document(request, MessageDecision)).decision
    store = services_of(request).store
    return reply({
        **await store.decide_message(
            caller_of(request), sink, message, dropped=decision == "drop"
        )
    })  # fmt: skip


ROUTES = (list_messages, redeliver_message, decide_message)
