"""The part of `ApiStore` for those who administer the site."""

from weft.ports.store import Row
from weft.store.database import Database


class System:
    """The api's call about the site. It is documented at the port."""

    _database: Database

    async def get_system(self, *, limit: int) -> Row:
        """Return what runs, and on what."""
        found: Row = await self._database.value("get_system", limit_rows=limit)
        return found
