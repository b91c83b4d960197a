"""What an application says of itself: what is refused when it is added."""

import json
from typing import Any

import pytest

from cases import cases
from weft.core.errors import InvalidApp
from weft_apps.description import parse_description

APP: dict[str, Any] = {"name": "a", "version": "1", "templatePath": "run.sh"}
TAKEN = ("PATH", "path", "LD_PRELOAD", "AGAVE_JOB_ID", "BASH_ENV", "a.b")


def test_toml_says_the_same() -> None:
    text = 'name = "a"\nversion = "1"\ntemplatePath = "run.sh"\ndefaultMemoryPerNode = "2GB"\n'
    found = parse_description("app.toml", text.encode())
    assert found == parse_description(
        "app.json", json.dumps({**APP, "defaultMemoryPerNode": 2}).encode()
    )
    assert (found.name, found.memory) == ("a-1", 2 << 30)


@cases(
    ("more", "what"),
    [
        *(({"templatePath": path}, "within the folder") for path in ("../run.sh", "/bin/sh")),
        ({"name": "../a"}, "with the version"),
        ({"version": None}, "expected a text"),
        ({"defaultMaxRunTime": "1h"}, "HH:mm:ss"),
        ({"defaultNodeCount": 0}, "from 1 to"),
        ({"parameters": 7}, "list"),
        ({"parameters": [{"id": "a", "value": {"type": "sql"}}]}, "type"),
        ({"parameters": [{"id": "a", "value": {"validator": "(a{9}){9}"}}]}, "validator"),
        ({"parameters": [{"id": "a", "value": {"validator": "("}}]}, "validator"),
        ({"parameters": [{"id": "a", "value": {"validator": "(" * 200}}]}, "200 characters"),
        ({"parameters": [{"id": "a", "value": {"type": "number", "default": "x"}}]}, "default"),
        ({"parameters": [{"id": "a"}, {"id": "a"}]}, "twice"),
        ({"inputs": [{"id": "a", "value": {"default": [2**64]}}]}, "64"),
        *(({"parameters": [{"id": name}]}, "id") for name in TAKEN),
    ],
)
def test_wrong_descriptions_are_refused(more: dict[str, Any], what: str) -> None:
    with pytest.raises(InvalidApp, match=what):
        parse_description("app.json", json.dumps({**APP, **more}).encode())
