"""Nobody but a door, or a kind of source, sink or look-up, knows it: its place, and its entry."""

import ast
import re

from tidy.source_files import ROOT, nodes_of, python_files, relative, tracked_files
from weft.ports.line_kinds import LookUpKind, SinkKind, SourceKind, kinds_of
from weft.ports.lookup import LOOKUP_PLUGINS
from weft.ports.sink import SINK_PLUGINS
from weft.ports.source import SOURCE_PLUGINS

FOLDER = "src/weft/extensions/doors"
DOORS = ROOT / FOLDER
ASIDE = (
    "src/weft/bench/",
    "src/weft/cli/completion/command_words.json",
    "src/weft/cli/input/usual_lines.json",
    f"{FOLDER}/README.md",
)
"""A bench may compare a door with what it replaces; the words are made from what is installed."""


def names_of_doors() -> list[str]:
    return sorted(one.parent.name for one in DOORS.glob("*/__init__.py"))


def named_outside(name: str) -> list[str]:
    """Return the files below `src` that name a door, in any case, by their path or text."""
    found, word = [], re.compile(rf"(?<![a-z]){name}(?![a-z])", re.IGNORECASE)
    for path in tracked_files():
        where = relative(path)
        if not where.startswith("src/") or where.startswith((f"{FOLDER}/{name}/", *ASIDE)):
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


PLACE = "src/weft/extensions/"
AROUND = (
    f"{PLACE}brokers/s",
    f"{PLACE}lines/",
    "src/weft/core/lines/",
    "src/weft/core/deliveries/sinks.py",
    "src/weft/ports/line_",
    "src/weft/ports/s",
)
OF_THE_HOUSE = {
    "src/weft/core/deliveries/sinks.py": {"http"},  # the driver sends these as callbacks
    "src/weft/ports/source.py": {"amqp", "kafka", "s3"},  # it opens their credentials
    f"{PLACE}lines/commands/source.py": {"command"},  # of a shell
}
SOURCES, SINKS = kinds_of(SourceKind, "sources"), kinds_of(SinkKind, "sinks")


def test_nobody_else_names_a_kind() -> None:
    found: dict[str, set[str]] = {}
    for path in python_files("src"):
        if (where := relative(path)).startswith(AROUND):
            own = where.removesuffix(".py").removeprefix(PLACE).split("/")[2:3]
            texts = {str(node.value) for node in nodes_of(path, ast.Constant)}
            if named := texts & {*SOURCES, *SINKS} - {*own}:
                found[where] = named
    assert found == OF_THE_HOUSE


def test_each_kind_has_its_entry() -> None:
    assert SOURCE_PLUGINS.names() == tuple(sorted(SOURCES))
    assert LOOKUP_PLUGINS.names() == tuple(sorted(kinds_of(LookUpKind, "lookups")))
    assert {*SINK_PLUGINS.names()} == {*SINKS} - {"http", "command"}  # the house sends these
