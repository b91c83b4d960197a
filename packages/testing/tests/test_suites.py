"""The table of suites in the guide: each calls every method of its port, and each of our adapters
runs it.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import pytest

from tidy.source_files import ROOT

ROWS = re.findall(
    r"^\| (.+) of `ports/(\w+)\.py` \| (.+?) \| (.+) \|$",
    (ROOT / "CONTRIBUTING.md").read_text(),
    re.MULTILINE,
)
"""Protocols, their module, suites, and files of tests."""
PORTS = [
    (getattr(import_module(f"weft.ports.{module}"), name), re.findall(r"\w+", suites)[0])
    for names, module, suites, _ in ROWS
    for name in re.findall(r"\w+", names)
]


def _names_in(suite: type) -> Iterator[str]:
    """Yield the attributes that the classes of a suite use."""
    for module in {part.__module__ for part in suite.__mro__[:-1]}:
        for top in ast.parse(inspect.getsource(sys.modules[module])).body:
            if isinstance(top, ast.ClassDef):
                yield from (node.attr for node in ast.walk(top) if isinstance(node, ast.Attribute))


@pytest.mark.parametrize(("port", "suite"), PORTS)
def test_every_method_of_the_port_is_called(port: type[Any], suite: str) -> None:
    methods = [name for name, _ in inspect.getmembers(port, inspect.isfunction) if name[0] != "_"]
    name = suite.title().replace("_", "")
    called = set(_names_in(getattr(import_module(f"weft_testing.{suite}"), name)))

    assert methods
    assert [name for name in methods if name not in called] == []


def test_table_has_all_suites() -> None:
    found = {one.stem for one in (ROOT / "packages/testing").rglob("*_suite.py")}

    assert {name for _, _, suites, _ in ROWS for name in re.findall(r"\w+", suites)} == found


@pytest.mark.parametrize(("module", "listed"), [(row[1], row[3]) for row in ROWS])
def test_each_adapter_is_in_a_file_that_runs_the_suite(module: str, listed: str) -> None:
    names = re.findall(r"(\w+\.py)`", listed)
    texts = [path.read_text() for one in names for path in (ROOT / "tests").rglob(one)]
    runs = [one for one in texts if re.search(r"^class \w+\(.*Suite", one, re.MULTILINE)]
    group = f"weft.{'event_sink' if module == 'topics' else module}s"
    homes = [
        re.sub(rf"(\.{one.name})\b.*", r"\1", one.module) for one in entry_points(group=group)
    ]

    assert len(runs) == len(names)
    assert [one for one in homes if not any(f"\nfrom {one}" in text for text in runs)] == []
