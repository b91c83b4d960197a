import ast
import re
from pathlib import Path

from tidy.exceptions import ADDRESS_OF_OTHERS, CANCELLED_ONCE, QUERY_TEXT, SLEEPING_TESTS
from tidy.source_files import (
    ROOT,
    nodes_of,
    product_files,
    python_files,
    relative,
    tracked_files,
    tree_of,
)

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
IMPORTS_OF_TESTS_MAX = 254
_QUERY = re.compile(
    r"\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s*\(|"
    r"CREATE\s+(TABLE|INDEX|FUNCTION|ROLE|SCHEMA)\s|ALTER\s+(TABLE|ROLE)\s)"
)
_WAITS = re.compile(r"await (asyncio\.(gather|wait)\(|[\w.]+$)")
_MACHINE_PATHS = re.compile(r"/(?:root|home/[a-z]+|work|Users)/")
_TEXTS = {".py", ".md", ".sql", ".sh", ".toml", ".txt", ".yaml", ".yml", ".json", ".conf", ""}


def _sleeps(path: Path) -> bool:
    for call in nodes_of(path, ast.Call):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        yields_only = [getattr(argument, "value", None) for argument in call.args] == [0]
        if name == "sleep" and not yields_only:
            return True
    return False


def test_tests_do_not_sleep() -> None:
    sleeping = {relative(path) for path in python_files("tests") if _sleeps(path)}

    assert sleeping == SLEEPING_TESTS


def _cancels_once(path: Path) -> bool:
    """Say whether it waits, perhaps for ever, for what may have lost its one cancellation."""
    for function in nodes_of(path, ast.AsyncFunctionDef) * (".cancel()" in path.read_text()):
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call | ast.Await)]
        texts = {node.lineno: ast.unparse(node) for node in calls[::-1]}
        cancelled = [line for line, text in texts.items() if text.endswith(".cancel()")]
        if any(
            line > min(cancelled, default=line) and _WAITS.match(texts[line]) for line in texts
        ):
            return True
    return any(node.attr == "TaskGroup" for node in nodes_of(path, ast.Attribute))


def test_what_is_ended_is_cancelled_again() -> None:
    found = {relative(path) for path in product_files().values() if _cancels_once(path)}

    assert found == CANCELLED_ONCE


def test_helpers_leave_files_of_tests() -> None:
    """What tests share has a file of its own, named for its subject. Only fewer."""
    n_imports = sum(
        (node.module or "").rpartition(".")[2].startswith("test_")
        for path in python_files("tests")
        for node in nodes_of(path, ast.ImportFrom)
    )

    assert n_imports <= IMPORTS_OF_TESTS_MAX, f"{n_imports} imports of test files by others"


def test_no_file_has_a_vague_name() -> None:
    vague = [
        relative(path)
        for path in python_files()
        if VAGUE_NAMES & {path.stem, *path.relative_to(ROOT).parts[:-1]}
    ]

    assert vague == []


def test_every_package_says_what_it_owns_and_must_not_do() -> None:
    silent = [
        relative(path)
        for path in product_files().values()
        if path.name == "__init__.py" and len(ast.get_docstring(tree_of(path)) or "") < 60
    ]

    assert silent == []


def test_methods_are_documented_once_at_least() -> None:
    """Those of a port or a base class there, and elsewhere only if there is more to say."""
    methods = [
        (method, f"{relative(path)}: {owner.name}.{method.name}")
        for path in product_files().values()
        for owner in tree_of(path).body
        if isinstance(owner, ast.ClassDef) and not owner.name.startswith("_")
        for method in owner.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    documented = {method.name for method, _ in methods if ast.get_docstring(method)}
    silent = [
        name
        for method, name in methods
        if method.name.strip("_") == method.name and method.name not in documented
    ]

    assert silent == []


def test_every_folder_with_modules_is_a_package() -> None:
    missing = {
        relative(path.parent)
        for path in product_files().values()
        if not (path.parent / "__init__.py").exists()
    }

    assert missing == set()


def test_no_query_text_in_python() -> None:
    found = {
        relative(path)
        for path in product_files().values()
        for node in nodes_of(path, ast.Constant)
        if isinstance(node.value, str) and _QUERY.match(node.value)
    }

    assert found == QUERY_TEXT


def test_no_path_of_a_machine_is_in_the_repository() -> None:
    found = [
        f"{relative(path)}:{number}"
        for path in tracked_files()
        if path.suffix in _TEXTS
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if _MACHINE_PATHS.search(line.replace(*ADDRESS_OF_OTHERS))
    ]

    assert found == []


def test_claims_know_no_kind_of_switch() -> None:
    """They ask `_switches` and `_is_closed`, so a new kind is a line in these (ADR 20)."""
    holds = re.compile(r"\bweft\.(group_hold|job_hold|_is_held)\b")
    claims = sorted((ROOT / "src/weft/sql/functions/verbs/claim").glob("*.sql"))

    assert claims
    assert [path.name for path in claims if holds.search(path.read_text())] == []
