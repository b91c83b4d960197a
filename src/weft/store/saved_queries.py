"""The part of `ApiStore` for saved queries."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import Database


class SavedQueries:
    """The saved queries of a caller, each with `name, query, updated_at`."""

    _database: Database

    async def save_query(
        self, caller: Caller, name: str, query: str, *, queries_max: int
    ) -> Row | None:
        """Give a query a name, in place of one of the same name; return its document; None: the
        caller has `queries_max` others. Raise `Unauthenticated` if they are removed.
        """
        document: Row | None = await self._database.value(
            "save_query",
            caller=caller,
            user_id=caller.user_id,
            of_name=name,
            of_query=query,
            queries_max=queries_max,
        )
        return document

    async def list_saved_queries(self, caller: Caller, name: str | None = None) -> Sequence[Row]:
        """Return the caller's saved queries by name; or the one of this name."""
        rows = await self._database.call(
            "list_saved_queries", caller=caller, user_id=caller.user_id, of_name=name
        )
        return [row[0] for row in rows]

    async def remove_saved_query(self, caller: Caller, name: str) -> bool:
        """Forget a saved query of the caller; return whether there was one."""
        name_of = {"user_id": caller.user_id, "of_name": name}
        return bool(await self._database.value("remove_saved_query", caller=caller, **name_of))
