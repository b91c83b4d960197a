"""The part of `DriverStore` for jobs that travel over transports."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final
from uuid import UUID

from weft.core.access.rights import Permission, UserRole
from weft.ports.store import (
    Caller,
    DeadMessage,
    DueOffer,
    EventReader,
    ForeignCommand,
    ForeignQueues,
    Listening,
    Offered,
    OfferEnd,
    Row,
    WantedAgain,
)
from weft.store.declared import Made, calls, column, nothing, number, pairs, truth, value
from weft.store.events import Events

_LISTENING: Final[Mapping[str, Made]] = {
    "transports": column("listening", "transport"),
    "tenants": column("listening", "tenant"),
    "listening_s": column("listening", "since_s"),
}


class Offers(Events):
    """The driver's calls about transports: a part of its own, for drivers that have some. Every
    call is safe to repeat, and raises `EpochStale` as those of `DriverStore` do.
    """

    @calls(number)
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
        rows = await self._database.call(
            "offer_jobs",
            epoch=epoch,
            transports=list(transports),
            limit_jobs=limit_jobs,
            stock_keys=list(stocks),
            stocks=list(stocks.values()),
        )
        return [Offered(*row) for row in rows]

    @calls(lambda rows: [DueOffer(*row) for row in rows])
    async def take_offers(
        self, epoch: int, transports: Sequence[str], *, again_s: float, limit_offers: int
    ) -> Sequence[DueOffer]:
        """Return the offers to send now, in order; if unconfirmed, again after `again_s`."""

    @calls(pairs)
    async def list_travelling(
        self, epoch: int, transports: Sequence[str]
    ) -> Sequence[tuple[str, str, str]]:
        """Return the queues of these transports: transport, tenant and queue, in order."""

    async def keep_dead_message(
        self, epoch: int, message: DeadMessage, *, keep_max: int, keep_s: float
    ) -> None:
        """Keep a message that nobody wants; of its tenant the newest `keep_max` stay, for
        `keep_s` seconds. A repeat keeps it twice.
        """
        await self._database.call(
            "keep_dead_message",
            epoch=epoch,
            transport=message.transport,
            of_tenant=message.tenant,
            source=_storable(message.source),
            queue=message.queue,
            reason=message.reason,
            error=message.error and _storable(message.error),
            body=message.body,
            n_bytes=message.n_bytes,
            keep_max=keep_max,
            keep_s=keep_s,
        )

    @calls(lambda rows: [WantedAgain(*row) for row in rows], limit="limit_rows")
    async def take_dead_messages(
        self, epoch: int, transports: Sequence[str], *, keep_s: float, limit: int
    ) -> Sequence[WantedAgain]:
        """Return those that are wanted again, the oldest wish first; forget what is too old."""

    @calls(nothing)
    async def end_dead_messages(self, epoch: int, dead_ids: Sequence[int]) -> None:
        """Forget messages that were sent again."""

    @calls(
        truth,
        tenants=column("depths", 0),
        queues=column("depths", 1),
        messages=column("depths", 2),
        consumers=column("depths", 3),
    )
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

    @calls(value, limit="limit_rows")
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
        rows = await self._database.call(
            "begin_reader", epoch=epoch, reader=reader, of_tenant=tenant, of_user=user
        )
        for tenant_id, user_id, user_name, role, xid, event_id, removed in rows:
            caller = Caller(tenant_id, user_id, user_name, UserRole(role), needs=Permission.READ)
            return EventReader(caller, (xid, event_id), removed)
        return None

    @calls(nothing)
    async def keep_position(self, epoch: int, reader: str, xid: int, event_id: int) -> None:
        """Let the reader go on after this position."""

    @calls(
        lambda rows: {(row["batch_id"], row["first_job"]): row["body"] for row in rows},
        chunk_firsts="first_jobs",
    )
    async def get_chunks(
        self, batch_ids: Sequence[int], chunk_firsts: Sequence[int]
    ) -> Mapping[tuple[int, int], bytes]:
        """Return chunks of specs, by batch and first job, as far as there are any."""

    async def list_foreign(self, epoch: int, transports: Sequence[str]) -> ForeignQueues:
        """Return the tenants and pools with queues whose jobs foreign programs run."""
        rows = await self._database.call("list_foreign", epoch=epoch, transports=list(transports))
        return ForeignQueues(
            sorted({(row["transport"], row["tenant"]) for row in rows if row["transport"]}),
            sorted({row["pool_id"] for row in rows}),
        )

    @calls(value, offer_ids=column("offers", 0), fences=column("offers", 1))
    async def start_answered(
        self, epoch: int, transport: str, tenant: str, offers: Sequence[tuple[int, UUID]]
    ) -> Sequence[str]:
        """Note that foreign programs run these, by offer and fence; return of each `runs`,
        `not_now`, or `settled`: there is no such offer any more.
        """

    @calls(
        value,
        offer_ids=column("ends", "offer_id"),
        fences=column("ends", "fence"),
        reasons=column("ends", "reason"),
        exit_codes=column("ends", "exit_code"),
        messages=column("ends", "message"),
    )
    async def end_answered(
        self, epoch: int, transport: str, tenant: str, ends: Sequence[OfferEnd]
    ) -> Sequence[str]:
        """Record how attempts of foreign programs have ended; return of each `ended`, `not_now`
        or `settled`.
        """

    @calls(pairs, pool_id="of_pool_id", **_LISTENING)
    async def tend_foreign(
        self, epoch: int, pool_id: int, listening: Sequence[Listening]
    ) -> Sequence[tuple[int, int]]:
        """Send the heartbeat for what foreign programs run in a pool, and end what was cancelled,
        or not told of for too long; return the latter, which are lost.
        """

    @calls(pairs, **_LISTENING)
    async def expire_offers(
        self, epoch: int, listening: Sequence[Listening]
    ) -> Sequence[tuple[str, str, int]]:
        """Let jobs be ready again whose offers nobody has answered for too long; return how many
        by transport and queue.
        """

    @calls(lambda rows: [ForeignCommand(*row) for row in rows])
    async def take_foreign_commands(
        self, epoch: int, transports: Sequence[str]
    ) -> Sequence[ForeignCommand]:
        """Return what foreign programs are to be told, in order, until that is ended."""

    async def end_foreign_commands(
        self, epoch: int, commands: Sequence[tuple[ForeignCommand, str]]
    ) -> None:
        """Note that these were told: an empty text, or why not."""
        others = [(one, why) for one, why in commands if one.command_id is not None]
        await self._database.call(
            "end_foreign_commands",
            epoch=epoch,
            offer_ids=[one.offer_id for one, _ in commands if one.command_id is None],
            command_ids=[one.command_id for one, _ in others],
            incarnation_ids=[one.incarnation_id for one, _ in others],
            attempts=[one.attempt for one, _ in others],
            outcomes=[why for _, why in others],
        )

    @calls(nothing)
    async def confirm_offers(self, epoch: int, offer_ids: Sequence[int]) -> None:
        """Note that the transport keeps these messages."""


def _storable(text: str) -> str:
    """Return text that a column can have; a stranger may have written it."""
    return text.replace("\0", "").encode(errors="replace").decode()
