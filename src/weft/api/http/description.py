"""The description of this API (OpenAPI 3.1), generated from the routes and the structs that they
read and reply with.
"""

import html
import re
from functools import lru_cache
from typing import Any, Final

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

import weft
from weft.api.http.decoding import JSON, MSGPACK
from weft.api.http.problem_documents import MEDIA
from weft.wire.answers import Problem

Object = dict[str, Any]  # a part of an OpenAPI document
_DOCUMENTS: Final = ("body", "answer", "accepted", "page", "explained", "stream")
"""Keys of a route's `opt` that name structs: what it reads and what it replies with."""
_REF: Final = "#/components/schemas/{name}"
STREAM: Final = "text/event-stream"


@lru_cache(maxsize=1)
def describe(app: Litestar) -> Object:
    """Return the OpenAPI document."""
    handlers = [
        (path.path_format, handler)
        for path in app.routes
        for handler in getattr(path, "route_handlers", ())
        if isinstance(handler, HTTPRouteHandler) and "OPTIONS" not in handler.http_methods
    ]
    documents = {
        handler.opt[use] for _, handler in handlers for use in _DOCUMENTS if use in handler.opt
    }
    _, components = msgspec.json.schema_components(
        sorted({*documents, Problem}, key=lambda kind: str(kind.__name__)), ref_template=_REF
    )
    paths: dict[str, Object] = {}
    for path, handler in sorted(handlers, key=lambda pair: pair[0]):
        for method in handler.http_methods:
            paths.setdefault(path, {})[method.lower()] = _operation(path, handler)
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


def _operation(path: str, handler: HTTPRouteHandler) -> Object:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ] + [
        {"name": name, "in": place, "schema": {"type": "string"}}
        for place, names in (("query", _query_of(handler)), ("header", _headers_of(handler)))
        for name in names
    ]
    problem = {MEDIA: {"schema": _reference(Problem)}}
    operation: Object = {
        "operationId": handler.fn.__name__,
        "summary": (handler.fn.__doc__ or "").strip(),
        "parameters": parameters,
        "responses": {
            **_done(handler),
            **_accepted(handler),
            "default": {"description": "a problem document", "content": problem},
        },
    }
    if "body" in handler.opt:
        schema = {"schema": _reference(handler.opt["body"])}
        operation["requestBody"] = {"content": {JSON: schema, MSGPACK: schema}}
    if path in {"/healthz", "/readyz"}:
        operation["security"] = []
    return operation


def _done(handler: HTTPRouteHandler) -> Object:
    if "accepted" in handler.opt and "answer" not in handler.opt:
        return {}  # its work always goes on
    return {"201" if handler.opt.get("creates") else "200": _answer(handler)}


def _answer(handler: HTTPRouteHandler) -> Object:
    """Describe the reply of a request that succeeded."""
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
            schema = {"oneOf": [schema, _reference(handler.opt["explained"])]}
        return {"description": "a page", "content": {JSON: {"schema": schema}}}
    if "stream" in handler.opt:
        schema = _reference(handler.opt["stream"])
        return {
            "description": "messages with this document as data",
            "content": {STREAM: {"schema": schema}},
        }
    if "answer" in handler.opt:
        schema = _reference(handler.opt["answer"])
        return {"description": "done", "content": {JSON: {"schema": schema}}}
    return {"description": "done"}


def _accepted(handler: HTTPRouteHandler) -> Object:
    """Describe the reply of a request whose work goes on."""
    if "accepted" not in handler.opt:
        return {}
    content = {JSON: {"schema": _reference(handler.opt["accepted"])}}
    return {"202": {"description": "accepted; the operation goes on", "content": content}}


def _reference(kind: type[msgspec.Struct]) -> Object:
    return {"$ref": _REF.format(name=kind.__name__)}


def _query_of(handler: HTTPRouteHandler) -> tuple[str, ...]:
    return tuple(handler.opt.get("query", ()))


def _headers_of(handler: HTTPRouteHandler) -> tuple[str, ...]:
    return ("Idempotency-Key",) if handler.opt.get("creates") else handler.opt.get("headers", ())


def render_page(document: Object) -> str:
    """Return the description as one self-contained page."""
    rows = [
        f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>"
        f"<p>{html.escape(operation['summary'])}</p>{_details(operation)}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    schemas = [
        f"<h2 id='{html.escape(name)}'>{html.escape(name)}</h2>"
        f"<pre>{html.escape(msgspec.json.format(msgspec.json.encode(schema)).decode())}</pre>"
        for name, schema in document["components"]["schemas"].items()
    ]
    return (
        "<!doctype html><meta charset=utf-8><title>weft API</title>"
        "<style>body{font:16px/1.5 system-ui;max-width:60em;margin:2em auto;padding:0 1em}"
        "h2{font-size:1em;margin:1.5em 0 0}"
        "pre{background:#f4f4f4;padding:1em;overflow:auto}</style>"
        f"<h1>weft API {html.escape(document['info']['version'])}</h1>"
        "<p>Every request carries <code>Authorization: Bearer TOKEN</code>. "
        "The same description as <a href=/openapi.json>OpenAPI</a>.</p>"
        f"{''.join(rows)}<h1>Documents</h1>{''.join(schemas)}"
    )


def _details(operation: Object) -> str:
    names = [p["name"] for p in operation["parameters"] if p["in"] == "query"]
    text = f"<p>Query: {', '.join(f'<code>{n}</code>' for n in names)}</p>" if names else ""
    if "requestBody" in operation:
        name = operation["requestBody"]["content"][JSON]["schema"]["$ref"].rpartition("/")[2]
        text += f"<p>Body: <a href='#{name}'>{name}</a></p>"
    for status, answer in operation["responses"].items():
        if status != "default":
            text += "".join(
                f"<p>{status}: <a href='#{name}'>{name}</a></p>" for name in _names_in(answer)
            )
    return text


def _names_in(answer: Object) -> list[str]:
    """Return the names of the documents in an answer."""
    text = msgspec.json.encode(answer.get("content", {})).decode()
    return sorted(set(re.findall(r"#/components/schemas/(\w+)", text)))
