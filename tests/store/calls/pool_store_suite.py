"""What every adapter of the port `PoolStore` must do: a part of the api's suite."""

from uuid import uuid4

import msgspec

from store.calls.store_site import StoreTests
from weft.core.pools import Flavour, Pool
from weft.ports.store import Row


class PoolStoreSuite(StoreTests):
    """Tests of the port `PoolStore`."""

    async def described(self) -> list[Pool]:
        """Return the pools that are described; tests of other pools may run at the same time."""
        rows = await self.site.api.list_pools(self.site.caller)
        return [msgspec.convert(row["plan"], Pool) for row in rows if row["plan"] is not None]

    async def shown(self, name: str) -> Row | None:
        """Return a pool."""
        found = [
            row for row in await self.site.api.list_pools(self.site.caller) if row["pool"] == name
        ]
        return found[0] if found else None

    async def test_pools_are_what_was_saved(self) -> None:
        """A repeat is not recorded; a pool that is no longer described stays."""
        api, caller = self.site.api, self.site.caller
        others = await self.described()
        flavour = Flavour(name="small", cpu_m=2000, memory_mib=4096, labels={"rack": "12"})
        pool = Pool(name=f"p{uuid4().hex}", provider="none", max_workers=3, flavours=(flavour,))
        for _ in range(2):
            await api.save_pools(caller, [*others, pool])
        assert await self.described() == sorted([*others, pool], key=lambda one: one.name)
        await api.save_pools(caller, others)
        row = await self.shown(pool.name)
        assert row == {"pool": pool.name, "plan": None, "machines": {}}
        changes = await api.list_pool_changes(caller, pool.name, limit=9)
        assert [(one["kind"], one["reason"]) for one in changes] == [
            ("apply", f"user {caller.user_name} removed its description"),
            ("apply", f"user {caller.user_name} changed its description"),
        ]
        assert await api.list_machines(caller, pool.name, limit=9) == []
        assert await api.list_pool_costs(caller, pool.name, days=9) == []

    async def test_flavours_count_as_workers(self) -> None:
        """So that a job which only they hold is not refused."""
        api, caller = self.site.api, self.site.caller
        others = await self.described()
        flavour = Flavour(
            name="f", cpu_m=7000, memory_mib=9, gpus=2, countables={"matlab": 3},
            labels={"rack": "12"},
        )  # fmt: skip
        pool = Pool(
            name=f"p{uuid4().hex}",
            provider="none",
            max_workers=1,
            regions=("eu", "us"),
            flavours=(flavour,),
        )
        await api.save_pools(caller, [*others, pool])
        (offered,) = [
            one
            for one in await api.pool_offers()
            if one["offers"]["pool"] == pool.name and "machine" not in one["offers"]
        ]
        await api.save_pools(caller, others)
        offers = offered["offers"]
        assert (offered["cpu_m"], offers["rack"]) == (7000, ["12"])
        assert offers["region"] == ["eu", "us"]
        assert (offers["gpu"], offers["matlab"]) == (2, 3)
