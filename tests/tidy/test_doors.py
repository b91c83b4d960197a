"""Nobody but a door knows a door: its package, and its entry in `pyproject.toml`."""

import re

from tidy.source_files import ROOT, relative, tracked_files

PLACE = "src/weft/extensions/doors"
DOORS = ROOT / PLACE
ASIDE = (
    "src/weft/bench/", "src/weft/cli/completion/command_words.json",
    "src/weft/cli/input/usual_lines.json", f"{PLACE}/README.md",
)  # fmt: skip
"""A bench may compare a door with what it replaces; the words are made from what is installed."""


def names_of_doors() -> list[str]:
    return sorted(one.parent.name for one in DOORS.glob("*/__init__.py"))


def named_outside(name: str) -> list[str]:
    """Return the files below `src` that name a door, in any case, by their path or text."""
    found, word = [], re.compile(rf"(?<![a-z]){name}(?![a-z])", re.IGNORECASE)
    for path in tracked_files():
        where = relative(path)
        if not where.startswith("src/") or where.startswith((f"{PLACE}/{name}/", *ASIDE)):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if word.search(f"{where}\n{text}"):
            found.append(where)
    return found


def test_no_door_is_named_outside_of_its_package() -> None:
    assert names_of_doors()
    assert {name: found for name in names_of_doors() if (found := named_outside(name))} == {}


def test_each_door_has_its_entry() -> None:
    entries = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    for name in names_of_doors():
        assert f'\n{name} = "weft.extensions.doors.{name}:DOOR"\n' in entries
