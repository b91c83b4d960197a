"""What the jobs and the sequential script share: which files, what is counted, how it is told."""

import io
import keyword
import platform
import sysconfig
import tokenize
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

STDLIB = Path(sysconfig.get_path("stdlib"))
LEFT_OUT = {"test", "site-packages"}
NAMES_SHOWN = 20


@dataclass
class Count:
    """What was counted in some files."""

    files: int = 0
    failures: int = 0
    """Files that `tokenize` refuses; their lines count, their tokens do not."""
    lines: int = 0
    tokens: int = 0
    names: Counter[str] = field(default_factory=Counter)
    lines_by_package: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Count") -> None:
        """Add what was counted elsewhere."""
        self.files += other.files
        self.failures += other.failures
        self.lines += other.lines
        self.tokens += other.tokens
        self.names.update(other.names)
        self.lines_by_package.update(other.lines_by_package)

    def to_document(self) -> dict[str, Any]:
        """Return a form that JSON can hold."""
        return dict(vars(self))

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        """Read what `to_document` made."""
        return cls(
            **{
                **document,
                "names": Counter(document["names"]),
                "lines_by_package": Counter(document["lines_by_package"]),
            }
        )


def source_files(top: Path) -> list[Path]:
    """Return the Python files of a package, or the module itself, in a fixed order."""
    if top.is_file():
        return [top] if top.suffix == ".py" else []
    found = (path for path in top.rglob("*.py") if path.is_file())
    return sorted(
        path for path in found if not LEFT_OUT & set(path.relative_to(STDLIB).parts[:-1])
    )


def packages() -> list[str]:
    """Return the names of all top-level packages and modules that have sources."""
    tops = (path for path in STDLIB.iterdir() if path.name not in LEFT_OUT)
    return sorted(top.name for top in tops if source_files(top))


def letter_of(package: str) -> str:
    """Return the letter under which a package is merged."""
    return package[0].lower()


def count_file(package: str, path: Path) -> Count:
    """Count one file."""
    content = path.read_bytes()
    result = Count(files=1, lines=len(content.splitlines()))
    result.lines_by_package[package] = result.lines
    names: Counter[str] = Counter()
    tokens = 0
    try:
        for token in tokenize.tokenize(io.BytesIO(content).readline):
            tokens += 1
            if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                names[token.string] += 1
    except (tokenize.TokenError, SyntaxError, ValueError):
        result.failures = 1
    else:
        result.tokens, result.names = tokens, names
    return result


def render(count: Count) -> str:
    """Write the report. It depends on what was counted only, not on who counted in which order."""
    names = sorted(count.names.items(), key=lambda item: (-item[1], item[0]))[:NAMES_SHOWN]
    packages_ = sorted(count.lines_by_package.items(), key=lambda item: (-item[1], item[0]))
    return "\n".join(
        [
            f"The standard library of Python {platform.python_version()}",
            "",
            f"{count.files:>12,} files, of which {count.failures} could not be tokenized",
            f"{count.lines:>12,} lines",
            f"{count.tokens:>12,} tokens",
            f"{len(count.names):>12,} different names",
            "",
            f"The {NAMES_SHOWN} most used names",
            "",
            *(f"{uses:>12,} {name}" for name, uses in names),
            "",
            "Lines by package",
            "",
            *(f"{lines:>12,} {package}" for package, lines in packages_),
            "",
        ]
    )
