"""Nobody but a kind of source, sink or look-up names it: its file or folder, and its entry."""

import ast

from tidy.source_files import nodes_of, python_files, relative
from weft.ports.line_kinds import LookUpKind, SinkKind, SourceKind, kinds_of
from weft.ports.lookup import LOOKUP_PLUGINS
from weft.ports.sink import SINK_PLUGINS
from weft.ports.source import SOURCE_PLUGINS

PLACE = "src/weft/extensions/"
AROUND = (
    f"{PLACE}brokers/s", f"{PLACE}lines/", "src/weft/core/lines/",
    "src/weft/core/deliveries/sinks.py", "src/weft/ports/line_", "src/weft/ports/s",
)  # fmt: skip
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
