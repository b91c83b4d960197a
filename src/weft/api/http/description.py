"""The description of this API (OpenAPI 3.1), generated from the routes and the structs that they
read and reply with.
"""

import html
import inspect
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

import weft
from weft.api.calls.visits import is_shown
from weft.api.html.assets import assets
from weft.api.http.decoding import JSON, MERGE_PATCH, MSGPACK
from weft.api.http.parameter_schemas import VISIT, parameter
from weft.api.http.problem_documents import MEDIA
from weft.api.http.routing import Route, Router
from weft.core.access.rights import Right, roles_with
from weft.wire.answers.problems import Problem
from weft.wire.description import describe_kind

Object = dict[str, Any]  # a part of an OpenAPI document
_DOCUMENTS: Final = ("body", "answer", "accepted", "page", "explained", "stream")
"""Keys of a route's `opt` that name structs: what it reads and what it replies with."""
_REF: Final = "#/components/schemas/{name}"
STREAM: Final = "text/event-stream"
_REFUSALS: Final = {
    400: "the request is not valid",
    401: "no token, or one that is not valid",
    403: "the caller may not do this",
    404: "it does not exist, or the caller may not see it",
    408: "the body did not arrive in time",
    409: "the request conflicts with the present state",
    410: "it was there, and was removed",
    413: "the body is too large",
    415: "the body has an unsupported media type",
    416: "the range is outside the output",
    422: "the query would have to look at too many jobs",
    429: "too many requests, or more than a quota allows; try again after `Retry-After` seconds",
    500: "a defect of the server",
    503: "try again later",
    507: "a disk of the server is full; try again after `Retry-After` seconds",
}


