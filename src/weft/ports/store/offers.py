"""The calls of a driver about transports and topics."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple, Protocol
from uuid import UUID

from weft.core.states import Reason
from weft.ports.store.callers import Caller, Row


class DueOffer(NamedTuple):
    """An offer whose message is due."""

    offer_id: int
    batch_id: int
    job_id: int
    tenant: str
    queue: str
    transport: str
    fence: UUID | None = None
    """What a foreign program answers with; None: it is for workers of weft."""
    until: datetime | None = None
    """A foreign program leaves it from then on."""
    spec_first: int | None = None
    """The first job of the chunk with its spec, for a foreign program."""
    trace_id: str = ""
    """Of its batch."""


class Offered(NamedTuple):
    """What was offered of a queue that has consumers."""

    key: str
    """Of the queue; empty: foreign programs consume it, who have no stock."""
    slots: int
    """Of its consumers."""
    waiting: int
    """Offers that nobody had taken before."""
    n_new: int


class OfferEnd(NamedTuple):
    """How a foreign program says that the job of an offer has ended."""

    offer_id: int
    fence: UUID
    reason: Reason | None
    """None: it succeeded."""
    exit_code: int | None
    message: str | None


class ForeignCommand(NamedTuple):
    """What a foreign program is to be told of a job that it has."""

    transport: str
    tenant: str
    batch_id: int
    job_id: int
    offer_id: int
    command_id: int | None
    """None: the offer is worthless, so the program may stop; the other fields are None, too."""
    incarnation_id: int | None
    attempt: int | None
    signal: int | None
    extend_ms: int | None
    """By how much longer it may run, in all."""
    message: str | None
    age_s: float
    """For how long it waits to be told."""


class Listening(NamedTuple):
    """That a driver hears the answers about a tenant's queues."""

    transport: str
    tenant: str
    since_s: float
    """For how many seconds, without a gap."""


class ForeignQueues(NamedTuple):
    """What foreign programs consume and run."""

    tenants: Sequence[tuple[str, str]]
    """By transport and name."""
    pool_ids: Sequence[int]
    """Pools with such queues, or with attempts of such programs."""


class EventReader(NamedTuple):
    """Somebody outside who is told of events."""

    caller: Caller
    """As whom."""
    after: tuple[int, int]
    """The last event that was told."""
    removed: bool
    """Events between that and what was told last were removed."""


class DeadMessage(NamedTuple):
    """A message that nobody wants."""

    transport: str
    tenant: str
    source: str
    """Where it was at the transport, or should have come to."""
    queue: str | None
    """Of weft, or `OUTCOMES`; None: it cannot be sent again."""
    reason: str
    error: str | None
    body: bytes
    n_bytes: int
    """How many it had."""


class WantedAgain(NamedTuple):
    """A dead message that somebody wants sent again."""

    dead_id: int
    transport: str
    tenant: str
    queue: str
    body: bytes


