"""What the jobs and the sequential script share: which files, what is measured, the report."""

import ast
import hashlib
import io
import keyword
import os
import platform
import sysconfig
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

STDLIB = Path(sysconfig.get_path("stdlib"))
PARTS = 48
"""Jobs of the first level: half a second of work each, on a machine of today."""
NOT_READ = frozenset({"site-packages", "test", "tests", "idle_test"})
NAMES_SHOWN = 10
CLONES_SHOWN = 10
CLONE_LINES_MIN = 6
"""Shorter functions look alike without being copies."""

Place = tuple[str, int]
"""A file of the library and a line in it."""


@dataclass
class Count:
    """What was measured in some files."""

    files: int = 0
    failures: int = 0
    """Files that Python itself refuses; their lines count, nothing else."""
    lines: int = 0
    tokens: int = 0
    functions: int = 0
    names: Counter[str] = field(default_factory=Counter)
    lines_by_package: Counter[str] = field(default_factory=Counter)
    clones: dict[str, tuple[int, Place, int]] = field(default_factory=dict)
    """By fingerprint: how many functions have it, the first of them, and its lines."""

    def add(self, other: "Count") -> None:
        """Add what was measured elsewhere."""
        self.files += other.files
        self.failures += other.failures
        self.lines += other.lines
        self.tokens += other.tokens
        self.functions += other.functions
        self.names.update(other.names)
        self.lines_by_package.update(other.lines_by_package)
        for fingerprint, (uses, place, lines) in other.clones.items():
            before, first, _ = self.clones.get(fingerprint, (0, place, lines))
            self.clones[fingerprint] = (before + uses, min(first, place), lines)

    def to_document(self) -> dict[str, Any]:
        """Return a form that JSON can hold."""
        return dict(vars(self))

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        """Read what `to_document` made."""
        clones = {
            fingerprint: (uses, (str(place[0]), int(place[1])), lines)
            for fingerprint, (uses, place, lines) in document["clones"].items()
        }
        return cls(
            **{
                **document,
                "names": Counter(document["names"]),
                "lines_by_package": Counter(document["lines_by_package"]),
                "clones": clones,
            }
        )


@cache
def source_files() -> list[Path]:
    """Return all sources of the library but its tests, in a fixed order: those would be three
    fifths of the work, and mostly copies of themselves.
    """
    found = []
    for directory, below, names in os.walk(STDLIB):
        below[:] = [name for name in below if name not in NOT_READ]
        found += [Path(directory, name) for name in names if name.endswith(".py")]
    return sorted(found)


def part_of(part: int) -> list[Path]:
    """Return the files of one part; the parts are about equally large."""
    return source_files()[part::PARTS]


def measure_file(path: Path) -> Count:
    """Measure one file."""
    content = path.read_bytes()
    place = path.relative_to(STDLIB)
    result = Count(files=1, lines=len(content.splitlines()))
    result.lines_by_package[place.parts[0]] = result.lines
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(content).readline))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        result.failures = 1
        return result
    result.tokens = len(tokens)
    result.names.update(
        token.string
        for token in tokens
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string)
    )
    for function in _functions(tree):
        result.functions += 1
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines >= CLONE_LINES_MIN:
            uses, first, _ = result.clones.get(
                fingerprint := _fingerprint(function), (0, (str(place), function.lineno), lines)
            )
            result.clones[fingerprint] = (uses + 1, first, lines)
    return result


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _fingerprint(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the same text for functions that differ in names, comments and layout only."""
    known: dict[str, int] = {}
    words = []
    for node in ast.walk(function):
        words.append(type(node).__name__)
        names = (getattr(node, key, None) for key in ("id", "arg", "attr"))
        words += [str(known.setdefault(one, len(known))) for one in names if isinstance(one, str)]
        if isinstance(node, ast.Constant):
            words.append(repr(node.value))
    return hashlib.sha256(" ".join(words).encode("utf-8", "replace")).hexdigest()[:24]


def render(count: Count) -> str:
    """Write the report; it does not depend on who measured what, or in which order."""
    names = sorted(count.names.items(), key=lambda item: (-item[1], item[0]))[:NAMES_SHOWN]
    packages = sorted(count.lines_by_package.items(), key=lambda item: (-item[1], item[0]))
    clones = sorted(
        (one for one in count.clones.values() if one[0] > 1),
        key=lambda one: (-one[0] * one[2], one[1]),
    )
    return "\n".join(
        [
            f"The standard library of Python {platform.python_version()}, with its tests",
            "",
            f"{count.files:>12,} files, of which {count.failures} are not valid Python",
            f"{count.lines:>12,} lines",
            f"{count.tokens:>12,} tokens",
            f"{count.functions:>12,} functions",
            f"{sum(one[0] for one in clones):>12,} of them have a twin that differs in names only",
            "",
            f"The {CLONES_SHOWN} most copied functions: copies, lines, the first of them",
            "",
            *(
                f"{uses:>12,} {lines:>5} {file}:{line}"
                for uses, (file, line), lines in clones[:CLONES_SHOWN]
            ),
            "",
            f"The {NAMES_SHOWN} most used names",
            "",
            *(f"{uses:>12,} {name}" for name, uses in names),
            "",
            "Lines by package",
            "",
            *(f"{lines:>12,} {package}" for package, lines in packages),
            "",
        ]
    )