@lru_cache(maxsize=1)
def describe(app: Router) -> Object:
    """Return the OpenAPI document."""
    handlers = [
        (path, handler)
        for handler in app.routes
        if handler.include_in_schema and "door" not in handler.opt  # its contract describes it
        for path in handler.path_formats
    ]
    documents = {
        handler.opt[use] for _, handler in handlers for use in _DOCUMENTS if use in handler.opt
    }
    components = _schemas({*documents, Problem})
    bodies = _schemas({handler.opt["body"] for _, handler in handlers if "body" in handler.opt})
    for name in components.keys() - bodies.keys():
        _require(components[name])
    paths: dict[str, Object] = {}
    for path, handler in sorted(handlers, key=lambda pair: pair[0]):
        right = app.rights[f"{handler.method} {path}"]
        paths.setdefault(path, {})[handler.method.lower()] = _operation(path, handler, right)
    return {
        "openapi": "3.1.0",
        "info": {"title": "weft", "version": weft.__version__},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas(kinds: Iterable[type[msgspec.Struct]]) -> dict[str, Object]:
    ordered = sorted(kinds, key=lambda kind: str(kind.__name__))
    return msgspec.json.schema_components(ordered, ref_template=_REF)[1]


def _require(schema: Object) -> None:
    """Say of an answer that it has each field that it may not lack (`UNSET`): a default of the
    core's types is for those who make one.
    """
    for name, field in schema.get("properties", {}).items():
        if "default" in field:
            schema["required"].append(name)
            del field["default"]


def _operation(path: str, handler: Route, right: Right | None) -> Object:
    names_by_where = {
        "path": re.findall(r"{(\w+)}", path),
        "query": handler.opt.get("query", ()),
        "header": (*_headers_of(handler), *([VISIT] if _is_visited(handler, right) else ())),
    }
    summary, _, rest = (
        inspect.cleandoc(handler.fn.__doc__ or "").replace("\n", " ").partition(". ")
    )
    operation: Object = {
        "operationId": handler.fn.__name__,
        "summary": summary.rstrip("."),
        "parameters": [
            parameter(name, where, handler.opt.get("path", {}))
            for where, names in names_by_where.items()
            for name in names
        ],
        "responses": {**_done(handler), **_accepted(handler), **_refused(path, handler, right)},
    }
    if rest:
        operation["description"] = rest
    if "body" in handler.opt:
        body = handler.opt["body"]
        schema = {"schema": _reference(body)}
        operation["requestBody"] = {
            "content": {JSON: schema, MSGPACK: schema},
            "required": any(field.required for field in msgspec.structs.fields(body)),
        }
        if handler.method == "PATCH":
            operation["requestBody"]["content"][MERGE_PATCH] = schema
    if "reads" in handler.opt:
        operation["requestBody"] = {"content": {handler.opt["reads"]: {}}, "required": True}
    if right is None:
        operation["security"] = []
    else:
        operation["x-weft-user-roles"] = roles_with(right)
    return operation


def _refused(path: str, handler: Route, right: Right | None) -> Object:
    """Describe a problem document for each status that an error of this operation can have."""
    statuses = {400, 500, 503, 507}
    if right is not None:
        statuses |= {401, 403, 429}
    if path.startswith("/v1/") or _is_visited(handler, right):
        statuses.add(404)
    if "body" in handler.opt:
        statuses |= {408, 409, 413, 415}
    if "q" in handler.opt.get("query", ()):
        statuses.add(422)
    statuses |= set(handler.opt.get("refuses", ()))
    content = {MEDIA: {"schema": _reference(Problem)}}
    return {
        str(status): {"description": _REFUSALS[status], "content": content}
        for status in sorted(statuses)
    }


def _done(handler: Route) -> Object:
    if "accepted" in handler.opt and "answer" not in handler.opt:
        return {}  # its work always goes on
    status = "201" if handler.opt.get("creates") else "200"
    found = {"303" if "redirects" in handler.opt else status: _answer(handler)}
    if "partial" in handler.opt:
        found["206"] = {"description": "the range", "content": _bytes(handler.opt["partial"])}
    return found


def _bytes(*media: str) -> Object:
    """Describe what is text or bytes to its reader, whatever is in it."""
    schemas: Object = {JSON: {}, STREAM: _message({"type": "string"})}
    return {one: {"schema": schemas.get(one, {"type": "string"})} for one in media}


def _message(data: Object) -> Object:
    """Describe one message of a stream of server-sent events."""
    text = {"type": "string"}
    return {"type": "object", "properties": {"id": text, "event": text, "data": data}}


def _answer(handler: Route) -> Object:
    """Describe the reply of a request that succeeded."""
    if "redirects" in handler.opt:
        return {"description": "it goes on there", "content": _bytes(*handler.opt["redirects"])}
    if "bytes" in handler.opt:
        return {"description": "done", "content": _bytes(*handler.opt["bytes"])}
    if "page" in handler.opt:
        items = {"type": "array", "items": _reference(handler.opt["page"])}
        cursor = {
            "type": ["string", "null"],
            "description": "of the next page; null on the last page",
        }
        schema: Object = {
            "type": "object",
            "required": ["items", "cursor"],
            "properties": {"items": items, "cursor": cursor},
        }
        if "explained" in handler.opt:
            schema["properties"]["warnings"] = {
                "type": "array",
                "items": {"type": "string"},
                "description": "keys in the query that nothing has as an attribute",
            }
            schema = {"oneOf": [schema, _reference(handler.opt["explained"])]}
        return {"description": "a page", "content": {JSON: {"schema": schema}}}
    if "stream" in handler.opt:
        document = {"contentMediaType": JSON, "contentSchema": _reference(handler.opt["stream"])}
        schema = _message({"type": "string", **document})
        description = "messages with this document as data"
        return {"description": description, "content": {STREAM: {"schema": schema}}}
    content = {JSON: {"schema": _reference(handler.opt["answer"])}}
    return {"description": "done", "content": {**content, **_bytes(*handler.opt.get("also", ()))}}


def _accepted(handler: Route) -> Object:
    """Describe the reply of a request whose work goes on."""
    if "accepted" not in handler.opt:
        return {}
    content = {JSON: {"schema": _reference(handler.opt["accepted"])}}
    return {"202": {"description": "accepted; the operation goes on", "content": content}}


def _reference(kind: type[msgspec.Struct]) -> Object:
    return {"$ref": _REF.format(name=kind.__name__)}


def _is_visited(handler: Route, right: Right | None) -> bool:
    return is_shown(right, handler.method, handler.opt)


def _headers_of(handler: Route) -> tuple[str, ...]:
    return ("Idempotency-Key",) if handler.opt.get("creates") else handler.opt.get("headers", ())


@lru_cache(maxsize=1)
def render_page(app: Router) -> bytes:
    """Return the description as one self-contained page."""
    document = describe(app)
    operations = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    index = "".join(
        f"<li><a href='#{html.escape(operation['operationId'])}'><code>{html.escape(title)}</code>"
        f"</a> {_prose(operation['summary'])}"
        for title, operation in operations
    )
    schemas = "".join(
        f"<h2 id='{html.escape(name)}'>{html.escape(name)}</h2>"
        f"<p>{_prose(schema.get('description', ''))}</p>{_fields(schema)}"
        for name, schema in document["components"]["schemas"].items()
    )
    version = html.escape(document["info"]["version"])
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>weft API</title>"
        "<meta name=viewport content='width=device-width'>"
        f"<link rel=icon href='{assets()['weft.svg'].path}'>"
        f"<link rel=stylesheet href='{assets()['docs.css'].path}'>"
        f"<h1>weft API {version}</h1>"
        "<p>Every request carries <code>Authorization: Bearer TOKEN</code>. "
        "The same description as <a href=/openapi.json>OpenAPI</a>.</p>"
        f"<ul>{index}</ul>{''.join(_section(*pair) for pair in operations)}"
        f"<h1>Documents</h1>{schemas}"
    ).encode()


