"""Nobody but a door, or a kind of source, sink or look-up, knows it: its place, and its entry."""

import ast
import re

from tidy.source_files import ROOT, nodes_of, product_files, relative, tracked_files
from weft.ports.line_kinds import LookUpKind, SinkKind, SourceKind, kinds_of
from weft.ports.lookup import LOOKUP_PLUGINS
from weft.ports.sink import SINK_PLUGINS
from weft.ports.source import SOURCE_PLUGINS
from weft.registry.door import DOOR_PLUGINS

ASIDE = (
    "src/weft/bench/",
    "src/weft/cli/completion/command_words.json",
    "src/weft/cli/input/usual_lines.json",
)
"""A bench may compare a door with what it replaces; the words are made from what is installed."""


def names_of_doors() -> tuple[str, ...]:
    return DOOR_PLUGINS.names()


def named_outside(name: str) -> list[str]:
    """Return the files of the house and of packages that name a door, in any case, by their path
    or text, and are not its own.
    """
    found, word = [], re.compile(rf"(?<![a-z]){name}(?![a-z])", re.IGNORECASE)
    for path in tracked_files():
        where = relative(path)
        if not where.startswith(("src/", "packages/")) or where.startswith(ASIDE):
            continue
        if where.startswith((f"packages/{name}/", "packages/siege/", "packages/testing/")):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if word.search(f"{where}\n{text}"):
            found.append(where)
    return found


def test_no_door_is_named_outside_of_its_package() -> None:
    assert names_of_doors()
    assert {name: found for name in names_of_doors() if (found := named_outside(name))} == {}


def test_each_door_is_a_package_of_its_name() -> None:
    for name in names_of_doors():
        entries = (ROOT / f"packages/{name}/pyproject.toml").read_text(encoding="utf-8")
        assert f'\n{name} = "weft_{name}:DOOR"\n' in entries


LINES, BROKERS = "packages/lines/src/weft_lines/", "packages/brokers/src/weft_brokers/"
AROUND = (
    f"{BROKERS}s",
    LINES,
    "src/weft/core/lines/",
    "src/weft/core/deliveries/sinks.py",
    "src/weft/ports/line_",
    "src/weft/ports/s",
)
OF_THE_HOUSE = {
    "src/weft/core/deliveries/sinks.py": {"http"},  # the driver sends these as callbacks
    "src/weft/ports/source.py": {"amqp", "kafka", "s3"},  # it opens their credentials
    f"{LINES}commands/source.py": {"command"},  # of a shell
}
SOURCES, SINKS = kinds_of(SourceKind, "sources"), kinds_of(SinkKind, "sinks")


def test_nobody_else_names_a_kind() -> None:
    found: dict[str, set[str]] = {}
    for path in product_files().values():
        if (where := relative(path)).startswith(AROUND):
            own = re.split(r"/weft_(?:lines|brokers)/", where.removesuffix(".py"))[-1].split("/")[
                1:2
            ]
            texts = {str(node.value) for node in nodes_of(path, ast.Constant)}
            if named := texts & {*SOURCES, *SINKS} - {*own}:
                found[where] = named
    assert found == OF_THE_HOUSE


def test_each_kind_has_its_entry() -> None:
    assert SOURCE_PLUGINS.names() == tuple(sorted(SOURCES))
    assert LOOKUP_PLUGINS.names() == tuple(sorted(kinds_of(LookUpKind, "lookups")))
    assert {*SINK_PLUGINS.names()} == {*SINKS} - {"http", "command"}  # the house sends these
