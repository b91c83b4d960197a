"""The calls of a driver about transports and topics."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from weft.ports.store.callers import Caller, Row


class DueOffer(NamedTuple):
    """An offer whose message is due."""

    offer_id: int
    batch_id: int
    job_id: int
    tenant: str
    queue: str
    transport: str


class EventReader(NamedTuple):
    """Somebody outside who is told of events."""

    caller: Caller
    """As whom."""
    after: tuple[int, int]
    """The last event that was told."""
    removed: bool
    """Events between that and what was told last were removed."""


class OfferStore(Protocol):
    """The driver's calls about transports: a part of its own, for drivers that have some. Every
    call is safe to repeat, and raises `EpochStale` as those of `DriverStore` do.
    """

    async def withdraw_offers(self, epoch: int, transports: Sequence[str]) -> int:
        """Take back what may not start now, or travels over none of these transports, and forget
        what is over; return how many offers are left.
        """

    async def offer_jobs(self, epoch: int, transports: Sequence[str], *, limit_jobs: int) -> int:
        """Offer the next ready jobs, as many as the consumers of their queues want; return how
        many.
        """

    async def take_offers(
        self, epoch: int, transports: Sequence[str], *, again_s: float, limit_offers: int
    ) -> Sequence[DueOffer]:
        """Return the offers to send now, in order; what nobody confirms is due again after
        `again_s` seconds.
        """

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
