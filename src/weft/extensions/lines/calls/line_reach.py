"""What sources and sinks of a setup may reach, said when it is applied. Whoever reads or sends
checks it again.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import parse_tester_commands, parse_tester_paths
from weft.core.errors import FieldError
from weft.core.lines.line import Setup
from weft.extensions.lines.rules.kinds import wrong_program
from weft.extensions.lines.rules.setup import field_error
from weft.extensions.lines.rules.sink import SINK_KINDS
from weft.extensions.lines.rules.source import SOURCE_KINDS
from weft.ports.source import SourceSite
from weft.settings import Settings

_SETTING: Final = re.compile(r"the setting (\w+)")


def out_of_reach(settings: Settings, setup: Setup, text: str) -> list[FieldError]:
    """Return what the settings of this api do not allow, with lines of the file."""
    return [field_error(text, where, what) for where, what in _found(settings, setup) if what]


def how_to_allow(problems: Iterable[FieldError]) -> str:
    """Say how the settings are changed that these name."""
    names = {name for one in problems for name in _SETTING.findall(one.message)}
    told = ", ".join(f"{one} in weft.toml (WEFT_{one.upper()})" for one in sorted(names))
    return f"Change the file, or ask an administrator to set {told} and start weft again."


def _found(settings: Settings, setup: Setup) -> Iterator[tuple[tuple[str, ...], str]]:
    site = SourceSite(
        paths=parse_tester_paths(settings.source_paths),
        allowed=parse_allowed_hosts(settings.source_private_hosts),
        commands=parse_tester_commands(settings.source_commands),
    )
    for name, source in setup.sources.items():
        if (kind := SOURCE_KINDS.get(source.kind)) is not None:
            for field, what in kind.reach(site, source.options).items():
                yield ("source", name, field), what
    site = SourceSite(
        allowed=parse_allowed_hosts(settings.callback_private_hosts),
        setting="callback_private_hosts",
        commands=parse_tester_commands(settings.sink_commands),
    )
    for name, sink in setup.sinks.items():
        for field, what in SINK_KINDS[sink.kind].reach(site, sink).items():
            yield ("sink", name, field), what
        for command in sink.checks.values():
            what = wrong_program(site, "sink_commands", command[0])
            yield ("sink", name, "checks"), what
