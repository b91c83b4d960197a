"""The transports of a driver or a worker, and the queues by which batches are submitted, as the
operator names them in `transports_file`.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from weft.client.api import Api
from weft.client.http.address import NotRunning
from weft.client.http.session import NotReachable
from weft.core.errors import TransportNotFound, WeftError
from weft.core.findings import Finding
from weft.ports.topics import EVENT_SINK_PLUGINS, EventSink
from weft.ports.transport import (
    DEAD,
    OUTCOMES,
    SUBMISSIONS,
    TRANSPORT_PLUGINS,
    Connection,
    Route,
    Transport,
    TransportError,
)
from weft.settings import Settings
from weft.settings.transports_file import SubmissionsDocument, named_sets, read_transports


class _Closes(Protocol):
    async def close(self) -> None: ...


FoundT = TypeVar("FoundT")


@asynccontextmanager
async def closed_at_end(found: FoundT, each: Iterable[_Closes]) -> AsyncIterator[FoundT]:
    """Yield what was found, and close each at the end."""
    try:
        yield found
    finally:
        for one in each:
            await one.close()


def opened_transports(settings: Settings) -> AbstractAsyncContextManager[Mapping[str, Transport]]:
    """Give unconnected transports by name. Raise `InvalidSetting` or `PluginNotInstalled`."""
    found = {
        transport.name: TRANSPORT_PLUGINS.load(transport.kind)(transport)
        for transport in read_transports(settings.transports_file)
    }
    return closed_at_end(found, found.values())


def opened_sinks(settings: Settings) -> AbstractAsyncContextManager[Mapping[str, EventSink]]:
    """Give what tells foreign programs of their jobs, by the names of the transports; none are
    connected yet. A kind may have none. Raise `InvalidSetting`.
    """
    found = {
        transport.name: make(transport)
        for transport in read_transports(settings.transports_file)
        if (make := EVENT_SINK_PLUGINS.find(transport.kind)) is not None
    }
    return closed_at_end(found, found.values())


def check_transports(settings: Settings, name: str | None = None) -> Sequence[Finding]:
    """Try the connections, or one, from this host. Raise `InvalidSetting`, `TransportNotFound`."""
    known = read_transports(settings.transports_file)
    connections = [connection for connection in known if name in {None, connection.name}]
    if name is not None and not connections:
        raise TransportNotFound(
            f"transport {name!r} does not exist",
            detail=f"There are: {', '.join(connection.name for connection in known) or 'none'}.",
            hint="The setting transports_file names a file with the connections.",
        )
    queues = asyncio.run(_travelling(settings)) if connections else {}
    return [
        finding
        for connection in connections
        for routes in [[*_routes_of(connection), *queues.get(connection.name, ())]]
        for finding in asyncio.run(_check(connection, routes))
    ]


def _routes_of(connection: Connection) -> Sequence[Route]:
    """Return the routes that the tenants of a connection may have."""
    return [
        Route(tenant, queue)
        for tenant in connection.tenants
        for queue in (OUTCOMES, SUBMISSIONS, DEAD)
    ]


async def _travelling(settings: Settings) -> Mapping[str, Sequence[Route]]:
    """Return the queues that travel, by transport, as the server of this home says to who asks;
    none if it does not answer.
    """
    try:
        async with Api(
            settings.url, settings.token, home=settings.home, visit="", patience_s=1
        ) as api:
            tenant = (await api.whoami())["tenant"]
            transports = await api.list_transports()
    except (WeftError, NotRunning, NotReachable):
        return {}
    return {
        one["transport"]: [Route(tenant, queue["queue"]) for queue in one["queues"]]
        for one in transports
    }


async def _check(connection: Connection, routes: Sequence[Route]) -> Sequence[Finding]:
    try:
        transport = TRANSPORT_PLUGINS.load(connection.kind)(connection)
    except WeftError as error:
        return [Finding(connection.name, "wrong", f"{error.message}: {error.detail}", error.hint)]
    try:
        return await transport.check(routes)
    except TransportError as error:
        advice = "Look at its address, user and password in transports_file, and at the broker."
        return [Finding(connection.name, "wrong", f"it cannot be reached: {error}", advice)]
    finally:
        await transport.close()


if TYPE_CHECKING:
    from weft.api.services import Services

Opened = tuple[str, SubmissionsDocument, Transport]
"""A connection by name, and as whom what comes by it is submitted."""


def opened_submissions(settings: Settings) -> AbstractAsyncContextManager[Sequence[Opened]]:
    """Give the connections by which batches are submitted; none are connected yet."""
    found = [
        (connection.name, terms, TRANSPORT_PLUGINS.load(connection.kind)(connection))
        for connection, terms in named_sets(settings.transports_file, "submissions")
    ]
    return closed_at_end(found, (transport for *_, transport in found))


def submission_intakes(
    services: "Services", found: Sequence[Opened]
) -> Sequence[Coroutine[Any, Any, None]]:
    """Return what takes the batches that come."""
    if not found:
        return []
    from weft.api.http.decoding import JSON, decode  # noqa: PLC0415 (heavy)
    from weft.api.use_cases.taken_submissions import TakenSubmissions  # noqa: PLC0415
    from weft.wire.documents.batches import BatchDocument  # noqa: PLC0415

    return [
        TakenSubmissions(
            services,
            transport,
            name,
            terms,
            lambda body: decode(body, JSON, BatchDocument),
        ).serve()
        for name, terms, transport in found
    ]
