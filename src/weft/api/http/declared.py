"""Serve calls that are declared on their use cases."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, get_args

from weft.api.calls.call import KEY, Asked, Call, DecodeBatch, ServerUrl, TraceId
from weft.api.http.decoding import JSON, decode, name_nul
from weft.api.http.paging import (
    PAGE,
    cursor_as,
    cursor_of,
    cursor_text,
    kind_of,
    limit_of,
    page_until,
)
from weft.api.http.parameter_schemas import QUERY
from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.problem_documents import created, reply
from weft.api.http.requests import AnyRequest, read_document, read_submission
from weft.api.http.routing import Response, Route, route
from weft.core.errors import BadId, NulCharacter
from weft.ports.store import ACTION, Row
from weft.settings import Settings
from weft.wire.documents.batches import BatchDocument

_READS: Final[Mapping[Any, Callable[[Query, str], Any]]] = {
    bool: Query.flag,
    bool | None: Query.given_flag,
    str | None: Query.text,
    datetime | None: Query.moment,
}
"""How a parameter of the query is read, by its type."""
_FACTS: Final[Mapping[Any, Callable[[AnyRequest], Any]]] = {
    DecodeBatch: lambda _: lambda body: decode(body, JSON, BatchDocument),
    ServerUrl: lambda request: f"{request.scope['scheme']}://{request.headers.get('host', '')}",
    TraceId: lambda request: request.trace_id,
}


def route_of(call: Call) -> Route:
    """Return the route of a call."""
    asked = call.query

    async def serve(request: AnyRequest) -> Response[bytes]:
        query, services = request.query, request.services
        arguments: dict[str, Any] = {
            name: one.parse(request.path_params[one.name], services.settings)
            for name, one in call.ids.items()
        }
        arguments |= {
            name: read_parameter(query, one, services.settings) for name, one in asked.items()
        }
        kind = ""
        if call.cursor:
            kind = kind_of(
                call.cursor.list_name, *(query.text(one.word) for one in asked.values())
            )
            arguments["limit"] = limit_of(query, services.settings)
            arguments |= _position(query, call, kind)
        arguments |= await _read_body(request, call, query)
        arguments |= {name: _FACTS[kind](request) for name, kind in call.facts.items()}
        try:
            answer = await call.use_case(services, request.caller, **arguments)
        except NulCharacter as error:
            raise name_nul(error, arguments.get(call.document or "")) from None
        if call.cursor:
            last = _end(answer, call.cursor.key) if len(answer) == arguments["limit"] else None
            return reply(page_until(answer, kind, last))
        return _reply(call, answer)

    serve.__name__, serve.__doc__ = call.operation, call.description
    path = call.path.replace("}", ":str}")
    return route(path, method=call.method, status_code=200, opt=_opt(call))(serve)


def _end(rows: Sequence[Row], key: str) -> object:
    """Return the key of the last row."""
    return key.format_map(rows[-1]) if "{" in key else rows[-1][key]


def _known(call: Call) -> tuple[str, ...]:
    """Return the names that the query may have."""
    return (*(one.word for one in call.query.values()), *(PAGE if call.cursor else ()))


def read_parameter(query: Query, one: Asked, settings: Settings) -> Any:  # noqa: ANN401 (of any type)
    """Return a parameter of the query."""
    if one.path_id is not None and one.parse is None:
        text = query.text(one.word)
        return None if text is None else one.path_id.parse(text, settings)
    if one.parse is not None:
        text = query.text(one.word)
        try:
            return None if text is None and not one.is_required else one.parse(text or "")
        except BadId as error:
            raise wrong_parameter(one.word, error.detail.rstrip(".")) from error
    if one.kind == int | None:
        limits = QUERY[one.word][1]
        least, most = limits["minimum"], limits["maximum"]
        return query.integer(one.word, default=None, least=least, most=most)
    words = [word for part in get_args(one.kind) for word in get_args(part)]
    if words and query.text(one.word) is not None:
        return query.choice(one.word, tuple(words))
    return None if words else _READS[one.kind](query, one.word)


def _position(query: Query, call: Call, kind: str) -> dict[str, Any]:
    """Return where the page begins, as the use case wants it."""
    name = call.position
    assert name is not None, call.name
    assert call.cursor is not None, call.name
    if call.cursor.parse is not None:
        return {name: cursor_as(query, kind, call.cursor.parse)}
    if call.parameters[name].annotation is str:
        return {name: cursor_text(query, kind) or ""}
    number = cursor_of(query, kind, most=call.cursor.most)
    return {name: (number or 0) if call.parameters[name].annotation is int else number}


async def _read_body(request: AnyRequest, call: Call, query: Query) -> dict[str, Any]:
    """Return what the body brings to the use case."""
    if call.body is None:
        return {}
    found: dict[str, Any] = {}
    if call.origin is None and not call.is_keyed:
        document = await read_document(request, call.body)
    else:
        asked = (query.text(one.word) for one in call.query.values())
        document, origin = await read_submission(request, call.body, *asked)
        if call.origin is not None:
            found[call.origin] = origin
        elif action := ACTION.get():
            ACTION.set(replace(action, origin=origin))
    return found if call.document is None else {**found, call.document: document}


def _reply(call: Call, answer: Any) -> Response[bytes]:  # noqa: ANN401 (of any use case)
    """Reply with what a use case returns: a document, or with whether it is new, or goes on."""
    if not (call.creates or call.accepted):
        return reply({"items": answer, "cursor": None} if call.is_page else answer)
    document, is_so = answer if isinstance(answer, tuple) else (answer, True)
    return (
        created(document, is_new=is_so) if call.creates else reply(document, 202 if is_so else 200)
    )


def _opt(call: Call) -> dict[str, Any]:
    headers = (KEY,) if call.is_keyed and not call.creates else None
    said = {
        "right": call.right,
        "permission": call.permission,
        "page" if call.is_page else "answer": call.answer,
        "accepted": call.accepted,
        "path": {one.name: one for one in call.ids.values()},
        "query": _known(call),
        "body": call.body,
        "creates": call.creates,
        "headers": headers,
    }
    return {**{name: value for name, value in said.items() if value}, **call.marks}
