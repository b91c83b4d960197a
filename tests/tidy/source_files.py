"""The files of the repository, as the tests of its tidiness see them."""

import ast
import gc
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[2]
GENERATED = "src/weft/client/generated/"
"""What `tools/generate_client.py` writes, and nothing else."""
Node = TypeVar("Node", bound=ast.AST)


@cache
def tracked_files() -> tuple[Path, ...]:
    """Return the files of the repository: all that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:  # an unpacked archive
        paths = [path for top in ("src", "tests", "docs") for path in (ROOT / top).rglob("*")]
    return tuple(sorted(path for path in paths if path.is_file() and not path.is_symlink()))


def python_files(*tops: str) -> list[Path]:
    """Return the Python files below these folders."""
    return [
        path
        for path in tracked_files()
        if path.suffix == ".py" and (not tops or relative(path).split("/")[0] in tops)
    ]


def relative(path: Path) -> str:
    """Return the path as people write it."""
    return path.relative_to(ROOT).as_posix()


def product_files(suffix: str = ".py") -> dict[str, Path]:
    """Return the files of the house, named from `src/weft` on, and those of the packages that are
    a part of what runs, named from their `src` on.
    """
    homes = [ROOT / "src/weft", *(ROOT / "packages").glob("*/src")]
    return {
        path.relative_to(home).as_posix(): path
        for home in homes
        if home.parent.name not in {"siege", "testing"}
        for path in sorted(home.rglob(f"*{suffix}"))
    }


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree."""
    gc.disable()  # millions of nodes live until the end: nobody looks for garbage among them
    try:
        return ast.parse(path.read_text(), filename=str(path))
    finally:
        gc.freeze()
        gc.enable()


@cache
def _nodes_by_type(path: Path) -> dict[type[ast.AST], list[ast.AST]]:
    result = defaultdict(list)
    for node in ast.walk(tree_of(path)):
        result[type(node)].append(node)
    return result


def nodes_of(path: Path, *types: type[Node]) -> list[Node]:
    """Return the nodes of these types: all tests share one walk through each tree."""
    by_type = _nodes_by_type(path)
    return [node for kind in types for node in by_type.get(kind, ()) if isinstance(node, kind)]


def named_functions(
    node: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield each function with its qualified name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{child.name}", child
            yield from named_functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from named_functions(child, f"{prefix}{child.name}.")
        elif not isinstance(child, ast.expr):  # an expression defines none
            yield from named_functions(child, prefix)
