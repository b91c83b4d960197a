"""What an error says is read at a terminal, too: it names no route and no part of an answer."""

import ast
import re
from collections.abc import Iterator

from tidy.source_files import python_files, relative, tracked_files, tree_of

WORDS_OF_HTTP = re.compile(
    r"/v1/|\w=(?:true|false)`|openapi\.json|`errors`|\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) [`/]"
)
ONLY_REQUESTS = (
    "src/weft/api/http/", "src/weft/api/routes/", "src/weft/doors/",
    "benches/route_bodies.py",
)  # fmt: skip
"""Requests, which nobody is shown, and mistakes in requests that weft's own programs do not make.
`InvalidParameter`, the one that they can make, gets words of its own at the terminal
(`cli/input/option_names.py`).
"""
COMMANDS = "src/weft/cli/commands/"
"""Their docstrings are shown by `--help`."""
SQL_FAILURE = re.compile(r"weft\._fail\((.*?)\);|RAISE EXCEPTION (.*?);", re.DOTALL)


def sentences(tree: ast.Module, *, with_docstrings: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the texts of more than one word, with their lines."""
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    shown = (node for node in ast.walk(tree) if with_docstrings or id(node) not in described)
    for node in shown:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def sql_failures() -> Iterator[tuple[str, str]]:
    """Yield what the functions of the database fail with, with their files."""
    for path in tracked_files():
        if path.suffix == ".sql" and relative(path).startswith("src/weft/sql/functions/"):
            for found in SQL_FAILURE.finditer(path.read_text()):
                yield relative(path), found[1] or found[2]


def test_errors_of_the_database_name_no_route() -> None:
    said = list(sql_failures())

    assert len(said) > 40
    assert [one for one in said if WORDS_OF_HTTP.search(one[1])] == []


def test_errors_and_help_name_no_route() -> None:
    said = [
        (f"{relative(path)}:{line}", text)
        for path in python_files("src")
        if not relative(path).startswith(ONLY_REQUESTS)
        for line, text in sentences(
            tree_of(path), with_docstrings=relative(path).startswith(COMMANDS)
        )
    ]

    assert len(said) > 1000
    assert [one for one in said if WORDS_OF_HTTP.search(one[1])] == []


def test_routes_in_sentences_are_found() -> None:
    tree = ast.parse('"""GET /v1/x."""\nraise Refused(f"no {x}", hint=f"See GET /v1/{x}.")')

    assert [line for line, text in sentences(tree) if WORDS_OF_HTTP.search(text)] == [2]
