"""Phrases that are not idiomatic English do not come back (STYLE, section "English").

Only docstrings, comments, messages and pages are read: names of tests may be as they are.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidy.source_files import nodes_of, product_files, relative, tracked_files
from weft.sql import files_of

PHRASES = {
    "is malformed": r"\b(has|have|had) not the form\b",
    "is not one of": r"\b(is|are|was|were) none of (this|these|the|its|ours|them)\b",
    "existing, previous": r"\b(of|from) before\b(?! [a-z])",
    "this number of": r"\bso (many|much|few)\b(?! that| as)",
    "as long as": r"\bso long (those|as|is|are)\b",
    "so that … not": r"\blest\b",
    "a sentence with a subject": r"(?:^|[.;] )Who (?!is\b)[a-z]+s? [^?]*$",
    "what is wrong with it": r"\bmakes? no sense\b|\bnobody was told\b",
    "does not have": r"\b(has|have) not (a|an|the|any)\b",
    "a positive number": r"\bnumbers? (of|from) [01] on\b",
    "is not a": r"\bis no (number|name|path|job|group|batch|terminal|error of|position|range)\b",
}
"""By what is better: what a reader stumbles over."""

_ANY_PHRASE = re.compile("|".join(PHRASES.values()), re.MULTILINE)
PARTICIPLES = {"asked", "found", "given", "one", "said", "told", "wanted"}
BOUND_MAX = 2_980
_FOLDERS = ("src/", "docs/", "tests/")
_COMMENT = re.compile(r"#\s?(.*)")
_SQL_COMMENT = re.compile(r"--\s?(.*)")
_SQL_TEXT = re.compile(r"'((?:[^']|'')*)'")
_PARAMETERS = re.compile(
    r"^CREATE OR REPLACE FUNCTION weft\.\w+\((.*?)\bAS \$\$", re.DOTALL | re.MULTILINE
)
_KEPT = re.compile(r"Kept for\s(?:--\s+)?one release", re.IGNORECASE)
_PLURAL_BY_HAND = re.compile(r"\{(?:[^{}]*:,|len\([^{}]*\)|[^{}]*\bn_[^{}]*)\} (?!is )[a-z]+s\b")
_DOUBLE_PLURAL = re.compile(r"\b(?!(?:\w+_)?access\b)\w+(?:ss|eds)\b")


def _texts(path: Path) -> Iterator[str]:
    """Yield what people read in a file."""
    text = path.read_text()
    if path.suffix == ".md":
        yield from text.splitlines()
    elif path.suffix == ".sql":
        yield from _SQL_COMMENT.findall(text)
        yield from _SQL_TEXT.findall(text)
    else:
        for node in nodes_of(path, ast.Constant):
            if isinstance(node.value, str):
                yield " ".join(node.value.split())
        yield from _COMMENT.findall(text)  # or a part of a string, which is read anyway


def _found() -> list[str]:
    return [
        f"{name}: {text[max(0, at.start() - 30) : at.end() + 30]!r}; better: {better}"
        for path in tracked_files()
        if path.suffix in {".py", ".md", ".sql"}
        and (name := relative(path)).startswith(_FOLDERS)
        and not name.startswith(("tests/tidy/", "docs/adr/"))
        and not name.endswith(".snapshot.sql")
        for text in _texts(path)
        if _ANY_PHRASE.search(text)
        for better, phrase in PHRASES.items()
        for at in re.finditer(phrase, text, re.MULTILINE)
    ]


def test_phrases_are_idiomatic() -> None:
    assert _found() == []


def test_the_command_line_writes_no_plurals_by_hand() -> None:
    """`1 items`: `weft.core.text.amounts.counted` knows both."""
    found = [
        f"{relative(path)}: {text}"
        for path in tracked_files()
        if re.match(r"src/weft/(cli/|.*/commands/).*\.py$", relative(path))
        for text in _PLURAL_BY_HAND.findall(path.read_text())
    ]

    assert found == []


def test_parameters_are_no_double_plurals() -> None:
    """`stdout_bytes_list`, not `stdout_bytess`; functions kept for one release have theirs."""
    found = {
        file.name: _DOUBLE_PLURAL.findall(_PARAMETERS.findall(file.source)[0])
        for file in files_of("functions")
        if not _KEPT.search(file.source)
    }

    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize(
    ("name", "is_double"),
    [
        ("stdout_bytess", True),
        ("cpu_mss", True),
        ("truncateds", True),
        ("stdout_bytes_list", False),
        ("statuses", False),
        ("job_ids", False),
    ],
)
def test_double_plurals_are_found(name: str, *, is_double: bool) -> None:
    assert bool(_DOUBLE_PLURAL.search(name)) is is_double


def test_places_are_those_of_gates() -> None:
    """One word for one thing: others are positions, indices, directories or pointers."""
    found = {
        f"{relative(path)}: {name}"
        for path in product_files().values()
        for name in (
            *(node.id for node in nodes_of(path, ast.Name)),
            *(node.arg for node in nodes_of(path, ast.arg)),
            *(node.arg for node in nodes_of(path, ast.keyword)),
        )
        if name in {"place", "places"}
    }

    assert found == set()


def test_names_are_nouns() -> None:
    """`job`, not `one`: participles say what was done and not what is held. Only fewer."""
    names = [
        *(
            node.id
            for path in product_files().values()
            for node in nodes_of(path, ast.Name)
            if isinstance(node.ctx, ast.Store)
        ),
        *(node.arg for path in product_files().values() for node in nodes_of(path, ast.arg)),
    ]
    n_bound = sum(name in PARTICIPLES for name in names)

    assert BOUND_MAX - 100 <= n_bound <= BOUND_MAX, f"{n_bound} are participles: lower BOUND_MAX"
