"""`/v1/stores`: stores of objects, from which jobs get files and in which they leave them."""

from litestar import Response, delete, get, post, put

from weft.api.http.parameters import Query
from weft.api.http.path_ids import store_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import file_stores
from weft.wire.documents.batches import Empty
from weft.wire.documents.stores import (
    FileStoreAnswer,
    FileStoreDocument,
    FileStoreRemoved,
    FileStoreTried,
)


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


@post(
    "/v1/stores/{store:str}/trial",
    status_code=200,
    opt={"answer": FileStoreTried, "body": Empty},
)
async def try_store(request: AnyRequest) -> Response[bytes]:
    """Try a store as a job would, from the api's host: write, read and remove a small object; in
    one that is only read, ask for an object. What does not work is in the answer.
    """
    Query(request, ())
    name = store_of(request)
    await read_document(request, Empty)
    return reply(await file_stores.try_store(services_of(request), caller_of(request), name))


@delete("/v1/stores/{store:str}", status_code=200, opt={"answer": FileStoreRemoved, "body": Empty})
async def remove_store(request: AnyRequest) -> Response[bytes]:
    """Forget a store. Its objects stay; jobs that name it and start later fail."""
    Query(request, ())
    name = store_of(request)
    await read_document(request, Empty)
    return reply(await file_stores.remove_store(services_of(request), caller_of(request), name))


ROUTES = (list_stores, get_store, save_store, try_store, remove_store)
"""The routes of stores."""
