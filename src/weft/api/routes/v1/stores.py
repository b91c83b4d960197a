"""`/v1/stores`: stores of objects, from which jobs get files and in which they leave them."""

from litestar import Response, delete, get, put

from weft.api.http.parameters import Query
from weft.api.http.path_ids import store_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import file_stores
from weft.wire.documents import Empty
from weft.wire.store_documents import FileStoreAnswer, FileStoreDocument, FileStoreRemoved


@get("/v1/stores", opt={"page": FileStoreAnswer})
async def list_stores(request: AnyRequest) -> Response[bytes]:
    """List the stores of the tenant by name. None shows a credential."""
    Query(request, ())
    rows = await services_of(request).store.list_stores(caller_of(request))
    return reply({"items": rows, "cursor": None})


@get("/v1/stores/{store:str}", opt={"answer": FileStoreAnswer})
async def get_store(request: AnyRequest) -> Response[bytes]:
    """Get a store."""
    Query(request, ())
    name = store_of(request)
    return reply(await file_stores.get_store(services_of(request), caller_of(request), name))


@put("/v1/stores/{store:str}", opt={"answer": FileStoreAnswer, "body": FileStoreDocument})
async def save_store(request: AnyRequest) -> Response[bytes]:
    """Set a store, in place of one of the same name. Jobs that start from now on use it."""
    Query(request, ())
    name = store_of(request)
    document = await read_document(request, FileStoreDocument)
    return reply(
        await file_stores.save_store(services_of(request), caller_of(request), name, document)
    )


@delete("/v1/stores/{store:str}", status_code=200, opt={"answer": FileStoreRemoved, "body": Empty})
async def remove_store(request: AnyRequest) -> Response[bytes]:
    """Forget a store. Its objects stay; jobs that name it and start later fail."""
    Query(request, ())
    name = store_of(request)
    await read_document(request, Empty)
    return reply(await file_stores.remove_store(services_of(request), caller_of(request), name))


ROUTES = (list_stores, get_store, save_store, remove_store)
"""The routes of stores."""
