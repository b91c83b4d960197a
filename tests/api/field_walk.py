"""Requests with a value in each field of a kind, found from the routes and their documents."""

import re
from collections.abc import Container, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, cast
from urllib.parse import quote, urlencode

import msgspec
from msgspec import inspect

from weft.api.app import Application
from weft.api.http.parameters import PATH_IDS
from weft.api.http.routing import Route

NEEDED: Final[Mapping[str, Any]] = {
    "policy": "stepwise",
    "on": ["oom"],
    "steps": [],
    "source": "/s",
    "target": "/t",
    "action": "hold",
    "created_at": "2026-01-01T00:00:00Z",
    "ended_at": "2026-01-01T00:00:00Z",
}
"""What the fields hold that a document must have, where not the first example of their type."""
ALSO: Final[Mapping[str, Mapping[str, Any]]] = {
    "QueueDocument": {"priority": 5},
    "HealthDocument": {"command": ["true"]},
    "PoolDocument": {"max_workers": 4, "regions": ["local"]},
    "LimitEdit": {"amount_max": 1},
    "FileStoreDocument": {"credentials": "env"},
    "ProjectEdit": {"cost_max": 1},
}
"""What documents hold that a rule asks for, and not their type."""
BESIDE: Final[Mapping[str, Mapping[str, Any]]] = {
    "index_from": {"count": 3},
    "args": {"call": "math:sqrt"},
    "kwargs": {"call": "math:sqrt"},
    "first_s": {"policy": "exponential"},
    "longest_s": {"policy": "exponential"},
    "wait_s": {"policy": "constant"},
    "up_to": {"memory": "x2"},
    "after": {"memory": "8Gi"},
    "retry": {"max_attempts": 2},
    "retry_with": {"max_attempts": 2, "timeout_s": 60},
    "inherit_env": {"jobs": [{"command": ["true"]}]},  # of no job, it is not read
    "service": {"name": "n", "command": ["true"]},
    "cancel_after_n_failures": {"path": "/g"},
    "callback": {"path": "/g"},
}
"""What a document has beside a field, where else that would be refused."""
ASKED: Final = {"find": "x", "action": "hold", "path": "a", "format": "json", "pool": "default"}
"""Parameters that others need."""
RAW: Final = ("cpu", "memory", "storage", "gpu", "rack")


class Evaluated:
    """Of the kind of what is marked as evaluated, whatever it is."""


class Try(NamedTuple):
    """One request."""

    method: str
    path: str
    where: str
    document: Any


def fields_of(
    app: Application,
    kinds: tuple[type, ...],
    value: Any,  # noqa: ANN401
    paths: Container[str] | None = None,
) -> Iterator[Try]:
    """Yield a request for each field of any document, or of those at `paths`, that may hold
    something of these kinds.
    """
    seen = set[tuple[type, str]]()
    for method, path, handler in _routes(app):
        if "body" in handler.opt and (paths is None or _filled(path) in paths):
            info = inspect.type_info(handler.opt["body"])
            for way, document in _places(info, kinds, value, (), seen):
                yield Try(method, _filled(path), "/".join(map(str, way)), document)


def parameters_of(app: Application, value: str) -> Iterator[Try]:
    """Yield a request for each parameter of any path and query."""
    for method, path, handler in _routes(app):
        if method == "DELETE" or path == "/v1/events":  # a stream
            continue
        names = handler.opt.get("query", ())
        usual = {name: ASKED[name] for name in names if name in ASKED}
        kind = handler.opt.get("body")
        document = {} if kind is None else sound_document(kind)
        for name in names:
            query = urlencode({**usual, name: value}, errors="surrogateescape")
            yield Try(method, f"{_filled(path)}?{query}", name, document)
        for name in PATH_IDS:
            if f"{{{name}}}" in path:
                quoted = quote(value, safe="", errors="surrogateescape")
                filled = f"{_filled(path, name, quoted)}?{urlencode(usual)}"
                yield Try(method, filled, name, document)


