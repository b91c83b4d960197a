"""The part of a client for workers and pools."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document


class FleetCalls:
    """Workers and pools."""

    if TYPE_CHECKING:
        api: Api

    async def list_workers(self, *, all_: bool = False) -> list[Document]:
        """Return the documents of the workers; `all_`: also of those that have ended in order."""
        return await self.api.list_workers(all_=all_)

    async def get_worker(self, name: str, *, pool: str | None = None) -> Document:
        """Return the document of a worker. Raise `WorkerNotFound`, `WorkerAmbiguous`."""
        return await self.api.get_worker(name, pool=pool)

    async def cordon_worker(
        self, name: str, *, reason: str | None = None, pool: str | None = None
    ) -> Document:
        """Let a worker take no new job; return its document. Raise `RightMissing`,
        `WorkerEnded`.
        """
        return await self.api.cordon_worker(name, reason=reason, pool=pool)

    async def drain_worker(
        self, name: str, *, reason: str | None = None, pool: str | None = None
    ) -> Document:
        """Let a worker take no new job, and end when nothing runs; return its document. Raise
        `RightMissing`, `WorkerEnded`.
        """
        return await self.api.drain_worker(name, reason=reason, pool=pool)

    async def uncordon_worker(self, name: str, *, pool: str | None = None) -> Document:
        """Let a worker take jobs again; return its document. Raise `RightMissing`,
        `WorkerEnded`.
        """
        return await self.api.uncordon_worker(name, pool=pool)

    async def lose_worker(self, name: str, *, pool: str | None = None) -> Document:
        """Give up a silent worker whose jobs an engine elsewhere runs: they are lost and run
        again. Make sure first that nothing of it runs. Raise `RightMissing`, `WorkerAtWork`.
        """
        return await self.api.lose_worker(name, pool=pool)
