"""`/v1/transports`: the connections over which queues travel; `/v1/dead-messages`: what nobody
wanted there.
"""

from litestar import Response, delete, get, post

from weft.api.http.paging import PAGE, cursor_of, kind_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import dead_message_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import transports
from weft.wire.answers.transports import (
    DeadMessage,
    DeadMessageRemoved,
    Transport,
    WholeDeadMessage,
)
from weft.wire.documents.batches import Empty
from weft.wire.documents.failures import NoteDocument

_LETTERS = ("acknowledged", *PAGE)


@get("/v1/transports", opt={"page": Transport})
async def list_transports(request: AnyRequest) -> Response[bytes]:
    """List the connections of the tenant by name, and what is under way over each."""
    Query(request, ())
    rows = await transports.list_transports(services_of(request), caller_of(request))
    return reply({"items": rows, "cursor": None})


@get("/v1/dead-messages", opt={"page": DeadMessage, "query": _LETTERS})
async def list_dead_messages(request: AnyRequest) -> Response[bytes]:
    """List the messages of transports that nobody wants, the newest first. `acknowledged=true`:
    those that a person has acknowledged, instead of the others.
    """
    query = Query(request, _LETTERS)
    services = services_of(request)
    limit, kind = limit_of(query, services.settings), kind_of("dm", query.text("acknowledged"))
    rows = await services.store.list_dead_messages(
        caller_of(request), before=cursor_of(query, kind),
        acknowledged=query.flag("acknowledged"), limit=limit,
    )  # fmt: skip
    return reply(page(rows, limit, kind, "dead_id"))


@get("/v1/dead-messages/{dead:str}", opt={"answer": WholeDeadMessage})
async def get_dead_message(request: AnyRequest) -> Response[bytes]:
    """Get a dead message with what is kept of its body."""
    Query(request, ())
    dead_id = dead_message_of(request)
    return reply(
        await transports.get_dead_message(services_of(request), caller_of(request), dead_id)
    )


@delete(
    "/v1/dead-messages/{dead:str}",
    status_code=200,
    opt={"answer": DeadMessageRemoved, "body": Empty},
)
async def remove_dead_message(request: AnyRequest) -> Response[bytes]:
    """Forget a dead message."""
    Query(request, ())
    dead_id = dead_message_of(request)
    await read_document(request, Empty)
    return reply(
        await transports.remove_dead_message(services_of(request), caller_of(request), dead_id)
    )


@post(
    "/v1/dead-messages/{dead:str}/resend",
    opt={"answer": DeadMessage, "body": Empty, "refuses": (409,)},
)
async def resend_dead_message(request: AnyRequest) -> Response[bytes]:
    """Put a dead message into its queue again; the driver does, and forgets it then."""
    Query(request, ())
    dead_id = dead_message_of(request)
    await read_document(request, Empty)
    return reply(
        await transports.resend_dead_message(services_of(request), caller_of(request), dead_id)
    )


@post(
    "/v1/dead-messages/{dead:str}/acknowledge", opt={"answer": DeadMessage, "body": NoteDocument}
)
async def acknowledge_dead_message(request: AnyRequest) -> Response[bytes]:
    """Acknowledge a dead message: it leaves the list, with a note."""
    Query(request, ())
    dead_id = dead_message_of(request)
    document = await read_document(request, NoteDocument)
    return reply(
        await transports.acknowledge_dead_message(
            services_of(request), caller_of(request), dead_id, document
        )
    )


ROUTES = (
    list_transports,
    list_dead_messages,
    get_dead_message,
    remove_dead_message,
    resend_dead_message,
    acknowledge_dead_message,
)
"""The routes of transports."""