def reads_of(app: Application) -> Iterator[str]:
    """Yield the path of each page and each document."""
    for method, path, _ in _routes(app):
        if method == "GET" and not path.endswith(("/events", "/notices", "/live")):  # streams
            yield _filled(path)


def _routes(app: Application) -> Iterator[tuple[str, str, Route]]:
    for route in app.router.routes:
        for path in route.path_formats if "door" not in route.opt else ():
            yield route.method, path, route


def _filled(path: str, name: str = "", value: str = "") -> str:
    for one, kind in PATH_IDS.items():
        usual = "default" if re.fullmatch(kind.pattern, "default") else "1"  # a name, or a number
        path = path.replace(f"{{{one}}}", value if one == name else usual)
    return path


def _places(
    info: inspect.Type,
    kinds: tuple[type, ...],
    value: Any,  # noqa: ANN401
    above: tuple[type, ...],
    seen: set[tuple[type, str]],
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the way to each place for the value, and what holds it there."""
    match info:
        case inspect.StructType() if info.cls not in above:
            needed, names = _needed(info), {one.encode_name for one in info.fields}
            for one in info.fields:
                if above and (info.cls, one.name) in seen:
                    continue
                seen.add((info.cls, one.name))
                for way, inner in _places(one.type, kinds, value, (*above, info.cls), seen):
                    beside = BESIDE.get(one.encode_name, {}).items()
                    known = {name: held for name, held in beside if name in names}
                    yield (one.encode_name, *way), {**needed, **known, one.encode_name: inner}
        case inspect.ListType() | inspect.VarTupleType():
            for way, inner in _places(info.item_type, kinds, value, above, seen):
                yield (0, *way), [inner]
        case inspect.DictType():
            if str in kinds:
                yield ("KEY",), {value: "1"}
            for way, inner in _places(info.value_type, kinds, value, above, seen):
                yield ("k", *way), {"k": inner}
        case inspect.UnionType():
            places = (_places(one, kinds, value, above, seen) for one in info.types)
            yield from {way: (way, inner) for some in places for way, inner in some}.values()
        case inspect.Metadata() if Evaluated in kinds and (info.extra or {}).get("evaluated"):
            yield (), value
        case inspect.Metadata():
            yield from _places(info.type, kinds, value, above, seen)
        case inspect.RawType() | inspect.AnyType() if Evaluated not in kinds:
            yield (), value
            yield from (((name,), {name: value}) for name in RAW)
        case inspect.StrType() if str in kinds:
            yield (), value
        case inspect.IntType() | inspect.FloatType() if int in kinds:
            yield (), value
        case inspect.DateTimeType() if datetime in kinds:
            yield (), value


def sound_document(kind: type, *, is_edit: bool = False) -> dict[str, Any]:
    """Return what a document must have, and of an edit its first field, if that is nothing."""
    info = cast("inspect.StructType", inspect.type_info(kind))
    first = info.fields[:1] if is_edit else ()
    return _needed(info) or {one.encode_name: _usual(one) for one in first}


def _needed(info: inspect.StructType) -> dict[str, Any]:
    tag = {} if info.tag_field is None else {info.tag_field: info.tag}
    usual = {one.encode_name: _usual(one) for one in info.fields if one.required}
    return tag | usual | dict(ALSO.get(info.cls.__name__, {}))


def _usual(field: inspect.Field) -> Any:  # noqa: ANN401 (any value)
    """Return something for a field that must be there."""
    if field.encode_name in NEEDED:
        return NEEDED[field.encode_name]
    info = field.type
    while isinstance(info, inspect.Metadata):
        for example in (info.extra_json_schema or {}).get("examples", ()):
            return example
        info = info.type
    match info:
        case inspect.UnionType():
            return _usual(msgspec.structs.replace(field, type=info.types[0]))
        case inspect.IntType() | inspect.FloatType():
            return 1
        case inspect.StructType():
            return _needed(info)
        case inspect.ListType() | inspect.VarTupleType():
            return [_usual(msgspec.structs.replace(field, type=info.item_type, encode_name="n"))]
        case inspect.DictType():
            return {}
        case inspect.LiteralType():
            return info.values[0]
        case inspect.BoolType():
            return True
    return "n"
