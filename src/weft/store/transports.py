"""The part of `ApiStore` for transports."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import Database


class Transports:
    """What is known of the connections over which queues travel."""

    _database: Database

    async def list_transports(self, caller: Caller, names: Sequence[str]) -> Sequence[Row]:
        """Return these connections by name: `transport`, `looked_at`, `away_since`, `error` (None
        each: the driver has not looked, or it answers), and of the caller's tenant the number of
        `dead_messages`, and `queues`.
        """
        rows = await self._database.call(
            "list_transports", of_tenant_id=caller.tenant_id, names=list(names)
        )
        return [row[0] for row in rows]

    async def list_dead_messages(
        self, caller: Caller, *, before: int | None, acknowledged: bool, limit: int
    ) -> Sequence[Row]:
        """Return messages that nobody wants and that a person has acknowledged, or the others, the
        newest first, from before a number on.
        """
        rows = await self._database.call(
            "list_dead_messages", tenant_id=caller.tenant_id, before=before,
            of_acknowledged=acknowledged, limit_rows=limit,
        )  # fmt: skip
        return [row[0] for row in rows]

    async def get_dead_message(self, caller: Caller, dead_id: int) -> Row | None:
        """Return one with its `body` in base64; None: there is none."""
        found: Row | None = await self._database.value(
            "get_dead_message", tenant_id=caller.tenant_id, of_dead_id=dead_id
        )
        return found

    async def remove_dead_message(self, caller: Caller, dead_id: int) -> bool:
        """Forget one; return whether there was one."""
        return bool(
            await self._database.value(
                "remove_dead_message", tenant_id=caller.tenant_id, of_dead_id=dead_id
            )
        )

    async def acknowledge_dead_message(
        self, caller: Caller, dead_id: int, note: str
    ) -> Row | None:
        """Note that somebody has seen to one, the first time; return it. None: there is none."""
        found: Row | None = await self._database.value(
            "acknowledge_dead_message", tenant_id=caller.tenant_id, of_dead_id=dead_id, note=note,
            actor=f"user {caller.user_name}",
        )  # fmt: skip
        return found

    async def resend_dead_message(self, caller: Caller, dead_id: int) -> Row | None:
        """Let one be sent again, unless not `can_resend`; return it. None: there is none."""
        found: Row | None = await self._database.value(
            "resend_dead_message", tenant_id=caller.tenant_id, of_dead_id=dead_id
        )
        return found
