"""Tell how large weft is: tokens by folder, what calls of the database pull in, and how much there
is to know. Nothing is limited: whoever adds to the surface says in the commit who asked for it.
"""

import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

import check_floors
from weft.settings import all_declared
from weft.sql import homes
from weft.wire.documents.jobs import JobDocument

ROOT: Final = Path(__file__).resolve().parents[1]
TOPS: Final = (
    "benches",
    "deploy",
    "docs",
    "examples",
    "integrations",
    "packages",
    "src",
    "tests",
    "tools",
)
"""Folders whose files are counted."""
DEEP: Final = {"src/weft": 3, "packages": 2, "integrations": 2}
"""How many parts of a path name its row, where it is more than the first."""
CALLS: Final = ("submit", "complete_attempts", "claim_jobs")
"""The calls of the database whose reach is told."""
COMMANDS: Final = ROOT / "src/weft/cli/completion/command_words.json"
ERRORS: Final = ROOT / "docs/errors.md"
_NOTHING: Final = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
_SQL_TOKEN: Final = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\w+|[^\w\s]")


def _python_tokens(path: Path) -> int:
    """Return the tokens but comments and layout."""
    with path.open("rb") as file:
        return sum(token.type not in _NOTHING for token in tokenize.tokenize(file.readline))


def _sql_tokens(path: Path) -> int:
    """Return the words, texts and signs but comments."""
    return sum(not one.startswith("--") for one in _SQL_TOKEN.findall(path.read_text()))


def _row_of(path: Path) -> str:
    """Return the row that a file counts for."""
    parts = path.relative_to(ROOT).parts
    text = "/".join(parts)
    depth = next((n for top, n in DEEP.items() if text.startswith(f"{top}/")), 1)
    return "/".join(parts[: min(depth, len(parts) - 1)])


def _files(suffix: str) -> Iterator[Path]:
    """Yield the files of this kind."""
    for top in TOPS:
        yield from (ROOT / top).rglob(f"*{suffix}")


def tokens() -> Iterator[str]:
    """Yield a line for each folder, and their sum."""
    python = Counter[str]()
    sql = Counter[str]()
    for path in _files(".py"):
        python[_row_of(path)] += _python_tokens(path)
    for path in _files(".sql"):
        sql[_row_of(path)] += _sql_tokens(path)
    yield f"{'tokens of':28}{'Python':>11}{'SQL':>11}"
    for row in sorted({*python, *sql}):
        yield f"{row:28}{python[row]:11,}{sql[row]:11,}"
    yield f"{'all':28}{python.total():11,}{sql.total():11,}"


def reach() -> Iterator[str]:
    """Yield how many functions each of the large calls may run."""
    calls = check_floors.calls_of(
        {
            name: path
            for name, (path, _) in check_floors.files_below(check_floors.FUNCTIONS).items()
        }
    )
    for call in CALLS:
        below: set[str] = set()
        waiting = [call]
        while waiting:
            new = calls[waiting.pop()] - below
            below |= new
            waiting += new
        yield f"functions below {call:20}{len(below):5}"
    yield f"{'calls of the house into packages':36}{len(check_floors.INTO_PACKAGES):5}"


def surface() -> Iterator[str]:
    """Yield how many there are of what a user may have to know."""
    words: Mapping[str, Mapping[str, Any]] = json.loads(COMMANDS.read_text())
    leaves = [command for command in words.values() if not command["commands"]]
    tables = sum(
        len(re.findall(r"^CREATE (?:UNLOGGED )?TABLE", path.read_text(), re.MULTILINE))
        for home in homes()
        for path in (home / "schema").rglob("*.sql")
    )
    codes = set(re.findall(r"^\| `([A-Z]+[.][A-Z_0-9]+)`", ERRORS.read_text(), re.MULTILINE))
    counts = {
        "commands": len(leaves),
        "options": sum(len(command["options"]) for command in leaves),
        "settings": len(all_declared()),
        "fields of a job": len(msgspec.structs.fields(JobDocument)),
        "tables": tables,
        "codes of errors": len(codes),
    }
    yield from (f"{name:36}{n:5,}" for name, n in counts.items())


if __name__ == "__main__":
    for part in (tokens, reach, surface):
        sys.stdout.write("".join(f"{line}\n" for line in part()) + "\n")
