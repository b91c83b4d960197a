"""Serve calls that are declared on their use cases."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from litestar import HttpMethod, Response, route
from litestar.handlers import HTTPRouteHandler

from weft.api.calls.call import Call
from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.replies import created, reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_submission,
    services_of,
)

_READS: Final[Mapping[Any, Callable[[Query, str], Any]]] = {
    bool: Query.flag,
    bool | None: Query.given_flag,
    str | None: Query.text,
}
"""How a parameter of the query is read, by its type."""


def route_of(call: Call) -> HTTPRouteHandler:
    """Return the route of a call."""
    words = {name.rstrip("_"): name for name in call.query}
    known = (*words, *(PAGE if call.cursor else ()))

    async def serve(request: AnyRequest) -> Response[bytes]:
        query = Query(request, known)
        arguments: dict[str, Any] = {
            name: one.parse(request.path_params[one.name]) for name, one in call.ids.items()
        }
        for word, name in words.items():
            arguments[name] = _READS[call.query[name]](query, word)
        if call.cursor:
            arguments["limit"] = limit_of(query, services_of(request).settings)
            after = cursor_of(query, call.cursor.list_name, most=call.cursor.most)
            arguments["after"] = after or 0
        arguments |= await _read_body(request, call)
        answer = await call.use_case(services_of(request), caller_of(request), **arguments)
        if call.creates:
            return created(answer, is_new=True)
        if call.cursor:
            name, key, _ = call.cursor
            return reply(page(answer, arguments["limit"], name, key))
        return reply({"items": answer, "cursor": None} if call.is_page else answer)

    serve.__name__, serve.__doc__ = call.operation, call.description
    path = call.path.replace("}", ":str}")
    method = HttpMethod(call.method)
    return route(path, http_method=method, status_code=200, opt=_opt(call))(serve)


async def _read_body(request: AnyRequest, call: Call) -> dict[str, Any]:
    """Return what the body brings to the use case."""
    if call.body is None:
        return {}
    if call.creates:
        document, origin = await read_submission(request, call.body)
        return {"document": document, "origin": origin}
    document = await read_document(request, call.body)
    return {"document": document} if "document" in call.parameters else {}


def _opt(call: Call) -> dict[str, Any]:
    said: dict[str, Any] = {
        "right": call.right,
        "page" if call.is_page else "answer": call.answer,
        "path": {one.name: one for one in call.ids.values()},
        **call.marks,
    }
    if call.query or call.cursor:
        names = (name.rstrip("_") for name in call.query)
        said["query"] = (*names, *(PAGE if call.cursor else ()))
    if call.body:
        said["body"] = call.body
    if call.creates:
        said["creates"] = True
    return said
