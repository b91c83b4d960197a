"""`/v1/batches/{b}/permissions`: with whom a batch is shared."""

from litestar import Response, delete, get, put

from weft.api.http.paging import INT_MAX, PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import batch_id_of, user_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.core.access.permissions import Permission
from weft.wire.documents.batches import Empty
from weft.wire.documents.permissions import PermissionDocument, SharedWith


@get("/v1/batches/{b:str}/permissions", opt={"page": SharedWith, "query": PAGE})
async def list_permissions(request: AnyRequest) -> Response[bytes]:
    """List the users with whom a batch is shared, in the order of their numbers. Its owner and the
    members of its billing project may do everything and are not in the list.
    """
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_permissions(
        caller_of(request),
        batch_id_of(request),
        after=cursor_of(query, "p", most=INT_MAX) or 0,
        limit=limit,
    )
    return reply(page(rows, limit, "p", "user_id"))


@put(
    "/v1/batches/{b:str}/permissions/{user:str}",
    opt={"answer": SharedWith, "body": PermissionDocument},
)
async def share_batch(request: AnyRequest) -> Response[bytes]:
    """Share a batch with a user of the tenant, or let them do more or less than before."""
    Query(request, ())
    batch_id = batch_id_of(request)
    document = await read_document(request, PermissionDocument)
    return await _share(request, batch_id, Permission[document.permission.upper()])


@delete(
    "/v1/batches/{b:str}/permissions/{user:str}",
    status_code=200,
    opt={"answer": SharedWith, "body": Empty},
)
async def unshare_batch(request: AnyRequest) -> Response[bytes]:
    """Share a batch with a user no longer. What they may do as its owner or as a member of its
    billing project stays.
    """
    Query(request, ())
    batch_id = batch_id_of(request)
    await read_document(request, Empty)
    return await _share(request, batch_id, None)


async def _share(
    request: AnyRequest, batch_id: int, permission: Permission | None
) -> Response[bytes]:
    store = services_of(request).store
    caller, user = caller_of(request), user_of(request)
    return reply(await store.share_batch(caller, batch_id, user, permission))


ROUTES = (list_permissions, share_batch, unshare_batch)
