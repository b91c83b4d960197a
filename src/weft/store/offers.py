"""The part of `DriverStore` for jobs that travel over transports."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID

from weft.core.access.permissions import Permission
from weft.core.access.rights import UserRole
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
from weft.store.database import Database


class Offers:
    """The driver's calls about transports. The methods are documented at the port."""

    _database: Database

    async def withdraw_offers(
        self, epoch: int, transports: Sequence[str], *, looks: bool = True
    ) -> int:
        """Take back what may not start now."""
        return int(
            await self._database.value(
                "withdraw_offers", epoch=epoch, transports=list(transports), looks=looks
            )
        )

    async def offer_jobs(
        self,
        epoch: int,
        transports: Sequence[str],
        *,
        limit_jobs: int,
        stocks: Mapping[str, int] = MappingProxyType({}),
    ) -> Sequence[Offered]:
        """Offer the next ready jobs."""
        rows = await self._database.call(
            "offer_jobs", epoch=epoch, transports=list(transports), limit_jobs=limit_jobs,
            stock_keys=list(stocks), stocks=list(stocks.values()),
        )  # fmt: skip
        return [Offered(*row) for row in rows]

    async def take_offers(
        self, epoch: int, transports: Sequence[str], *, again_s: float, limit_offers: int
    ) -> Sequence[DueOffer]:
        """Return the offers to send now."""
        rows = await self._database.call(
            "take_offers",
            epoch=epoch,
            transports=list(transports),
            again_s=again_s,
            limit_offers=limit_offers,
        )
        return [DueOffer(*row) for row in rows]

    async def list_travelling(
        self, epoch: int, transports: Sequence[str]
    ) -> Sequence[tuple[str, str, str]]:
        """Return the queues that travel."""
        rows = await self._database.call(
            "list_travelling", epoch=epoch, transports=list(transports)
        )
        return [(row["transport"], row["tenant"], row["queue"]) for row in rows]

    async def keep_dead_message(
        self, epoch: int, message: DeadMessage, *, keep_max: int, keep_s: float
    ) -> None:
        """Keep it."""
        await self._database.call(
            "keep_dead_message", epoch=epoch, transport=message.transport,
            of_tenant=message.tenant, source=_storable(message.source), queue=message.queue,
            reason=message.reason, error=message.error and _storable(message.error),
            body=message.body, n_bytes=message.n_bytes, keep_max=keep_max, keep_s=keep_s,
        )  # fmt: skip

    async def take_dead_messages(
        self, epoch: int, transports: Sequence[str], *, keep_s: float, limit: int
    ) -> Sequence[WantedAgain]:
        """Return those that are wanted again."""
        rows = await self._database.call(
            "take_dead_messages", epoch=epoch, transports=list(transports), keep_s=keep_s,
            limit_rows=limit,
        )  # fmt: skip
        return [WantedAgain(*row) for row in rows]

    async def end_dead_messages(self, epoch: int, dead_ids: Sequence[int]) -> None:
        """Forget them."""
        await self._database.call("end_dead_messages", epoch=epoch, dead_ids=list(dead_ids))

    async def note_transport(
        self,
        epoch: int,
        transport: str,
        error: str | None,
        depths: Sequence[tuple[str, str, int, int]],
    ) -> bool:
        """Note what was seen of a transport."""
        return bool(
            await self._database.value(
                "note_transport",
                epoch=epoch,
                transport=transport,
                error=error,
                tenants=[one[0] for one in depths],
                queues=[one[1] for one in depths],
                messages=[one[2] for one in depths],
                consumers=[one[3] for one in depths],
            )
        )

    async def list_announcements(
        self, epoch: int, reader: str, tenant: str, door: str, *, limit: int
    ) -> Row | None:
        """Return what the next events tell."""
        found: Row | None = await self._database.value(
            "list_announcements", epoch=epoch, reader=reader, tenant=tenant, door=door,
            limit_rows=limit,
        )  # fmt: skip
        return found

    async def begin_reader(
        self, epoch: int, reader: str, tenant: str, user: str
    ) -> EventReader | None:
        """Return where it goes on."""
        rows = await self._database.call(
            "begin_reader", epoch=epoch, reader=reader, of_tenant=tenant, of_user=user
        )
        for tenant_id, user_id, user_name, role, xid, event_id, removed in rows:
            caller = Caller(tenant_id, user_id, user_name, UserRole(role), needs=Permission.READ)
            return EventReader(caller, (xid, event_id), removed)
        return None

    async def list_events(
        self, caller: Caller, *, after: tuple[int, int], batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], tuple[int, int]]:
        """Return events, and the position reached."""
        return await listed_events(self._database, caller, after, batch_id, limit)

    async def keep_position(self, epoch: int, reader: str, xid: int, event_id: int) -> None:
        """Note how far it is told."""
        await self._database.call(
            "keep_position", epoch=epoch, reader=reader, xid=xid, event_id=event_id
        )

    async def get_chunks(
        self, batch_ids: Sequence[int], chunk_firsts: Sequence[int]
    ) -> Mapping[tuple[int, int], bytes]:
        """Return chunks of specs."""
        rows = await self._database.call(
            "get_chunks", batch_ids=list(batch_ids), first_jobs=list(chunk_firsts)
        )
        return {(row["batch_id"], row["first_job"]): row["body"] for row in rows}

    async def list_foreign(self, epoch: int, transports: Sequence[str]) -> ForeignQueues:
        """Return what foreign programs consume."""
        rows = await self._database.call("list_foreign", epoch=epoch, transports=list(transports))
        return ForeignQueues(
            sorted({(row["transport"], row["tenant"]) for row in rows if row["transport"]}),
            sorted({row["pool_id"] for row in rows}),
        )

    async def start_answered(
        self, epoch: int, transport: str, tenant: str, offers: Sequence[tuple[int, UUID]]
    ) -> Sequence[str]:
        """Note that these run."""
        found: Sequence[str] = await self._database.value(
            "start_answered", epoch=epoch, transport=transport, tenant=tenant,
            offer_ids=[one[0] for one in offers], fences=[one[1] for one in offers],
        )  # fmt: skip
        return found

    async def end_answered(
        self, epoch: int, transport: str, tenant: str, ends: Sequence[OfferEnd]
    ) -> Sequence[str]:
        """Record the ends."""
        found: Sequence[str] = await self._database.value(
            "end_answered", epoch=epoch, transport=transport, tenant=tenant,
            offer_ids=[one.offer_id for one in ends], fences=[one.fence for one in ends],
            reasons=[one.reason for one in ends], exit_codes=[one.exit_code for one in ends],
            messages=[one.message for one in ends],
        )  # fmt: skip
        return found

    async def tend_foreign(
        self, epoch: int, pool_id: int, listening: Sequence[Listening]
    ) -> Sequence[tuple[int, int]]:
        """Send the heartbeat, and end what is over."""
        rows = await self._database.call(
            "tend_foreign", epoch=epoch, of_pool_id=pool_id, **_columns(listening)
        )
        return [(row["batch_id"], row["job_id"]) for row in rows]

    async def expire_offers(
        self, epoch: int, listening: Sequence[Listening]
    ) -> Sequence[tuple[str, str, int]]:
        """Take back what nobody has answered."""
        rows = await self._database.call("expire_offers", epoch=epoch, **_columns(listening))
        return [(row["transport"], row["queue"], row["n_jobs"]) for row in rows]

    async def take_foreign_commands(
        self, epoch: int, transports: Sequence[str]
    ) -> Sequence[ForeignCommand]:
        """Return what foreign programs are to be told."""
        rows = await self._database.call(
            "take_foreign_commands", epoch=epoch, transports=list(transports)
        )
        return [ForeignCommand(*row) for row in rows]

    async def end_foreign_commands(
        self, epoch: int, commands: Sequence[tuple[ForeignCommand, str]]
    ) -> None:
        """Note that these were told, or why not."""
        others = [(one, why) for one, why in commands if one.command_id is not None]
        await self._database.call(
            "end_foreign_commands", epoch=epoch,
            offer_ids=[one.offer_id for one, _ in commands if one.command_id is None],
            command_ids=[one.command_id for one, _ in others],
            incarnation_ids=[one.incarnation_id for one, _ in others],
            attempts=[one.attempt for one, _ in others], outcomes=[why for _, why in others],
        )  # fmt: skip

    async def confirm_offers(self, epoch: int, offer_ids: Sequence[int]) -> None:
        """Note that the transport keeps these messages."""
        await self._database.call("confirm_offers", epoch=epoch, offer_ids=list(offer_ids))


def _storable(text: str) -> str:
    """Return text that a column can have; a stranger may have written it."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _columns(listening: Sequence[Listening]) -> Mapping[str, Any]:
    return {
        "transports": [one.transport for one in listening],
        "tenants": [one.tenant for one in listening],
        "listening_s": [one.since_s for one in listening],
    }


async def listed_events(
    database: Database,
    caller: Caller,
    after: tuple[int, int],
    batch_id: int | None,
    limit: int,
) -> tuple[Sequence[Row], tuple[int, int]]:
    """Return events after a position, and the position reached."""
    rows = await database.call(
        "list_events",
        caller=caller,
        after_xid=after[0],
        after_event=after[1],
        of_batch_id=batch_id,
        limit_rows=limit,
    )
    position = (rows[-1]["xid"], rows[-1]["event_id"]) if rows else after
    return [dict(row) for row in rows], position
