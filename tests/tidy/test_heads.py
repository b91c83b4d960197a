"""The heads of modules, which name one subject each."""

import ast
import re
from pathlib import Path

import pytest

from tidy.source_files import ROOT, relative, tree_of

HEADS_MAX = {"src": 233, "packages": 74, "tests": 246}
"""How many heads by top may name more than one subject. A number only falls."""
FILES = {"src": "src", "packages": "packages/*/src", "tests": "tests"}


def _head(path: Path) -> str:
    """Return the first sentence of the docstring; empty: it has none."""
    docstring = " ".join((ast.get_docstring(tree_of(path)) or "").split())
    return re.split(r"(?<=\.)\s", docstring, maxsplit=1)[0]


def _names_many(head: str) -> bool:
    return ";" in head or head.count(",") > 1


@pytest.mark.parametrize("top", FILES)
def test_heads_name_one_subject(top: str) -> None:
    """A head is one noun phrase: without `;`, and without a list, which two commas show."""
    files = [path for home in ROOT.glob(FILES[top]) for path in sorted(home.rglob("*.py"))]
    many = [f"{relative(path)}: {_head(path)}" for path in files if _names_many(_head(path))]

    assert files
    assert len(many) <= HEADS_MAX[top], "\n".join([f"{len(many)} heads:", *many])
