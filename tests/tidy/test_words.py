"""Phrases that are not idiomatic English do not come back (STYLE, section "English").

Only docstrings, comments, messages and pages are read: names of tests may be as they are.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tidy.exceptions import UNIDIOMATIC
from tidy.source_files import relative, tracked_files, tree_of

PHRASES = {
    "is malformed": r"\b(has|have|had) not the form\b",
    "is not one of": r"\b(is|are|was|were) none of (this|these|the|its|ours|them)\b",
    "existing, previous": r"\b(of|from) before\b(?! [a-z])",
    "this number of": r"\bso (many|much|few)\b(?! that| as)",
    "as long as": r"\bso long (those|as|is|are)\b",
    "so that … not": r"\blest\b",
    "a sentence with a subject": r"(?:^|[.;] )Who (?!is\b)[a-z]+s? [^?]*$",
    "does not have": r"\b(has|have) not (a|an|the|any)\b",
    "is not a": r"\bis no (number|name|path|job|group|batch|terminal|error of|position|range)\b",
}
"""By what is better: what a reader stumbles over."""

_FOLDERS = ("src/", "docs/", "tests/")
_SQL_COMMENT = re.compile(r"--\s?(.*)")
_SQL_TEXT = re.compile(r"'((?:[^']|'')*)'")


def _texts(path: Path) -> Iterator[str]:
    """Yield what people read in a file."""
    text = path.read_text()
    if path.suffix == ".md":
        yield from text.splitlines()
    elif path.suffix == ".sql":
        yield from _SQL_COMMENT.findall(text)
        yield from _SQL_TEXT.findall(text)
    else:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield " ".join(node.value.split())
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string.lstrip("# ")


def _folder_of(name: str) -> str:
    """Return the folder that is cleaned as a whole: two levels below src/, else one."""
    parts = name.split("/")[:-1]
    return "/".join(parts[: 3 if parts[0] == "src" else 2])


def _found() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in tracked_files():
        name = relative(path)
        if (
            path.suffix in {".py", ".md", ".sql"}
            and name.startswith(_FOLDERS)
            and not name.startswith(("tests/tidy/", "src/weft/sql/migrations/", "docs/adr/"))
            and not name.endswith(".snapshot.sql")
        ):
            found.setdefault(_folder_of(name), []).extend(
                f"{name}: {text[max(0, at.start() - 30) : at.end() + 30]!r}; better: {better}"
                for text in _texts(path)
                for better, phrase in PHRASES.items()
                for at in re.finditer(phrase, text, re.MULTILINE)
            )
    return {folder: lines for folder, lines in found.items() if lines}


def test_phrases_are_idiomatic() -> None:
    worse = [
        line
        for folder, lines in _found().items()
        if len(lines) > UNIDIOMATIC.get(folder, 0)
        for line in lines
    ]

    assert worse == []


def test_exceptions_for_phrases_are_needed() -> None:
    counts = Counter({folder: len(lines) for folder, lines in _found().items()})

    assert [folder for folder in UNIDIOMATIC if not counts[folder]] == []
