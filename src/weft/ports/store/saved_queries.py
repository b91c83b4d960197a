"""The calls of the api about queries that users have saved."""

from collections.abc import Sequence
from typing import Protocol

from weft.ports.store.callers import Caller, Row


class SavedQueryStore(Protocol):
    """The saved queries of a caller, each with `name, query, updated_at`."""

    async def save_query(
        self, caller: Caller, name: str, query: str, *, queries_max: int
    ) -> Row | None:
        """Give a query a name, in place of one of the same name; return its document; None: the
        caller has `queries_max` others. Raise `Unauthenticated` if they are removed.
        """

    async def list_saved_queries(self, caller: Caller, name: str | None = None) -> Sequence[Row]:
        """Return the caller's saved queries by name; or the one of this name."""

    async def remove_saved_query(self, caller: Caller, name: str) -> bool:
        """Forget a saved query of the caller; return whether there was one."""
