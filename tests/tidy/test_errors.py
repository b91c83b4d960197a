"""Every error says what to do, has its line in docs/errors.md, and is provoked by a test."""

import ast
import importlib
import re

from tidy.exceptions import PROVOKED_BY, UNPROVOKED
from tidy.source_files import ROOT, nodes_of, product_files, python_files, relative
from weft.core.errors import WeftError, error_classes


def _kinds() -> list[type[WeftError]]:
    for file in product_files():
        house = "" if file.startswith("weft_") else "weft."
        module = house + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if not file.endswith("__main__.py"):
            importlib.import_module(module.removesuffix(".__init__"))
    return [kind for kind in error_classes() if kind.__module__.startswith(("weft.", "weft_"))]


def _composes_its_text(kind: type[WeftError]) -> bool:
    return kind.__init__ is not WeftError.__init__


def test_every_error_says_what_to_do() -> None:
    kinds = set(_kinds()) - {WeftError}  # itself only the message of an attempt that cannot start
    silent = {kind.__name__ for kind in kinds if not kind.advice and not _composes_its_text(kind)}
    without_hint = [
        f"{relative(path)}:{node.lineno} {node.func.id}"
        for path in product_files().values()
        if silent.intersection(re.findall(r"\w+", path.read_text()))
        for node in nodes_of(path, ast.Call)
        if isinstance(node.func, ast.Name)
        and node.func.id in silent
        and "hint" not in {keyword.arg for keyword in node.keywords}
    ]

    assert without_hint == []


def test_every_code_has_its_line_in_the_documents() -> None:
    page = (ROOT / "docs" / "errors.md").read_text()

    assert [kind.code for kind in _kinds() if f"| `{kind.code}` |" not in page] == []


def test_every_code_is_provoked_by_a_test() -> None:
    """A family is what its members are; a test names the code or the class."""
    paths = [path for path in python_files("tests") if path.parent.name != "tidy"]
    text = "\n".join(path.read_text() for path in paths)
    tests = {*re.findall(r"def (\w+)\(", text)}
    words, codes = {*re.findall(r"\w+", text)}, {*re.findall(r"\w+\.\w+", text)}
    unprovoked = {
        kind.code
        for kind in _kinds()
        if "code" in vars(kind)
        and not kind.__subclasses__()
        and kind.code not in codes
        and kind.__name__ not in words
    }

    assert PROVOKED_BY.keys() | UNPROVOKED == unprovoked
    assert set(PROVOKED_BY.values()) <= tests
