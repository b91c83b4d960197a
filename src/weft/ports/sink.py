"""The port `sink`: it hands messages of production lines to what their sinks name.

PostgreSQL is the record: a message that was not taken is sent again under the same name, and may
come twice. Built in: `amqp`, `command`, `kafka`, `s3`, `sql`; sinks of kind `http` are sent as
callbacks are. Loaded by the entry points `weft.sinks`; each is called with a `SinkSite`, when a
message first needs it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from weft.core.addresses import AllowedHosts, parse_allowed_hosts
from weft.ports.callback_sender import Answered
from weft.ports.plugins import PluginGroup
from weft.ports.store.worker_files import StoredFileStore
from weft.ports.transport import Connection, TransportError, allowed_connection
from weft.wire.sealed import SecretKeys


class SinkProblem(Exception):
    """Why a message cannot be sent now, in a few words without secrets."""


class Misfit(ValueError):
    """A message that its sink can never send, such as one that does not fit the schema."""


MakeMessage = Callable[[int, str, Mapping[str, Any], str | None], Awaitable[str]]
"""Takes tenant, template, what it gets, and the schema that its message fits; raises `ValueError`,
which says why there is none.
"""


class SinkMessage(NamedTuple):
    """What is sent."""

    tenant_id: int
    tenant: str
    name: str
    """The same in every try."""
    body: bytes
    target: Mapping[str, str]
    """The options of the sink, filled in for this message."""


class Sink(Protocol):
    """Hands over messages of all sinks of one kind."""

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Send once. `sink`: as it is stored (`weft.core.lines.line.Sink`). Whatever the receiver
        does is an answer, never an exception; `delivered` if it is kept there.
        """

    async def close(self) -> None:
        """End what is open."""


@dataclass(frozen=True)
class SinkSite:
    """What a sink may use here. Setups choose the options, so whatever they name is checked."""

    connections: Sequence[Connection]
    """That the operator has named."""
    find_store: Callable[[int, str], Awaitable[StoredFileStore | None]]
    """Finds a store of files of a tenant by its name."""
    keys: Callable[[], SecretKeys]
    """Open the secrets of stores."""
    store_buckets: str
    """Buckets that credentials of this host may open."""
    allowed: AllowedHosts
    """The addresses of stores."""
    callbacks: AllowedHosts = field(default_factory=partial(parse_allowed_hosts, ""))
    """Those of databases, by the setting `callback_private_hosts`."""

    def connection(self, message: SinkMessage, kind: str, to: str) -> Connection:
        """Return the connection of a message to an exchange or a topic. Raise `SinkProblem`."""
        name = message.target["transport"]
        try:
            return allowed_connection(self.connections, name, message.tenant, kind, "sinks", to)
        except TransportError as error:
            raise SinkProblem(str(error)) from error


SinkFactory = Callable[[SinkSite], Sink]
SINK_PLUGINS: Final = PluginGroup[SinkFactory]("weft.sinks", "kind of sink")
