"""The patterns of texts in documents: none lets a line break through at the end."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import weft.wire
from cases import cases
from weft.wire.description import END
from weft.wire.documents.users import Name

LOGINS = ("weft.wire.documents.logins", "weft.wire.documents.tokens")
"""Their texts are random, and name nothing; schemathesis finds none of their length before END."""
ANY_LINES = ("[^\\x00]+$", "[^\\x00]*$")
"""The ends of patterns of texts that may have several lines."""


def patterns_in(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(pattern := schema.get("pattern"), str):
            yield pattern
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from patterns_in(part)


def documents() -> Iterator[Any]:
    for found in pkgutil.walk_packages(weft.wire.__path__, "weft.wire."):
        if found.name in LOGINS:
            continue
        for one in vars(importlib.import_module(found.name)).values():
            if isinstance(one, type) and issubclass(one, msgspec.Struct):
                yield one


def test_patterns_end_where_the_text_ends() -> None:
    kinds = set(documents())
    _, components = msgspec.json.schema_components(kinds, schema_hook=lambda _: {})
    found = set(patterns_in(components))

    assert len(found) > 10
    assert [one for one in found if not one.endswith((END, *ANY_LINES))] == []


def test_end_is_no_line_break() -> None:
    assert re.search(f"^a{END}", "a")
    assert not re.search(f"^a{END}", "a\n")


@cases(
    "name",
    [
        "bob\n",
        "bo\u2028b",
        "bo\x85b",
        "bo\x9bb",
        "bob\u202e",
        "bo\u200bb",
        "bob\u2066",
        "\ufeffb",
        "bo\u00adb",
        "bo\u034fb",
        "bo\u061cb",
        "bob\u180e",
        "bob\u3164",
        "\u115fbob",
        "bo\uffa0b",
        "bob\ufe0e",
        "bo\ufffab",
    ],
)
def test_names_that_look_like_others_are_refused(name: str) -> None:
    """They would be names of their own beside `bob`, or steer what shows them."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(name, Name)


@cases("name", ["b", "Ada Lovelace", "ci/build@x", "Ünal", "李", "o'neil-2"])
def test_usual_names(name: str) -> None:
    assert msgspec.convert(name, Name) == name
