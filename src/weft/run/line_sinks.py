"""The sinks of a driver: each kind is made when a message first needs it."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.sinks import COMMAND
from weft.core.ends.conditions import parse_tester_commands
from weft.core.ends.end_words import signal_name
from weft.core.errors import PackageMissing
from weft.ports.plugins import PluginNotInstalled
from weft.ports.senders import Answered
from weft.ports.sink import SINK_PLUGINS, Sink, SinkMessage, SinkSite
from weft.run.home import Home
from weft.run.isolated.process import kill_group
from weft.run.secret_keys import read_secret_keys
from weft.settings import Settings
from weft.settings.transports_file import read_transports
from weft.store import DriverStore


class LineSinks:
    """Hands each message to the sink of its kind."""

    def __init__(self, site: SinkSite, commands: Mapping[str, str]) -> None:
        self._site = site
        self._known: dict[str, Sink] = {"command": SinkCommands(commands)}

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        kind = sink["kind"]
        if (found := self._known.get(kind)) is None:
            try:
                found = SINK_PLUGINS.load(kind)(self._site)
            except (PluginNotInstalled, PackageMissing) as error:
                return Answered(error=str(error))
            self._known[kind] = found
        return await found.send(sink, message)

    async def close(self) -> None:
        for sink in self._known.values():
            await sink.close()


def line_sinks(settings: Settings, home: Home, store: DriverStore) -> LineSinks:
    """Return the sinks of a driver. Raise `InvalidSetting`."""
    site = SinkSite(
        connections=read_transports(settings.transports_file),
        find_store=store.find_sink_store,
        keys=lambda: read_secret_keys(settings, home),
        store_buckets=settings.store_buckets,
        allowed=parse_allowed_hosts(settings.store_private_hosts),
        callbacks=parse_allowed_hosts(settings.callback_private_hosts),
    )
    return LineSinks(site, parse_tester_commands(settings.sink_commands))


# A program that takes too long is killed with all that it started. Its environment holds no
# settings and no secrets.

DELIVERY_VARIABLE: Final = "WEFT_DELIVERY"
"""The name of the delivery, the same in every try."""
_SAID_BYTES: Final = 4096
_SAID_CHARS_MAX: Final = 300
_PIECE_BYTES: Final = 1 << 16
_ENVIRONMENT: Final = ("HOME", "LANG", "LC_ALL", "PATH", "TZ")


class SinkCommands:
    """Runs programs that the setting `sink_commands` names."""

    def __init__(self, programs: Mapping[str, str]) -> None:
        self._programs = programs

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Run the program of a sink once; its exit code is the status."""
        name, *arguments = sink["command"]
        program = self._programs.get(name)
        if program is None:
            return Answered(error=f"there is no command {name!r} in the setting sink_commands")
        kept = {one: os.environ[one] for one in _ENVIRONMENT if one in os.environ}
        try:
            process = await asyncio.create_subprocess_exec(
                program, *arguments, stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, cwd="/",
                start_new_session=True, env={**kept, DELIVERY_VARIABLE: message.name},
            )  # fmt: skip
        except OSError as error:
            return Answered(error=f"{COMMAND}{name}: {error.strerror}")
        try:
            async with asyncio.timeout(sink["timeout_s"]):
                said = await _talk(process, message.body)
                code = await process.wait()
        except TimeoutError:
            return Answered(error=f"it did not end within {sink['timeout_s']:g} s")
        finally:
            kill_group(process)
            await process.wait()
        if code < 0:
            return Answered(error=f"it was killed by {signal_name(-code)}")
        return Answered(status=code, error=said or None, delivered=code == 0)

    async def close(self) -> None:
        """A program ends with its message."""


async def _talk(process: asyncio.subprocess.Process, body: bytes) -> str:
    """Give it the message; return the last line that it says."""
    writing = asyncio.create_task(_write(process, body))
    assert process.stderr is not None
    last = b""
    try:
        while piece := await process.stderr.read(_PIECE_BYTES):
            last = (last + piece)[-_SAID_BYTES:]
        await writing
    finally:
        writing.cancel()
    lines = last.decode(errors="replace").strip().splitlines()
    return lines[-1][:_SAID_CHARS_MAX].replace("\0", "") if lines else ""


async def _write(process: asyncio.subprocess.Process, body: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it need not read all
        process.stdin.write(body)
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()
