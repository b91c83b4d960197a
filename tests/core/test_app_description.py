"""What an application says of itself: what is refused when it is added."""

import json
from typing import Any

import pytest

from cases import cases
from weft.core.errors import InvalidApp
from weft.extensions.apps.description import parse_description

APP: dict[str, Any] = {"name": "a", "version": "1", "templatePath": "run.sh"}


def test_toml_says_the_same() -> None:
    text = 'name = "a"\nversion = "1"\ntemplatePath = "run.sh"\ndefaultMemoryPerNode = "2GB"\n'
    found = parse_description("app.toml", text.encode())
    assert found == parse_description(
        "app.json", json.dumps({**APP, "defaultMemoryPerNode": 2}).encode()
    )
    assert (found.name, found.memory) == ("a-1", 2 << 30)


@cases("name", ["PATH", "path", "LD_PRELOAD", "AGAVE_JOB_ID", "BASH_ENV", "a.b"])
def test_variables_with_a_meaning_are_refused(name: str) -> None:
    with pytest.raises(InvalidApp, match="id"):
        parse_description("app.json", json.dumps({**APP, "parameters": [{"id": name}]}).encode())


@cases(
    "more",
    [
        {"templatePath": "../run.sh"},
        {"templatePath": "/bin/sh"},
        {"name": "../a"},
        {"version": None},
        {"defaultMaxRunTime": "1h"},
        {"defaultNodeCount": 0},
        {"parameters": 7},
        {"parameters": [{"id": "a", "value": {"type": "sql"}}]},
        {"parameters": [{"id": "a", "value": {"validator": "(a{9}){9}"}}]},
        {"parameters": [{"id": "a", "value": {"validator": "("}}]},
        {"parameters": [{"id": "a", "value": {"type": "number", "default": "x"}}]},
        {"parameters": [{"id": "a"}, {"id": "a"}]},
    ],
)
def test_wrong_descriptions_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidApp):
        parse_description("app.json", json.dumps({**APP, **more}).encode())


def test_a_pattern_that_is_too_long_is_not_read() -> None:
    given = {"parameters": [{"id": "a", "value": {"validator": "(" * 200}}]}
    with pytest.raises(InvalidApp, match="200 characters"):
        parse_description("app.json", json.dumps({**APP, **given}).encode())
