"""Callbacks: what became of those of a batch, to try one again, and the secret that signs them."""

from litestar import Response, get, post

from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.path_ids import batch_id_of, delivery_of
from weft.api.http.replies import reply
from weft.api.http.requests import Query, read_body
from weft.api.services import AnyRequest, caller_of, services_of
from weft.core.callback_signature import tenant_secret
from weft.core.errors import AdminOnly, NoCallbackKey
from weft.wire.answers import CallbackSecret, Delivery
from weft.wire.documents import Empty


@get("/v1/batches/{b:str}/callbacks", opt={"page": Delivery, "query": PAGE})
async def list_callbacks(request: AnyRequest) -> Response[bytes]:
    """List the callbacks of a batch and its groups in the order of the completions, with what
    became of each.
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
    """Try a callback that was not delivered again at once, also one that was given up. A repeat
    does nothing while it is on its way.
    """
    Query(request, ())
    batch_id, delivery = batch_id_of(request), delivery_of(request)
    (await read_body(request)).document(Empty)
    store = services_of(request).store
    return reply(await store.redeliver_callback(caller_of(request), batch_id, delivery))


@get("/v1/callbacks/secret", opt={"answer": CallbackSecret})
async def callback_secret(request: AnyRequest) -> Response[bytes]:
    """Get the secret with which the callbacks of the caller's tenant are signed; for its
    administrators.
    """
    Query(request, ())
    caller, key = caller_of(request), services_of(request).callback_key
    if not caller.is_admin:
        raise AdminOnly(
            "the secret of callbacks is for administrators",
            detail=f"You are {caller.user_name}, who is none of this tenant.",
            hint="Ask an administrator of your tenant for it.",
        )
    if key is None:
        raise NoCallbackKey(
            "this server does not know the secret of callbacks",
            detail="Its home has no callback.json.",
            hint="Ask the server that `weft up` started, or copy that file from its home.",
        )
    return reply({"secret": tenant_secret(key, caller.tenant_id)})


ROUTES = (list_callbacks, redeliver_callback, callback_secret)
