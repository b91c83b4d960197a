"""The part of `ApiStore` for transports."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import Database


class Transports:
    """The api's calls about transports. The methods are documented at the port."""

    _database: Database

    async def list_transports(self, caller: Caller, names: Sequence[str]) -> Sequence[Row]:
        """Return these connections by name."""
        rows = await self._database.call(
            "list_transports", of_tenant_id=caller.tenant_id, names=list(names)
        )
        return [row[0] for row in rows]