class OfferStore(Protocol):
    """The driver's calls about transports: a part of its own, for drivers that have some. Every
    call is safe to repeat, and raises `EpochStale` as those of `DriverStore` do.
    """

    async def withdraw_offers(
        self, epoch: int, transports: Sequence[str], *, looks: bool = True
    ) -> int:
        """Forget what is over; if it `looks`, take back what may not start now, or travels over
        none of these transports. Return how many offers are left.
        """

    async def offer_jobs(
        self,
        epoch: int,
        transports: Sequence[str],
        *,
        limit_jobs: int,
        stocks: Mapping[str, int] = MappingProxyType({}),
    ) -> Sequence[Offered]:
        """Offer the next ready jobs, as many as the consumers of their queues have room for, and
        a stock ahead of them: as many as their slots, unless it is named here by the queue's key.
        """

    async def take_offers(
        self, epoch: int, transports: Sequence[str], *, again_s: float, limit_offers: int
    ) -> Sequence[DueOffer]:
        """Return the offers to send now, in order; what nobody confirms is due again after
        `again_s` seconds.
        """

    async def get_chunks(
        self, batch_ids: Sequence[int], chunk_firsts: Sequence[int]
    ) -> Mapping[tuple[int, int], bytes]:
        """Return chunks of specs, by batch and first job, as far as there are any."""

    async def list_foreign(self, epoch: int, transports: Sequence[str]) -> ForeignQueues:
        """Return the tenants and pools with queues whose jobs foreign programs run."""

    async def start_answered(
        self, epoch: int, transport: str, tenant: str, offers: Sequence[tuple[int, UUID]]
    ) -> Sequence[str]:
        """Note that foreign programs run these, by offer and fence; return of each `runs`,
        `not_now`, or `settled`: there is no such offer any more.
        """

    async def end_answered(
        self, epoch: int, transport: str, tenant: str, ends: Sequence[OfferEnd]
    ) -> Sequence[str]:
        """Record how attempts of foreign programs have ended; return of each `ended`, `not_now`
        or `settled`.
        """

    async def tend_foreign(
        self, epoch: int, pool_id: int, listening: Sequence[Listening]
    ) -> Sequence[tuple[int, int]]:
        """Send the heartbeat for what foreign programs run in a pool, and end what was cancelled,
        or not told of for too long; return the latter, which are lost.
        """

    async def expire_offers(
        self, epoch: int, listening: Sequence[Listening]
    ) -> Sequence[tuple[str, str, int]]:
        """Let jobs be ready again whose offers nobody has answered for too long; return how many
        by transport and queue.
        """

    async def take_foreign_commands(
        self, epoch: int, transports: Sequence[str]
    ) -> Sequence[ForeignCommand]:
        """Return what foreign programs are to be told, in order, until that is ended."""

    async def end_foreign_commands(
        self, epoch: int, commands: Sequence[tuple[ForeignCommand, str]]
    ) -> None:
        """Note that these were told: an empty text, or why not."""

    async def confirm_offers(self, epoch: int, offer_ids: Sequence[int]) -> None:
        """Note that the transport keeps these messages."""

    async def list_announcements(
        self, epoch: int, reader: str, tenant: str, door: str, *, limit: int
    ) -> Row | None:
        """Return what the next events of a tenant tell of jobs that have come through a door with
        ids of its own: `told`, with `kind` `created` or `dead`, in order; the position after them;
        whether there is more (`behind`). A new reader begins now. None: there is no such tenant.
        """

    async def begin_reader(
        self, epoch: int, reader: str, tenant: str, user: str
    ) -> EventReader | None:
        """Return where a reader of events goes on, who sees them as this user; a new one begins
        now. None: there is no such user.
        """

    async def list_events(
        self, caller: Caller, *, after: tuple[int, int], batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], tuple[int, int]]:
        """Return events after a position, and the position reached."""

    async def keep_position(self, epoch: int, reader: str, xid: int, event_id: int) -> None:
        """Let the reader go on after this position."""

    async def keep_dead_message(
        self, epoch: int, message: DeadMessage, *, keep_max: int, keep_s: float
    ) -> None:
        """Keep a message that nobody wants; of its tenant the newest `keep_max` stay, for
        `keep_s` seconds. A repeat keeps it twice.
        """

    async def take_dead_messages(
        self, epoch: int, transports: Sequence[str], *, keep_s: float, limit: int
    ) -> Sequence[WantedAgain]:
        """Return those that are wanted again, the oldest wish first; forget what is too old."""

    async def end_dead_messages(self, epoch: int, dead_ids: Sequence[int]) -> None:
        """Forget messages that were sent again."""

    async def list_travelling(
        self, epoch: int, transports: Sequence[str]
    ) -> Sequence[tuple[str, str, str]]:
        """Return the queues that travel over these transports: transport, tenant and queue, in
        order.
        """

    async def note_transport(
        self,
        epoch: int,
        transport: str,
        error: str | None,
        depths: Sequence[tuple[str, str, int, int]],
    ) -> bool:
        """Note that a transport has just answered, and its messages and consumers by tenant and
        queue, or why it did not (`error`); return whether it has gone or come back.
        """
