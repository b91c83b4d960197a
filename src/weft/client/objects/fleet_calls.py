"""The part of a client for workers and pools."""

from collections.abc import Sequence
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

    async def list_pools(self) -> list[Document]:
        """Return the pools by name: what is described, and their machines by state."""
        return await self.api.list_pools()

    async def get_pool(self, name: str) -> Document:
        """Return a pool with its machines. Raise `PoolNotFound`."""
        return await self.api.get_pool(name)

    async def list_pool_changes(self, name: str) -> list[Document]:
        """Return what was decided about a pool, newest first. Raise `PoolNotFound`."""
        return await self.api.list_pool_changes(name)

    async def list_pool_costs(self, name: str) -> list[Document]:
        """Return what the machines of a pool cost by date (UTC) and flavour, and what of it jobs
        used, newest first. Raise `PoolNotFound`.
        """
        return await self.api.list_pool_costs(name)

    async def save_pools(self, pools: Sequence[Document], *, dry_run: bool = False) -> Document:
        """Make these the pools that are described; return what changes.

        Others keep their workers. Only for administrators.

        Args:
            pools: Documents of pools.
            dry_run: Only return what would change.
        """
        return await self.api.save_pools(pools, dry_run=dry_run)
