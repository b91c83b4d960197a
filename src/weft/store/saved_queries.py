"""The saved queries of users, in the api's store."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import calls, documents, truth, user_id, value


class SavedQueries(StorePart):
    """The saved queries of a caller, each with `name, query, updated_at`."""

    @calls(value, name="of_name", query="of_query", user_id=user_id)
    async def save_query(
        self, caller: Caller, name: str, query: str, *, queries_max: int
    ) -> Row | None:
        """Give a query a name, in place of one of the same name; return its document; None: the
        caller has `queries_max` others. Raise `Unauthenticated` if they are removed.
        """

    @calls(documents, name="of_name", user_id=user_id)
    async def list_saved_queries(self, caller: Caller, name: str | None = None) -> Sequence[Row]:
        """Return the caller's saved queries by name; or the one of this name."""

    @calls(truth, name="of_name", user_id=user_id)
    async def remove_saved_query(self, caller: Caller, name: str) -> bool:
        """Forget a saved query of the caller; return whether there was one."""
