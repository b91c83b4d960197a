"""The part of `ApiStore` about queues."""

from collections.abc import Sequence

import msgspec

from weft.core.queues import Queue
from weft.ports.store import Caller, Row
from weft.store.database import Database


class Queues:
    """The api's calls about queues. The methods are documented at the port."""

    _database: Database

    async def list_queues(self, caller: Caller, *, with_counts: bool = True) -> Sequence[Row]:
        """Return the queues of the tenant."""
        rows = await self._database.call(
            "list_queues", tenant_id=caller.tenant_id, with_counts=with_counts
        )
        return [row[0] for row in rows]

    async def save_queues(self, caller: Caller, queues: Sequence[Queue]) -> None:
        """Make these the queues of the tenant."""
        await self._database.call(
            "save_queues", tenant_id=caller.tenant_id, queues=msgspec.to_builtins(queues)
        )

    async def drain_queue(self, caller: Caller, name: str) -> bool:
        """Let a queue take no more jobs."""
        rows = await self._database.call("drain_queue", tenant_id=caller.tenant_id, name=name)
        return bool(rows[0][0])
