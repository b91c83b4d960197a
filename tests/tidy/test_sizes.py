from functools import cache

from tidy.exceptions import LONG_FILES, LONG_FUNCTIONS, LONG_SQL_FUNCTIONS
from tidy.source_files import (
    GENERATED,
    named_functions,
    python_files,
    relative,
    tracked_files,
    tree_of,
)
from weft.sql import files_of

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 60
SQL_FUNCTION_LINES_MAX = 80
SQL_LINE_MAX = 140


def _too_long(found: dict[str, int], allowed: dict[str, int], limit: int) -> list[str]:
    return [
        f"{name} has {lines} lines, {allowed.get(name, limit)} are allowed"
        for name, lines in found.items()
        if lines > allowed.get(name, limit)
    ]


def _file_lengths() -> dict[str, int]:
    return {
        relative(path): len(path.read_bytes().splitlines())
        for path in tracked_files()
        if path.suffix in {".py", ".sql", ".sh"}
        and not path.name.endswith(".snapshot.sql")
        and not relative(path).startswith(GENERATED)
    }


@cache
def _function_lengths() -> dict[str, int]:
    return {
        f"{relative(path)}::{name}": (function.end_lineno or 0) - function.lineno + 1
        for path in python_files()
        for name, function in named_functions(tree_of(path))
    }


def _sql_function_lengths() -> dict[str, int]:
    return {
        file.name: len(file.text.partition("CREATE OR REPLACE")[2].splitlines())
        for file in files_of("functions")
    }


def test_no_file_is_too_long() -> None:
    assert _too_long(_file_lengths(), LONG_FILES, FILE_LINES_MAX) == []


def test_no_function_is_too_long() -> None:
    assert _too_long(_function_lengths(), LONG_FUNCTIONS, FUNCTION_LINES_MAX) == []


def test_exceptions_for_files_are_needed() -> None:
    lengths = _file_lengths()

    assert [name for name in LONG_FILES if lengths.get(name, 0) <= FILE_LINES_MAX] == []


def test_exceptions_for_functions_are_needed() -> None:
    lengths = _function_lengths()

    assert [name for name in LONG_FUNCTIONS if lengths.get(name, 0) <= FUNCTION_LINES_MAX] == []


def test_no_sql_function_is_too_long() -> None:
    found = _sql_function_lengths()

    assert _too_long(found, LONG_SQL_FUNCTIONS, SQL_FUNCTION_LINES_MAX) == []


def test_exceptions_for_sql_functions_are_needed() -> None:
    found = _sql_function_lengths()

    assert [n for n in LONG_SQL_FUNCTIONS if found.get(n, 0) <= SQL_FUNCTION_LINES_MAX] == []


def test_no_line_of_sql_is_too_long() -> None:
    long = [
        f"{folder}/{file.name}:{number}"
        for folder in ("schema", "migrations", "functions", "views", "audit", "catalog", "owner")
        for file in files_of(folder)
        for number, line in enumerate(file.source.splitlines(), 1)
        if len(line) > SQL_LINE_MAX
    ]

    assert long == []
