"""The client's calls about transports, for programs."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document, Listing


class TransportCalls:
    """Connections over which queues travel, and what nobody wanted there."""

    if TYPE_CHECKING:
        api: Api

    async def list_transports(self) -> list[Document]:
        """Return the connections over which queues travel, and what is under way over each."""
        return await self.api.list_transports()

    def list_dead_messages(self, *, acknowledged: bool = False) -> Listing:
        """Yield the messages of transports that nobody wants, the newest first. Only for
        operators.

        Args:
            acknowledged: Those that are acknowledged, instead of the others.
        """
        return self.api.list_dead_messages(acknowledged=acknowledged)

    async def get_dead_message(self, dead_id: int) -> Document:
        """Return a dead message with its `body` in base64. Only for operators. Raise
        `DeadMessageNotFound`.
        """
        return await self.api.get_dead_message(dead_id)

    async def remove_dead_message(self, dead_id: int) -> Document:
        """Forget a dead message. Only for operators. Raise `DeadMessageNotFound`."""
        return await self.api.remove_dead_message(dead_id)

    async def acknowledge_dead_message(self, dead_id: int, note: str) -> Document:
        """Say that you have seen to a dead message: it leaves the list; return it. Only for
        operators. Raise `DeadMessageNotFound`.

        Args:
            dead_id: Its number.
            note: What to say of it.
        """
        return await self.api.acknowledge_dead_message(dead_id, note)

    async def resend_dead_message(self, dead_id: int) -> Document:
        """Put a dead message into its queue again; return it. Only for operators. Raise
        `DeadMessageNotFound`, `DeadMessageFinal`.
        """
        return await self.api.resend_dead_message(dead_id)
