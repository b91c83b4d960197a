"""Calls of `weft.api.use_cases.pools`.

Made by `tools/generate_client.py`; do not edit.
"""

from collections.abc import Sequence

from weft.client.http.calls import DocumentCalls, segment
from weft.client.http.listing import Document


class PoolsCalls(DocumentCalls):
    """Calls of `weft.api.use_cases.pools`."""

    async def list_pools(self) -> list[Document]:
        """Return the pools by name: those of the tenant, and those that all tenants share; what is
        described, and their machines by state.

        Use case: `weft.api.use_cases.pools.list_pools`.
        """
        return await self._items("/v1/pools")

    async def get_pool(self, name: str) -> Document:
        """Return a pool with its machines. Raise `PoolNotFound`.

        Use case: `weft.api.use_cases.pools.get_pool`.

        Args:
            name: The name of a pool.
        """
        return await self._get(f"/v1/pools/{segment(name, 'pool')}")

    async def list_pool_changes(self, name: str) -> list[Document]:
        """Return what was decided about a pool, and why, newest first; the newest 1,000 are kept.
        Raise `PoolNotFound`.

        Use case: `weft.api.use_cases.pools.list_pool_changes`.

        Args:
            name: The name of a pool.
        """
        return await self._items(f"/v1/pools/{segment(name, 'pool')}/log")

    async def list_pool_costs(self, name: str) -> list[Document]:
        """Return what the machines of a pool cost by date (UTC) and flavour, and what of it jobs
        used, newest first; the newest 400 dates. Raise `PoolNotFound`.

        Use case: `weft.api.use_cases.pools.list_pool_costs`.

        Args:
            name: The name of a pool.
        """
        return await self._items(f"/v1/pools/{segment(name, 'pool')}/cost")

    async def save_pools(self, pools: Sequence[Document], *, dry_run: bool = False) -> Document:
        """Make these the pools that are described; return what changes. Others keep their workers;
        a pool with machines has to stay described. Only for administrators.

        Use case: `weft.api.use_cases.pools.save_pools`.

        Args:
            pools: At least those that shall stay described.
            dry_run: Only return what would change.
        """
        return await self._put("/v1/pools", {"pools": pools, "dry_run": dry_run})
