"""The part of `DriverStore` for jobs that travel over transports."""

from collections.abc import Sequence

from weft.core.permissions import Permission
from weft.core.rights import UserRole
from weft.ports.store import Caller, DueOffer, EventReader, Row
from weft.store.database import Database


class Offers:
    """The driver's calls about transports. The methods are documented at the port."""

    _database: Database

    async def withdraw_offers(self, epoch: int, transports: Sequence[str]) -> int:
        """Take back what may not start now."""
        return int(
            await self._database.value("withdraw_offers", epoch=epoch, transports=list(transports))
        )

    async def offer_jobs(self, epoch: int, transports: Sequence[str], *, limit_jobs: int) -> int:
        """Offer the next ready jobs."""
        return int(
            await self._database.value(
                "offer_jobs", epoch=epoch, transports=list(transports), limit_jobs=limit_jobs
            )
        )

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

    async def confirm_offers(self, epoch: int, offer_ids: Sequence[int]) -> None:
        """Note that the transport keeps these messages."""
        await self._database.call("confirm_offers", epoch=epoch, offer_ids=list(offer_ids))


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
