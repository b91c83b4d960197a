"""Callbacks: deliveries of a batch, a further try, and the secret that signs them."""

from litestar import Response, get, post

from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import batch_id_of, delivery_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import callbacks
from weft.wire.answers.callbacks import CallbackSecret, Delivery
from weft.wire.documents.batches import Empty


@get("/v1/batches/{b:str}/callbacks", opt={"page": Delivery, "query": PAGE})
async def list_callbacks(request: AnyRequest) -> Response[bytes]:
    """List the callbacks of a batch and its groups in the order of the completions, each with the
    state of its delivery.
    """
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_callbacks(
        caller_of(request), batch_id_of(request), after=cursor_of(query, "c") or 0, limit=limit
    )
    return reply(page(rows, limit, "c", "delivery_id"))


@post("/v1/batches/{b:str}/callbacks/{d:str}/redeliver", opt={"answer": Delivery, "body": Empty})
async def redeliver_callback(request: AnyRequest) -> Response[bytes]:
    """Try to deliver a callback again now, also one that was given up. A repeat does nothing while
    the delivery is under way.
    """
    Query(request, ())
    batch_id, delivery = batch_id_of(request), delivery_of(request)
    await read_document(request, Empty)
    store = services_of(request).store
    return reply(await store.redeliver_callback(caller_of(request), batch_id, delivery))


@get("/v1/callbacks/secret", opt={"answer": CallbackSecret, "refuses": (409,), "visit": False})
async def callback_secret(request: AnyRequest) -> Response[bytes]:
    """Get the secret that signs the callbacks of the caller's tenant."""
    Query(request, ())
    secret = callbacks.get_secret(services_of(request), caller_of(request))
    return reply({"secret": secret})


ROUTES = (list_callbacks, redeliver_callback, callback_secret)
