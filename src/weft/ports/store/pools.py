"""The calls of the api about pools and their machines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.core.pools import Pool
from weft.ports.store.callers import Caller, Row


@dataclass(frozen=True)
class ShareKey:
    """Where a user stands among those with work in a pool."""

    load: float | None
    """Running mCPU divided by weight; None: the user has no ready jobs."""
    user_id: int


class PoolStore(Protocol):
    """Pools as operators describe them."""

    async def list_pools(
        self,
        caller: Caller,
        *,
        name: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Row]:
        """Return the pools of the caller's tenant and those that all share, of all tenants to who
        may administer the site, by name: `pool`, `plan` (a document of `Pool`, or None) and
        `machines` (how many by state). `name`: only this one; `after`: the name of the last
        one of the page before; no `limit`: all.
        """

    async def save_pools(self, caller: Caller, pools: Sequence[Pool]) -> None:
        """Make these the pools that are described; make those that do not exist. Raise
        `PoolHasMachines` and change nothing if one with machines would not be described,
        `PoolInUse` if one of a tenant has queues of others, `UnknownTenant`.
        """

    async def list_machines(self, caller: Caller, pool: str, *, limit: int) -> Sequence[Row]:
        """Return the machines of a pool that the caller sees, oldest first, without deleted ones;
        none of any other.
        """

    async def list_pool_costs(self, caller: Caller, pool: str, *, days: int) -> Sequence[Row]:
        """Return what the machines of a pool that the caller sees cost by date (UTC) and flavour,
        and what of it jobs used, newest first; nothing of any other.
        """

    async def list_shares(
        self,
        caller: Caller,
        pool: str,
        *,
        limit: int,
        after: ShareKey | None = None,
        only_own: bool = False,
        own_tenant: bool = False,
    ) -> Sequence[Row]:
        """Return `user, weight, n_ready, ready_m, running_m, load, user_id` of the users with work
        in a pool: those with ready jobs in the order in which they are served, then those who only
        run jobs, whose `load` is None. `user` is None for those whom the caller does not see,
        `user_id` for those of other tenants.
        `only_own`: of the caller alone. `own_tenant`: of the caller's tenant alone.
        """

    async def list_pool_changes(self, caller: Caller, pool: str, *, limit: int) -> Sequence[Row]:
        """Return what was decided about a pool that the caller sees, and why, newest first;
        nothing about any other. Users of other tenants are not told which administrator of the
        site did it.
        """
