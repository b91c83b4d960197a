"""Calls of `weft.api.use_cases.saved_queries`, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.generated.calls import CallsT_co
from weft.client.http.listing import Document
from weft.client.loop_thread import Twin


class SavedQueriesWaits(Twin[CallsT_co]):
    """Calls of `weft.api.use_cases.saved_queries`, for programs that wait."""

    def list_saved_queries(self) -> list[Document]:
        """Return one's saved queries by name, each with `name`, `query` and `updated_at`.

        Use case: `weft.api.use_cases.saved_queries.list_saved_queries`.
        """
        return self._loop_thread.wait(self._async.list_saved_queries())

    def save_query(self, name: str, query: str) -> Document:
        """Give a query for batches a name, in place of one of the same name. Raise `BadQuery`,
        `TooManySavedQueries`.

        Use case: `weft.api.use_cases.saved_queries.save_query`.

        Args:
            name: The name of a saved query.
            query: A query for batches.
        """
        return self._loop_thread.wait(self._async.save_query(name, query))

    def get_saved_query(self, name: str) -> Document:
        """Return one of one's saved queries. Raise `SavedQueryNotFound`.

        Use case: `weft.api.use_cases.saved_queries.get_saved_query`.

        Args:
            name: The name of a saved query.
        """
        return self._loop_thread.wait(self._async.get_saved_query(name))

    def remove_saved_query(self, name: str) -> None:
        """Forget one of one's saved queries. Raise `SavedQueryNotFound`.

        Use case: `weft.api.use_cases.saved_queries.remove_saved_query`.

        Args:
            name: The name of a saved query.
        """
        self._loop_thread.wait(self._async.remove_saved_query(name))
