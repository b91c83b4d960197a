"""The port `transport`: it carries offers of ready jobs to workers. PostgreSQL stays the record.

A message says which offer of which job it is about, and nothing else: no secret, no spec. Whoever
gets one asks the store whether the job is theirs, so a transport may lose, repeat, delay and
reorder messages, and a forged one starts nothing. Built in: `rabbitmq` and
`kafka`. Loaded by the entry points `weft.transports`; each is called with a `Connection`.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import msgspec

from weft.core.findings import Finding
from weft.ports.plugins import PluginGroup

ASSIGNOR: Final = "range"
OWN_PREFIX: Final = "weft."
"""Names of exchanges, queues and topics that begin so are weft's: no pattern stands for them."""


class TransportError(Exception):
    """A transport could not be reached or refused a call; the text says why, without secrets."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A connection that the operator has named."""

    name: str
    kind: str
    address: str
    tenants: tuple[str, ...]
    virtual_host: str = "/"
    user: str = "guest"
    password: str = field(default="", repr=False)
    ca_file: Path | None = None
    """Certificates that vouch for the transport's; None: those of the host."""
    assignor: str = ASSIGNOR
    """How the members of a group share partitions, where a transport has such."""
    sinks: tuple[str, ...] = ()
    """Exchanges or topics to which sinks of its tenants may write; `*` stands for any text."""
    sources: tuple[str, ...] = ()
    """Queues or topics that sources of its tenants may read, likewise."""


def allowed_connection(
    connections: Sequence[Connection], name: str, tenant: str, kind: str, field: str, to: str
) -> Connection:
    """Return the connection of a tenant to an exchange, a queue or a topic that `field` of its
    entry allows, `sinks` or `sources`. Raise `TransportError`.
    """
    connection = next((connection for connection in connections if connection.name == name), None)
    if connection is None or tenant not in connection.tenants:
        raise TransportError(f"there is no transport {name!r} for this tenant")
    if connection.kind != kind:
        raise TransportError(f"transport {name!r} is of kind {connection.kind}, not {kind}")
    own = to.startswith(OWN_PREFIX)
    named: tuple[str, ...] = getattr(connection, field)
    if not any(to == one or (not own and fnmatchcase(to, one)) for one in named):
        raise TransportError(f"`{field}` of transport {name!r} does not allow {to!r}")
    return connection


class Route(NamedTuple):
    """Where messages of one queue of one tenant travel."""

    tenant: str
    queue: str
    """Or `OUTCOMES`, `SUBMISSIONS`, `DEAD`."""

    @property
    def name(self) -> str:
        """Return what a broker calls it."""
        return f"weft.{self.tenant}.{_ENDS.get(self.queue) or f'submit.{self.queue}'}"


OUTCOMES: Final = ""
"""The queue of a tenant by which foreign programs tell how its jobs went."""
SUBMISSIONS: Final = "+"
"""The queue of a tenant by which batches are submitted."""
DEAD: Final = "*"
"""The queue of a tenant in which messages end that nobody wants."""
_ENDS: Final = {OUTCOMES: "outcomes", SUBMISSIONS: "submissions", DEAD: "dead"}
DEAD_BYTES_MAX: Final = 65_536
"""So much is kept of one."""
DEAD_ERROR_CHARS_MAX: Final = 4000
REFUSED: Final = "refused"
_DEAD_SOURCE: Final = "weft-source"
_DEAD_ERROR: Final = "weft-error"
_DEAD_BYTES: Final = "weft-bytes"


def route_of(tenant: str, name: str) -> Route | None:
    """Return the route of this tenant that a broker calls so; None: it has none."""
    queue = name.removeprefix(f"weft.{tenant}.submit.")
    for found in (Route(tenant, queue), Route(tenant, OUTCOMES), Route(tenant, SUBMISSIONS)):
        if found.name == name and queue:
            return found
    return None


