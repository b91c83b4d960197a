"""The sinks of a driver: each kind is made when a message first needs it."""

from collections.abc import Mapping
from typing import Any

from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import parse_tester_commands
from weft.ports.callback_sender import Answered
from weft.ports.plugins import PluginNotInstalled
from weft.ports.sink import SINK_PLUGINS, Sink, SinkMessage, SinkSite
from weft.run.home import Home
from weft.run.secret_keys import read_secret_keys
from weft.run.sink_commands import SinkCommands
from weft.settings import Settings
from weft.settings.transports_file import read_transports
from weft.store import DriverStore


class LineSinks:
    """Hands each message to the sink of its kind."""

    def __init__(self, site: SinkSite, commands: Mapping[str, str]) -> None:
        self._site = site
        self._known: dict[str, Sink] = {"command": SinkCommands(commands)}

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Send once."""
        kind = sink["kind"]
        if (found := self._known.get(kind)) is None:
            try:
                found = SINK_PLUGINS.load(kind)(self._site)
            except PluginNotInstalled as error:
                return Answered(error=error.message)
            except ImportError as error:  # of an extra
                return Answered(
                    error=f"a sink of kind {kind} needs {error.name}, which is missing"
                )
            self._known[kind] = found
        return await found.send(sink, message)

    async def close(self) -> None:
        """End what is open."""
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
