"""The part of `ApiStore` that shares batches."""

from collections.abc import Sequence

from weft.core.permissions import Permission
from weft.ports.store import Caller, Row
from weft.store.database import Database


class Permissions:
    """The api's calls about permissions. The methods are documented at the port."""

    _database: Database

    async def share_batch(
        self, caller: Caller, batch_id: int, user: str, permission: Permission | None
    ) -> Row:
        """Share a batch, or share it no longer."""
        document: Row = await self._database.value(
            "share_batch",
            caller=caller,
            batch_id=batch_id,
            of_user=user,
            permission=permission,
            actor=f"user {caller.user_name}",
        )
        return document

    async def list_permissions(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return with whom a batch is shared."""
        rows = await self._database.call(
            "list_permissions", caller=caller, batch_id=batch_id, after=after, limit_rows=limit
        )
        return [row[0] for row in rows]
