"""The sink `command`: each message is the standard input of a program."""

from typing import Final

from weft.core.deliveries.sinks import COMMAND
from weft.core.lines.line import Sink
from weft.core.text.durations import duration_of
from weft.ports.line_kinds import Mistakes, SinkKind, wrong_program
from weft.ports.sink import SinkReader, Target
from weft.ports.source import SourceSite

TIMEOUT_MAX_S: Final = 300
_TIMEOUT: Final = "30s"


def _target(reader: SinkReader) -> Target:
    command = reader.command("command", reader.document.get("command"))
    timeout = duration_of(reader.document.get("timeout", _TIMEOUT))
    timeout_s = 0.0 if timeout is None else timeout.total_seconds()
    if not 0 < timeout_s <= TIMEOUT_MAX_S:
        reader.wrong("timeout", f'it should be a time from "1s" to "{TIMEOUT_MAX_S}s"')
    return Target(f"{COMMAND}{''.join(command[:1])}", command=command, timeout_s=timeout_s)


def _reach(site: SourceSite, sink: Sink) -> Mistakes:
    return {"command": wrong_program(site, "sink_commands", sink.command[0])}


KIND: Final = SinkKind(("command", "timeout"), _target, codes="65", reach=_reach, position=2)
"""Of programs EX_DATAERR rejects."""
