"""One bound of depth for all that somebody else has written."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest

from cases import cases
from weft.core import bounded as bounded_
from weft.core.bounded import (
    DEPTH_MAX,
    TooManyValues,
    Unreadable,
    bounded,
    check_depth,
    read_json,
    read_msgpack,
)

TOO_DEEP = "nested more than 100 deep"


class Leaf(msgspec.Struct):
    words: dict[str, list[str]]
    raw: msgspec.Raw = msgspec.Raw()
    anything: Any = None


class Tree(msgspec.Struct):
    name: str
    leaf: Leaf | None = None
    below: "list[Tree]" = []


def nest(depth: int, *, by: str = "list") -> Any:  # noqa: ANN401 (any JSON)
    value: Any = 1
    for _ in range(depth):
        value = {"a": value} if by == "dict" else [value]
    return value


@pytest.mark.parametrize("by", ["list", "dict"])
def test_the_deepest_document_is_read_and_the_next_one_is_refused(by: str) -> None:
    for encode, read in (
        (msgspec.json.encode, read_json),
        (msgspec.msgpack.encode, read_msgpack),
    ):
        assert read(encode(nest(DEPTH_MAX, by=by))) == nest(DEPTH_MAX, by=by)
        with pytest.raises(Unreadable, match=TOO_DEEP):
            read(encode(nest(DEPTH_MAX + 1, by=by)))


@cases("depth", [101, 900, 985, 1_000, 100_000])
def test_any_deeper_one_is_refused_in_the_same_words(depth: int) -> None:
    for text in (
        "[" * depth + "]" * depth,
        '{"a":' * depth + "1" + "}" * depth,
        '["]",' * depth + "1" + ',"["]' * depth,
    ):
        with pytest.raises(Unreadable, match=TOO_DEEP):
            read_json(text)
    with pytest.raises(Unreadable, match=TOO_DEEP):
        read_msgpack(b"\x91" * depth + b"\x01")


def test_a_typed_document_is_checked_where_its_types_let_it_nest() -> None:
    deep: list[dict[str, Any]] = [
        {"name": "a", "leaf": {"words": {}, "anything": nest(DEPTH_MAX)}},
        {"name": "a", "below": [{"name": "b", "leaf": {"words": {}, "anything": nest(99)}}]},
    ]
    tree: dict[str, Any] = {"name": "a"}
    for _ in range(DEPTH_MAX):
        tree = {"name": "a", "below": [tree]}
    for document in [*deep, tree]:
        with pytest.raises(Unreadable, match=TOO_DEEP):
            read_json(msgspec.json.encode(document), Tree)
        with pytest.raises(Unreadable, match=TOO_DEEP):
            read_msgpack(msgspec.msgpack.encode(document), Tree)
    with pytest.raises(msgspec.ValidationError, match=r"\$.name"):
        read_json(b'{"name":1}', Tree)


def test_brackets_in_texts_and_broad_documents_are_no_depth() -> None:
    for text in ("[" * 500, '"[' * 500, '\\"[' * 500, "{[\\" * 500):
        assert read_json(msgspec.json.encode([text])) == [text]
        with pytest.raises(Unreadable, match=TOO_DEEP):
            read_json(msgspec.json.encode([text, nest(DEPTH_MAX)]))
    assert len(read_json(b"[" + b"[]," * 50_000 + b"1]")) == 50_001


def test_what_is_shared_is_looked_at_once_and_a_ring_is_too_deep() -> None:
    shared: list[Any] = []
    for _ in range(50):
        shared = [shared, shared]  # 2^50 paths, as a few anchors of YAML make them
    check_depth(shared)
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(Unreadable, match=TOO_DEEP):
        bounded(lambda: ring)


def test_other_wrong_texts_say_what_is_wrong() -> None:
    for wrong, says in (
        (b'"\xff"', "UTF-8: byte 0xff"),
        (b"{", "truncated"),
        (b"[1e999]", "out of range"),
    ):
        with pytest.raises(Unreadable, match=says):
            read_json(wrong)
    for half in (
        r"\ud800",
        r"\udc00",
        r"\\\ud800",
        r"\ud83d\ude00\udbff",
        r"\ud800 and more text",
    ):
        with pytest.raises(Unreadable, match="half of a character"):
            read_json(f'"{half}"')


TEXTS = ("", "a", 'q"\\,[{', "\u0712x" * 40, "x" * 300, "," * 40, "\u00dd" * 9, "\x80\x91")


def made(random: Random, level: int = 0) -> Any:  # noqa: ANN401 (any JSON)
    kind = random.randrange(5 if level < 4 else 3)
    if kind == 3:
        return [made(random, level + 1) for _ in range(random.randrange(20))]
    if kind == 4:
        keys = (f"{random.choice(TEXTS)}{n}" for n in range(random.randrange(20)))
        return {key: made(random, level + 1) for key in keys}
    return random.choice((1, -5, 3.5, None, 2**40, *TEXTS))


def n_values(value: object) -> int:
    inside = [*value.values()] if isinstance(value, dict) else value
    return len(inside) + sum(map(n_values, inside)) if isinstance(inside, list) else 0


def test_values_are_counted_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever texts hold: a document is read with as many as it has, and refused with one less
    than it certainly has.
    """
    random = Random(7)  # noqa: S311 (the same each time)
    for _ in range(300):
        value = made(random)
        n = n_values(value)
        forms: list[tuple[Callable[[object], bytes], Callable[[bytes], object]]] = [
            (msgspec.json.encode, read_json),
            (as_ascii, read_json),
            (msgspec.msgpack.encode, read_msgpack),
        ]
        for encode, read in forms:
            # JSON counts an empty list or mapping as if it held something.
            empty = str(value).count("[]") + str(value).count("{}") + 1
            monkeypatch.setattr(bounded_, "VALUES_MAX", n + (empty if read is read_json else 0))
            assert read(encode(value)) == value
            monkeypatch.setattr(bounded_, "VALUES_MAX", n - 1)
            if n:
                with pytest.raises(TooManyValues):
                    count(read, encode(value))


