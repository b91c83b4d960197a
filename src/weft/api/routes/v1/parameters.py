"""`/v1/parameters`: values that configurations of production lines read, and their versions."""

from typing import Final

from litestar import Response, get, put

from weft.api.http.paging import PAGE, cursor_of, cursor_text, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import parameter_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import parameters
from weft.wire.documents.parameters import LineParameter, ParameterDocument

LIST_QUERY: Final = (*PAGE, "as_of")


@get("/v1/parameters", opt={"page": LineParameter, "query": LIST_QUERY})
async def list_parameters(request: AnyRequest) -> Response[bytes]:
    """List the parameters of production lines in the order of their names, as they are, or as they
    were at a date.
    """
    query = Query(request, LIST_QUERY)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_parameters(
        caller_of(request),
        names=None,
        as_of=query.moment("as_of"),
        after=cursor_text(query, "param") or "",
        limit=limit,
    )
    return reply(page(rows, limit, "param", "parameter"))


@get("/v1/parameters/{parameter:str}", opt={"answer": LineParameter})
async def get_parameter(request: AnyRequest) -> Response[bytes]:
    """Get the value of a parameter, with its version."""
    Query(request, ())
    name, caller = parameter_of(request), caller_of(request)
    (found,) = await services_of(request).store.list_versions(caller, name, before=None, limit=1)
    return reply({**found})


@put(
    "/v1/parameters/{parameter:str}",
    opt={"answer": LineParameter, "body": ParameterDocument, "refuses": (409,)},
)
async def set_parameter(request: AnyRequest) -> Response[bytes]:
    """Give a parameter a value from now on. Items that get their jobs afterwards are configured by
    it; the same value again changes nothing.
    """
    Query(request, ())
    name = parameter_of(request)
    document = await read_document(request, ParameterDocument)
    return reply(
        await parameters.set_parameter(services_of(request), caller_of(request), name, document)
    )


@get("/v1/parameters/{parameter:str}/history", opt={"page": LineParameter, "query": PAGE})
async def list_versions(request: AnyRequest) -> Response[bytes]:
    """List the versions of a parameter, the newest first."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_versions(
        caller_of(request),
        parameter_of(request),
        before=cursor_of(query, "version", most=2**31 - 1),
        limit=limit,
    )
    return reply(page(rows, limit, "version", "version"))


ROUTES = (list_parameters, get_parameter, set_parameter, list_versions)
"""The routes of parameters."""
