"""The transports of a driver or a worker, as the operator names them in `transports_file`."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from weft.ports.transport import TRANSPORT_PLUGINS, Transport
from weft.settings import Settings
from weft.settings.transports_file import read_transports


@asynccontextmanager
async def opened_transports(settings: Settings) -> AsyncIterator[Mapping[str, Transport]]:
    """Yield the transports by name; none are connected yet. Raise `InvalidSetting`, or
    `PluginNotInstalled`.
    """
    found = {
        one.name: TRANSPORT_PLUGINS.load(one.kind)(one)
        for one in read_transports(settings.transports_file)
    }
    try:
        yield found
    finally:
        for one in found.values():
            await one.close()