def as_ascii(value: object) -> bytes:
    return json.dumps(value).encode()


def count(read: object, data: bytes) -> None:
    """Count as for a long one."""
    if (bounded_._has_many if read is read_json else bounded_._is_wide)(data):
        raise TooManyValues


@pytest.mark.parametrize(
    "data",
    [b"[" + b"[]," * 600_000 + b"1]", b'["' + b'","' * 600_000 + b'"]', b"[0" + b",0" * 600_000],
)
def test_too_many_values_of_json_are_refused_before_they_are_made(data: bytes) -> None:
    with pytest.raises(TooManyValues, match="more than 300000 values"):
        read_json(data)


@pytest.mark.parametrize("item", [b"\x90", b"\x80", b"\x01", b"\xc0", b"a", b"\xa1a", b"\x91\x01"])
def test_too_many_values_of_msgpack_are_refused_before_they_are_made(item: bytes) -> None:
    with pytest.raises(TooManyValues, match="more than 300000 values"):
        read_msgpack(b"\xdd" + (600_000).to_bytes(4, "big") + item * 600_000)


def test_long_texts_are_no_values() -> None:
    text = ',[{"\\\u0712\u00dd' * 200_000
    for encode, read in (
        (msgspec.json.encode, read_json),
        (msgspec.msgpack.encode, read_msgpack),
    ):
        assert read(encode([text, text])) == [text, text]


SLOW = (
    b"1.5e300",
    b"1e-0300",
    b"15" + b"0" * 285,
    b"0." + b"0" * 287 + b"15",
    b"9" * 149 + b"e150",
)


@pytest.mark.parametrize("number", SLOW)
def test_numbers_that_take_long_to_read_are_counted(number: bytes) -> None:
    """Each of the longer ones takes a hundred times as long as others."""
    few, many = (b"[%b]" % b",".join([number] * n) for n in (5_000, 10_001))
    assert len(read_json(few)) == 5_000
    with pytest.raises(TooManyValues, match="more than 10000 numbers"):
        read_json(many)
    for shape in (b'{"\\"a":["%b"]}', b'["\\\\", "%b"]'):
        assert read_json(shape % many.replace(b"[", b"").replace(b"]", b""))
