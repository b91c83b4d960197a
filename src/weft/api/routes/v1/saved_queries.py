"""`/v1/saved-queries`: queries for batches to which the caller has given names."""

from litestar import Response, delete, get, put

from weft.api.http.parameters import Query
from weft.api.http.path_ids import saved_query_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import saved_queries
from weft.wire.documents.batches import Empty
from weft.wire.documents.saved_queries import SavedQuery, SavedQueryDocument, SavedQueryRemoved


@get("/v1/saved-queries", opt={"page": SavedQuery})
async def list_saved_queries(request: AnyRequest) -> Response[bytes]:
    """List the caller's saved queries by name."""
    Query(request, ())
    rows = await services_of(request).store.list_saved_queries(caller_of(request))
    return reply({"items": rows, "cursor": None})


@get("/v1/saved-queries/{saved:str}", opt={"answer": SavedQuery})
async def get_saved_query(request: AnyRequest) -> Response[bytes]:
    """Get a saved query of the caller."""
    Query(request, ())
    name = saved_query_of(request)
    found = await saved_queries.get_saved_query(services_of(request), caller_of(request), name)
    return reply(found)


@put("/v1/saved-queries/{saved:str}", opt={"answer": SavedQuery, "body": SavedQueryDocument})
async def save_query(request: AnyRequest) -> Response[bytes]:
    """Give a query for batches a name; one of the caller's with the same name is replaced."""
    Query(request, ())
    name = saved_query_of(request)
    document = await read_document(request, SavedQueryDocument)
    found = await saved_queries.save_query(
        services_of(request), caller_of(request), name, document.query
    )
    return reply(found)


@delete(
    "/v1/saved-queries/{saved:str}",
    status_code=200,
    opt={"answer": SavedQueryRemoved, "body": Empty},
)
async def remove_saved_query(request: AnyRequest) -> Response[bytes]:
    """Forget a saved query of the caller."""
    Query(request, ())
    name = saved_query_of(request)
    await read_document(request, Empty)
    found = await saved_queries.remove_saved_query(services_of(request), caller_of(request), name)
    return reply(found)


ROUTES = (list_saved_queries, get_saved_query, save_query, remove_saved_query)
"""The routes of saved queries."""
