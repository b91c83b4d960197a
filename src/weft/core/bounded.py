"""Read what somebody else has written, in JSON, msgpack, TOML or YAML: at most `DEPTH_MAX` deep,
and of at most `VALUES_MAX` values.

A document that one parser still takes may be too deep for what reads it later with more below it
on the stack, or so wide that whoever goes through it holds up all others. So all that comes from
outside is read here, and is either shallow and narrow, or refused. Values are counted before any
is made: a byte of msgpack may become a hundred of memory.
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
VALUES_MAX: Final = 300_000
"""Items of lists and pairs of mappings, of all levels together: 10,000 jobs have as many with 30
each. They take at most two tenths of a second to make, while Python does nothing else, and about
60 MiB.
"""
SLOW_NUMBERS_MAX: Final = 10_000
"""Numbers of JSON with an exponent of three digits, or each `_LONG_DIGITS` digits of one: those at
the ends of what a float holds take a hundred times as long to read as others.
"""
_LONG_DIGITS: Final = 150
ENVELOPE_DEPTH_MAX: Final = DEPTH_MAX + 10
"""Of what processes of weft tell each other, which holds such documents."""
PAGE_DEPTH_MAX: Final = 900
"""Of a page of items, whose reader checks each by itself: a deep one does not lose the others."""
_PAIR: Final = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..")
_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""What JSON writes for half a character; two of them are a pair."""
Found = TypeVar("Found")
TOO_DEEP: Final = f"it is nested more than {DEPTH_MAX} deep"
TOO_MANY: Final = f"it has more than {VALUES_MAX} values"
TOO_SLOW: Final = f"it has more than {SLOW_NUMBERS_MAX} numbers as long as, or such as, 1e-300"
_OPENING_ONLY: Final = bytes.maketrans(b"{}", b"[]")
_NO_BRACKET: Final = bytes({*range(256)} - {*b'"[]{}'})
_NO_SEPARATOR: Final = bytes({*range(256)} - {*b",[{"})
_NO_MARK: Final = bytes({*range(256)} - {*b'",[{'})
_TEXT: Final = re.compile(rb'"[^"]*"')
_ZEROS: Final = bytes.maketrans(b"123456789E", b"000000000e")
_SLOW: Final = (b"e000", b"0" * _LONG_DIGITS)
"""What slow numbers have, if all digits are zeros, and signs and points are left out."""
_NO_HEAD: Final = bytes({*range(256)} - {*range(0x80, 0xA0), *range(0xDC, 0xE0)})
_LONG: Final = re.compile(rb"[\xdc\xde](..)|[\xdd\xdf](....)", re.DOTALL)
"""The head of a list or mapping of msgpack with a length of its own, or what looks like one."""
_LONG_MAX: Final = 100_000
_Holder: Final = (dict, list, tuple, msgspec.Struct)


class Unreadable(msgspec.DecodeError, ValueError):
    """A text that breaks the rules of its format, or is too deep, and why."""


class TooManyValues(Unreadable):
    """A document of more than `VALUES_MAX` values, or `SLOW_NUMBERS_MAX` slow ones."""


class HalfCharacter(Unreadable):
    """A text of JSON with half a character."""