def _section(title: str, operation: Object) -> str:
    """Return what the page says about one operation."""
    name = html.escape(operation["operationId"])
    text = f"<h2 id='{name}'><code>{html.escape(title)}</code></h2>"
    text += f"<p>{_prose(operation['summary'])}. {_prose(operation.get('description', ''))}</p>"
    if operation["parameters"]:
        rows = [
            (one["name"], one["in"], describe_kind(one["schema"]), one["description"])
            for one in operation["parameters"]
        ]
        text += _table(("parameter", "in", "form", ""), rows)
    if JSON in operation.get("requestBody", {}).get("content", {}):
        body = operation["requestBody"]["content"][JSON]["schema"]["$ref"].rpartition("/")[2]
        text += f"<p>Body: <a href='#{body}'>{body}</a></p>"
    for status, answer in operation["responses"].items():
        links = [f"<a href='#{one}'>{one}</a>" for one in _names_in(answer)]
        text += f"<p>{status}: {_prose(answer['description'])} {' '.join(links)}</p>"
    return text


def _fields(schema: Object) -> str:
    required = schema.get("required", ())
    rows = [
        (
            name,
            describe_kind(field),
            "required" if name in required else _shown_default(field),
            field.get("description", ""),
        )
        for name, field in schema.get("properties", {}).items()
    ]
    return _table(("field", "form", "default", ""), rows) if rows else ""


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join(
        "<tr><td><code>{}</code></td>{}</tr>".format(
            html.escape(row[0]), "".join(f"<td>{_prose(cell)}</td>" for cell in row[1:])
        )
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _prose(text: str) -> str:
    """Return text as HTML, with what is in backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _shown_default(schema: Object) -> str:
    return f"`{msgspec.json.encode(schema['default']).decode()}`" if "default" in schema else ""


def _names_in(answer: Object) -> list[str]:
    """Return the names of the documents in an answer."""
    text = msgspec.json.encode(answer.get("content", {})).decode()
    return sorted(set(re.findall(r"#/components/schemas/(\w+)", text)))
