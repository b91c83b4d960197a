"""One bound of depth for all that somebody else has written."""

from typing import Any

import msgspec
import pytest

from cases import cases
from weft.core.bounded import DEPTH_MAX, Unreadable, bounded, check_depth, read_json, read_msgpack

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
