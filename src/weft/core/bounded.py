"""Read what somebody else has written, in JSON, msgpack, TOML or YAML: at most `DEPTH_MAX` deep.

A document that one parser still takes may be too deep for what reads it later with more below it
on the stack. So all that comes from outside is read here, and is either shallow or refused.
"""

import gc
import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec
from msgspec import inspect

DEPTH_MAX: Final = 100
"""Levels of lists and objects."""
ENVELOPE_DEPTH_MAX: Final = DEPTH_MAX + 10
"""Of what processes of weft tell each other, which holds such documents."""
PAGE_DEPTH_MAX: Final = 900
"""Of a page of items, whose reader checks each by itself: a deep one does not lose the others."""
_PAIR: Final = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\\\")
_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""What JSON writes for half a character; two of them are a pair."""
Found = TypeVar("Found")
TOO_DEEP: Final = f"it is nested more than {DEPTH_MAX} deep"
_OPENING_ONLY: Final = bytes.maketrans(b"{}", b"[]")
_NO_BRACKET: Final = bytes({*range(256)} - {*b'"[]{}'})
_Holder: Final = (dict, list, tuple, msgspec.Struct)


class Unreadable(msgspec.DecodeError, ValueError):
    """A text that breaks the rules of its format, or is too deep, and why."""


class HalfCharacter(Unreadable):
    """A text of JSON with half a character."""


def read_json(data: bytes | str, kind: Any = Any, *, depth_max: int | None = DEPTH_MAX) -> Any:  # noqa: ANN401 (any JSON)
    """Return what a text says. Raise `Unreadable`; `msgspec.ValidationError`: a wrong type.
    `depth_max` None: the types bound the depth, and what they leave raw is read by itself.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    found = _decoded(msgspec.json.Decoder, data, kind)
    if depth_max and data.count(b"[") + data.count(b"{") > depth_max and _is_deep(data, depth_max):
        raise Unreadable(TOO_DEEP)
    return found


def read_msgpack(data: bytes, kind: Any = Any, *, depth_max: int | None = DEPTH_MAX) -> Any:  # noqa: ANN401 (any msgpack)
    """Return what bytes say. Raise as `read_json` does."""
    found = _decoded(msgspec.msgpack.Decoder, data, kind)
    if depth_max and len(data) > depth_max:  # a level has at least a byte
        check_depth(found, depth_max)
    return found


def read_toml(text: str) -> dict[str, Any]:
    """Return what a text says. Raise `Unreadable`."""
    import tomllib  # noqa: PLC0415 (2 ms)

    try:
        return bounded(lambda: tomllib.loads(text))
    except ValueError as error:  # besides TOMLDecodeError, of an int with very many digits
        raise Unreadable(str(error)) from error


def bounded(load: Callable[[], Found]) -> Found:
    """Return what another parser reads. Raise `Unreadable` if it is too deep, and its errors."""
    try:
        found = load()
    except RecursionError as error:
        raise Unreadable(TOO_DEEP) from error
    check_depth(found)
    return found


def check_depth(value: object, depth_max: int = DEPTH_MAX) -> None:
    """Raise `Unreadable` for a value that is too deep. What types bound is not looked through."""
    level: Iterable[object] = [value]
    for _ in range(depth_max + 1):
        holders = {id(one): one for one in level if isinstance(one, _Holder)}.values()
        if not holders:
            return
        level = chain.from_iterable(map(_inside, holders))
    raise Unreadable(TOO_DEEP)


def _is_deep(data: bytes, depth_max: int) -> bool:
    """Return whether JSON is nested deeper. Its brackets say so: to walk what was made of them
    takes five times as long as to make it.
    """
    if b"\\" in data:
        data = re.sub(rb"\\.", b"", data)
    brackets = data.translate(_OPENING_ONLY, _NO_BRACKET).replace(b'""', b"")
    if b'"' in brackets:  # those within texts
        brackets = re.sub(rb'"[^"]*"', b"", brackets)
    for _ in range(depth_max):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _inside(holder: object) -> Iterable[object]:
    if isinstance(holder, dict):
        return chain(holder, holder.values())
    if isinstance(holder, msgspec.Struct):
        return [getattr(holder, name) for name in open_fields(type(holder))]
    assert isinstance(holder, list | tuple)
    return holder


def _decoded(form: Any, data: bytes, kind: Any) -> Any:  # noqa: ANN401 (any class, annotation, value)
    collects = gc.isenabled()
    gc.disable()  # a million small values would be looked through again and again
    try:
        return _decoder(form, kind)(data)
    except msgspec.ValidationError as error:
        if kind is not Any:
            raise
        raise Unreadable(str(error)) from error  # of a number that is out of range
    except RecursionError as error:
        raise Unreadable(TOO_DEEP) from error
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise Unreadable(f"it is not UTF-8: byte 0x{byte:02x}") from error
    except msgspec.DecodeError as error:
        if form is msgspec.json.Decoder and _HALF.search(_PAIR.sub(b"", data)):
            why = "a \\ud800 to \\udfff stands alone, which is half of a character"
            raise HalfCharacter(why) from error
        raise Unreadable(str(error)) from error
    finally:
        if collects:
            gc.enable()


@cache
def _decoder(form: Any, kind: Any) -> Callable[[bytes], Any]:  # noqa: ANN401 (a class, an annotation)
    decode: Callable[[bytes], Any] = form(kind).decode
    return decode


@cache
def open_fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of a struct that may hold something of any depth."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return tuple(field.name for field in info.fields if _is_open(field.type, frozenset({kind})))


def _is_open(info: inspect.Type, above: frozenset[type]) -> bool:
    if isinstance(info, inspect.AnyType):
        return True
    if isinstance(info, inspect.StructType):
        within = above | {info.cls}
        return info.cls in above or any(_is_open(field.type, within) for field in info.fields)
    parts = (getattr(info, name, ()) for name in info.__struct_fields__)
    return any(
        _is_open(one, above)
        for part in parts
        for one in (part if isinstance(part, tuple) else (part,))
        if isinstance(one, inspect.Type)
    )