def read_json(
    data: bytes | str,
    kind: Any = Any,  # noqa: ANN401 (a class, an annotation)
    *,
    depth_max: int | None = DEPTH_MAX,
    is_counted: bool = False,
) -> Any:  # noqa: ANN401 (any JSON)
    """Return what a text says. Raise `Unreadable`; `msgspec.ValidationError`: a wrong type.
    `depth_max` None: the types bound the depth, and what they leave raw is read by itself.
    `is_counted`: `count_json` was called before.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    if not is_counted:
        count_json(data)
    found = _decoded(msgspec.json.Decoder, data, kind)
    if depth_max and data.count(b"[") + data.count(b"{") > depth_max and _is_deep(data, depth_max):
        raise Unreadable(TOO_DEEP)
    return found


def read_msgpack(
    data: bytes,
    kind: Any = Any,  # noqa: ANN401 (a class, an annotation)
    *,
    depth_max: int | None = DEPTH_MAX,
    is_counted: bool = False,
) -> Any:  # noqa: ANN401 (any msgpack)
    """Return what bytes say. Raise as `read_json` does."""
    if not is_counted:
        count_msgpack(data)
    found = _decoded(msgspec.msgpack.Decoder, data, kind)
    if depth_max and len(data) > depth_max:  # a level has at least a byte
        check_depth(found, depth_max)
    return found


def count_json(data: bytes) -> None:
    """Raise `TooManyValues` if this JSON has too many."""
    if len(data) > 2 * VALUES_MAX and _has_many(data):  # a value has at least a byte, and a comma
        raise TooManyValues(TOO_MANY)
    if len(data) > 5 * SLOW_NUMBERS_MAX and _is_slow(data):
        raise TooManyValues(TOO_SLOW)


def count_msgpack(data: bytes) -> None:
    """Raise `TooManyValues` if these bytes have too many."""
    if len(data) > VALUES_MAX and _is_wide(data):
        raise TooManyValues(TOO_MANY)


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
    brackets = _unescaped(data).translate(_OPENING_ONLY, _NO_BRACKET).replace(b'""', b"")
    if b'"' in brackets:  # those within texts
        brackets = _TEXT.sub(b"", brackets)
    for _ in range(depth_max):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _has_many(data: bytes) -> bool:
    """Return whether JSON has more than `VALUES_MAX` values: by its commas and opening brackets;
    those in texts are left out only if it seems so.
    """
    if len(data.translate(None, _NO_SEPARATOR)) <= VALUES_MAX:
        return False
    marks = _unescaped(data).translate(None, _NO_MARK)
    if marks.count(b'"') > 4 * (VALUES_MAX + 1):  # two of each key, two of each value
        return True
    marks = marks.replace(b'""', b"")
    if b'"' in marks:
        marks = _TEXT.sub(b"", marks)
    return len(marks) - marks.count(b'"') > VALUES_MAX


def _is_slow(data: bytes) -> bool:
    """Return whether JSON has more than `SLOW_NUMBERS_MAX` numbers that take long to read: those
    in texts are left out only if it seems so.
    """
    zeros = data.translate(_ZEROS, b"+-.")
    if sum(map(zeros.count, _SLOW)) <= SLOW_NUMBERS_MAX:
        return False
    bare = _TEXT.sub(b"", _unescaped(zeros))
    return sum(map(bare.count, _SLOW)) > SLOW_NUMBERS_MAX


def _unescaped(data: bytes) -> bytes:
    """Return JSON without escaped quotes and backslashes: what is left of them quotes nothing."""
    if b"\\" not in data:
        return data
    return data.replace(b"\\\\", b"").replace(b'\\"', b"")


def _is_wide(data: bytes) -> bool:
    """Return whether msgpack has more than `VALUES_MAX` values. The lengths of all that looks like
    the head of a list or mapping are more than there are; only if those are too many it is walked.
    """
    heads = data.translate(None, _NO_HEAD)
    total = sum(
        size * (heads.count(0x80 + size) + heads.count(0x90 + size)) for size in range(1, 16)
    )
    n_long = sum(map(heads.count, range(0xDC, 0xE0)))
    if total <= VALUES_MAX and n_long <= _LONG_MAX:
        lengths = [int.from_bytes(one[1] or one[2], "big") for one in _LONG.finditer(data)]
        # One that stands within the length of another is not found.
        if len(lengths) == n_long and total + sum(lengths) <= VALUES_MAX:
            return False
    return _walked_is_wide(data)


def _walked_is_wide(data: bytes) -> bool:
    """Return whether msgpack has more than `VALUES_MAX` values: from head to head, in tenths of a
    second at most.
    """
    at, n, end = 0, 0, len(data)
    sizes, unpack = _SIZES, int.from_bytes
    while at < end:
        skipped, width, n_items, more = sizes[data[at]]
        at += 1
        if width:
            size = unpack(data[at : at + width], "big")
            at += width + more
            if n_items:
                n += size
            else:
                at += size
        else:
            at += skipped
            n += n_items
        if n > VALUES_MAX:
            return True
    return False


def _size_of(head: int) -> tuple[int, int, int, int]:
    """Return of a head of msgpack: bytes that follow, bytes of a length that follows, items (of a
    length: whether it counts them), and bytes that follow the length besides.
    """
    if 0x80 <= head < 0xA0:  # noqa: PLR2004 (a mapping or list)
        return 0, 0, head & 15, 0
    if 0xA0 <= head < 0xC0:  # noqa: PLR2004 (a text)
        return head & 31, 0, 0, 0
    lengths = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
    lists = {0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
    extended = {0xC7: 1, 0xC8: 2, 0xC9: 4}
    fixed = {0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4}
    fixed |= {0xD3: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17}
    if head in extended:
        return 0, extended[head], 0, 1
    return fixed.get(head, 0), lengths.get(head, 0) or lists.get(head, 0), int(head in lists), 0


_SIZES: Final = [_size_of(head) for head in range(256)]


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
        bare = _PAIR.sub(b"", data.replace(b"\\\\", b"")) if b"\\u" in data else b""
        if form is msgspec.json.Decoder and _HALF.search(bare):
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
