"""The description of this api (OpenAPI 3.1), made from the routes themselves and from the structs
they read.
"""

import html
import re
from functools import lru_cache
from typing import Any, Final

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

import weft
from weft.api.decode import JSON, MSGPACK
from weft.api.problem_documents import MEDIA

Object = dict[str, Any]  # a part of an OpenAPI document
_REF: Final = "#/components/schemas/{name}"
_PROBLEM: Final[Object] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "hint", "code", "trace_id", "errors"],
    "properties": {
        **{
            name: {"type": "string"}
            for name in ("type", "title", "detail", "hint", "code", "trace_id")
        },
        "status": {"type": "integer"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"pointer": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}


@lru_cache(maxsize=1)
def describe(app: Litestar) -> Object:
    """Return the OpenAPI document."""
    handlers = [
        (path.path_format, handler)
        for path in app.routes
        for handler in getattr(path, "route_handlers", ())
        if isinstance(handler, HTTPRouteHandler) and "OPTIONS" not in handler.http_methods
    ]
    bodies = sorted(
        {handler.opt["body"] for _, handler in handlers if "body" in handler.opt},
        key=lambda kind: str(kind.__name__),
    )
    _, components = msgspec.json.schema_components(bodies, ref_template=_REF)
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
            "schemas": {**components, "Problem": _PROBLEM},
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
    problem = {MEDIA: {"schema": {"$ref": _REF.format(name="Problem")}}}
    operation: Object = {
        "operationId": handler.fn.__name__,
        "summary": (handler.fn.__doc__ or "").strip(),
        "parameters": parameters,
        "responses": {
            "201" if handler.opt.get("creates") else "200": {"description": "done"},
            "default": {"description": "a problem document", "content": problem},
        },
    }
    if "body" in handler.opt:
        schema = {"schema": {"$ref": _REF.format(name=handler.opt["body"].__name__)}}
        operation["requestBody"] = {"content": {JSON: schema, MSGPACK: schema}}
    if path in {"/healthz", "/readyz"}:
        operation["security"] = []
    return operation


def _query_of(handler: HTTPRouteHandler) -> tuple[str, ...]:
    return tuple(handler.opt.get("query", ()))


def _headers_of(handler: HTTPRouteHandler) -> tuple[str, ...]:
    return ("Idempotency-Key",) if handler.opt.get("creates") else handler.opt.get("headers", ())


def render_page(document: Object) -> str:
    """Return the description as one page that needs nothing else."""
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
        "<!doctype html><meta charset=utf-8><title>weft api</title>"
        "<style>body{font:16px/1.5 system-ui;max-width:60em;margin:2em auto;padding:0 1em}"
        "h2{font-size:1em;margin:1.5em 0 0}"
        "pre{background:#f4f4f4;padding:1em;overflow:auto}</style>"
        f"<h1>weft api {html.escape(document['info']['version'])}</h1>"
        "<p>Every request carries <code>Authorization: Bearer TOKEN</code>. "
        "The same as <a href=/openapi.json>OpenAPI</a>.</p>"
        f"{''.join(rows)}<h1>Documents</h1>{''.join(schemas)}"
    )


def _details(operation: Object) -> str:
    names = [p["name"] for p in operation["parameters"] if p["in"] == "query"]
    text = f"<p>Query: {', '.join(f'<code>{n}</code>' for n in names)}</p>" if names else ""
    if "requestBody" in operation:
        name = operation["requestBody"]["content"][JSON]["schema"]["$ref"].rpartition("/")[2]
        text += f"<p>Body: <a href='#{name}'>{name}</a></p>"
    return text