class Death(NamedTuple):
    """Why a message is dead."""

    reason: str
    """`refused` by weft; of the broker: `unroutable`, `rejected`, `expired`, `full`, or
    `undelivered`: too often in vain.
    """
    source: str
    """Where it was, or should have come to."""
    error: str | None = None
    n_bytes: int | None = None
    """How many bytes it had, if that is not what it has."""


def refusal_of(source: str, why: str, body: bytes) -> tuple[bytes, Mapping[str, str]]:
    """Return what is written to `DEAD` about a message that weft refuses: bytes and headers."""
    headers = {
        _DEAD_SOURCE: source,
        _DEAD_ERROR: why[:DEAD_ERROR_CHARS_MAX],
        _DEAD_BYTES: str(len(body)),
    }
    return body[:DEAD_BYTES_MAX], headers


def read_refusal(headers: Mapping[str, str]) -> Death | None:
    """Return what these headers say; None: weft has not refused it."""
    if _DEAD_ERROR not in headers:
        return None
    size = headers.get(_DEAD_BYTES, "")
    n_bytes = int(size) if size.isascii() and size.isdecimal() and len(size) <= 15 else None  # noqa: PLR2004 (a bigint)
    return Death(REFUSED, headers.get(_DEAD_SOURCE, ""), headers[_DEAD_ERROR], n_bytes)


class Depth(NamedTuple):
    """What a transport holds of a route."""

    messages: int
    """That it has still to deliver, or that are not done."""
    consumers: int


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One offer of a job."""

    tenant: str
    batch: int
    job: int
    offer: int
    trace: str = ""
    """The trace id of the batch, for the tools of brokers."""


class Delivery(Protocol):
    """A message that came and is not acknowledged; another consumer's once this one has gone."""

    @property
    def body(self) -> bytes:
        """Return what it says; anybody may have written it."""

    async def acknowledge(self) -> None:
        """Let the transport forget it. Raise `TransportError`; then it comes again."""

    async def give_back(self) -> None:
        """Let another consumer have it. Raise `TransportError`; then it comes again."""

    async def refuse(self, why: str) -> None:
        """Put it into the tenant's queue `DEAD`, and acknowledge it. Raise `TransportError`; then
        it comes again.
        """

    @property
    def death(self) -> Death:
        """Return why it has come to `DEAD`; anybody may have written it."""


class Deliveries(Protocol):
    """What comes to a consumer. Raises `TransportError` while messages are awaited, when the
    connection ends: what was not acknowledged comes again.
    """

    def __aiter__(self) -> AsyncIterator[Delivery]:
        """Return itself."""

    async def __anext__(self) -> Delivery:
        """Return what comes next."""

    async def allow(self, limit: int) -> None:
        """Let at most `limit` come from now on that are not acknowledged; what has come stays.
        Raise `TransportError`.
        """


class Transport(Protocol):
    """A connection to one transport."""

    async def publish(self, messages: Sequence[tuple[Route, bytes]]) -> Sequence[bool]:
        """Send messages, in order; return which of them the transport has confirmed to keep.
        Raise `TransportError` if it cannot be reached.
        """

    def consume(self, route: Route, *, limit: int) -> AbstractAsyncContextManager[Deliveries]:
        """Get messages of a queue, at most `limit` unacknowledged ones. Raise `TransportError`."""

    async def depths(self, routes: Sequence[Route]) -> Sequence[Depth]:
        """Return what it holds of each route, in order; a route that there is not is made. Raise
        `TransportError`, also without routes if it cannot be reached.
        """

    async def check(self, routes: Sequence[Route] = ()) -> Sequence[Finding]:
        """Return what is to be said of the connection: its version, rights and what they lack;
        and of these routes, which of those that are there are none that weft could have made. It
        leaves nothing behind. Raise `TransportError` if it cannot be reached.
        """

    async def close(self) -> None:
        """End the connection, if there is one."""


TransportFactory = Callable[[Connection], Transport]
TRANSPORT_PLUGINS: Final = PluginGroup[TransportFactory]("weft.transports", "transport")
