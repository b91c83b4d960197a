"""The client's calls about transports."""

from weft.client.http.calls import Requests
from weft.client.http.listing import Document, Listing


class TransportRoutes(Requests):
    """One method per route."""

    async def list_transports(self) -> list[Document]:
        """Return the connections over which queues travel, and what is under way there."""
        return await self._items("/v1/transports")

    def list_dead_messages(self, *, acknowledged: bool = False) -> Listing:
        """Yield the messages of transports that nobody wants, the newest first; those that are
        `acknowledged`, instead of the others. Only for operators.
        """
        return self._list("/v1/dead-messages", {"acknowledged": acknowledged or None})

    async def get_dead_message(self, dead_id: int) -> Document:
        """Return a dead message with its `body` in base64. Only for operators. Raise
        `DeadMessageNotFound`.
        """
        return await self._get(f"/v1/dead-messages/{dead_id}")

    async def remove_dead_message(self, dead_id: int) -> Document:
        """Forget a dead message. Only for operators. Raise `DeadMessageNotFound`."""
        return await self._delete(f"/v1/dead-messages/{dead_id}")

    async def acknowledge_dead_message(self, dead_id: int, note: str) -> Document:
        """Say that you have seen to a dead message; return it. Only for operators. Raise
        `DeadMessageNotFound`.
        """
        return await self._post(f"/v1/dead-messages/{dead_id}/acknowledge", {"note": note})

    async def resend_dead_message(self, dead_id: int) -> Document:
        """Put a dead message into its queue again; return it. Only for operators. Raise
        `DeadMessageNotFound`, `DeadMessageFinal`.
        """
        return await self._post(f"/v1/dead-messages/{dead_id}/resend", {})
