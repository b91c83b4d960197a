"""What sources and sinks of a setup may reach, said when it is applied. Whoever reads or sends
checks it again.
"""

import os
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.callback_url import parse_callback_url, without_login, wrong_address
from weft.core.deliveries.credentials import SECRET
from weft.core.deliveries.sinks import HTTP
from weft.core.ends.conditions import parse_tester_commands, parse_tester_paths
from weft.core.errors import FieldError
from weft.core.lines.line import Setup, Sink, Source
from weft.extensions.lines.rules.setup import field_error
from weft.extensions.lines.rules.source import OPENSEARCH
from weft.extensions.lines.rules.sql import SQL, parse_database_url
from weft.settings import Settings

_SOURCES: Final = "source_commands"
_SINKS: Final = "sink_commands"


class _Wrong(NamedTuple):
    field: str
    what: str


def out_of_reach(settings: Settings, setup: Setup, text: str) -> list[FieldError]:
    """Return what the settings of this api do not allow, with lines of the file."""
    found = [
        (("source", name, one.field), one.what)
        for name, source in setup.sources.items()
        for one in _of_source(settings, source)
    ] + [
        (("sink", name, one.field), one.what)
        for name, sink in setup.sinks.items()
        for one in _of_sink(settings, sink)
    ]
    return [field_error(text, where, what) for where, what in found]


def _of_source(settings: Settings, source: Source) -> Iterator[_Wrong]:
    options = source.options
    if source.kind == "directory":
        path = str(options["path"])
        if not _is_below(path, parse_tester_paths(settings.source_paths)):
            yield _Wrong("path", f"{path} is in no directory of the setting source_paths")
    elif source.kind == "command":
        words = options["command"]
        name = words if isinstance(words, str) else words[0]
        yield from _unknown(settings.source_commands, _SOURCES, "command", name)
    elif source.kind in {HTTP, OPENSEARCH, SQL}:
        hosts = settings.source_private_hosts
        yield from _private(source.kind, str(options["url"]), hosts, "source_private_hosts")


def _of_sink(settings: Settings, sink: Sink) -> Iterator[_Wrong]:
    if sink.kind in {HTTP, SQL}:
        hosts = settings.callback_private_hosts
        yield from _private(sink.kind, sink.url, hosts, "callback_private_hosts")
    if sink.command:
        yield from _unknown(settings.sink_commands, _SINKS, "command", sink.command[0])
    for command in sink.checks.values():
        yield from _unknown(settings.sink_commands, _SINKS, "checks", command[0])


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    """Say whether a path is below one of these, as written or after the links of this host."""
    real = {os.path.realpath(root) for root in roots}
    if any(PurePath(os.path.realpath(path)).is_relative_to(root) for root in real):
        return True
    written = PurePath(path)
    return ".." not in written.parts and any(written.is_relative_to(root) for root in roots)


def _private(kind: str, url: str, hosts: str, setting: str) -> Iterator[_Wrong]:
    plain = SECRET.sub("x", url)
    if kind == SQL:
        host = parse_database_url(plain).host
    else:
        host = parse_callback_url(without_login(plain)[0]).host
    if what := wrong_address(host, parse_allowed_hosts(hosts), setting):
        yield _Wrong("url", what)


def _unknown(known: str, setting: str, field: str, name: str) -> Iterator[_Wrong]:
    if name not in parse_tester_commands(known):
        yield _Wrong(field, f"there is no command {name!r} in the setting {setting}")
