"""What an error says is read at a terminal, too: it names no route and no part of an answer."""

import ast
import re
from collections.abc import Iterator, Sequence

from tidy.source_files import nodes_of, product_files, relative, tracked_files

WORDS_OF_HTTP = re.compile(
    r"/v1/|\w=(?:true|false)`|openapi\.json|`errors`|\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) [`/]"
)
DECLARED = re.compile(r"[A-Z]+ /v1/[^ ]+")
"""What `@call` says of a use case."""
ONLY_REQUESTS = (
    "src/weft/api/http/",
    "src/weft/api/routes/",
    "packages/aloe/",
    "packages/hail/",
    "packages/jobweaver/",
    "packages/tes/",
    "packages/lines/src/weft_lines/routes/",
    "packages/lines/src/weft_lines/api.py",
    "packages/link/src/weft_link/routes.py",
    "packages/pages/src/weft_pages/part.py",
    "benches/route_bodies.py",
)
"""Requests, which nobody is shown, and mistakes in requests that weft's own programs do not make.
`InvalidParameter`, the one that they can make, gets words of its own at the terminal
(`cli/input/option_names.py`).
"""
COMMANDS = "src/weft/cli/commands/"
"""Their docstrings are shown by `--help`."""
SQL_FAILURE = re.compile(r"weft\._fail\((.*?)\);|RAISE EXCEPTION (.*?);", re.DOTALL)


def sentences(
    nodes: Sequence[ast.AST], *, with_docstrings: bool = False
) -> Iterator[tuple[int, str]]:
    """Yield the texts of more than one word, with their lines."""
    described = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    shown = (node for node in nodes if with_docstrings or id(node) not in described)
    for node in shown:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def sql_failures() -> Iterator[tuple[str, str]]:
    """Yield what the functions of the database fail with, with their files."""
    for path in tracked_files():
        if path.suffix == ".sql" and "/sql/functions/" in relative(path):
            for found in SQL_FAILURE.finditer(path.read_text()):
                yield relative(path), found[1] or found[2]


def test_errors_of_the_database_name_no_route() -> None:
    said = list(sql_failures())

    assert len(said) > 40
    assert [one for one in said if WORDS_OF_HTTP.search(one[1])] == []


def test_errors_and_help_name_no_route() -> None:
    said = [
        (f"{relative(path)}:{line}", text)
        for path in product_files().values()
        if not relative(path).startswith(ONLY_REQUESTS)
        for line, text in sentences(
            nodes_of(path, ast.Expr, ast.Constant),
            with_docstrings=relative(path).startswith(COMMANDS),
        )
    ]

    assert len(said) > 1000
    assert [
        one for one in said if WORDS_OF_HTTP.search(one[1]) and not DECLARED.fullmatch(one[1])
    ] == []


def test_routes_in_sentences_are_found() -> None:
    source = '"""GET /v1/x."""\nraise Refused(f"no {x}", hint=f"See GET /v1/{x}.")'
    nodes = list(ast.walk(ast.parse(source)))

    assert [line for line, text in sentences(nodes) if WORDS_OF_HTTP.search(text)] == [2]
