"""What every adapter of the port `FleetStore` must do: a part of the api's suite."""

from uuid import uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.errors import WorkerAmbiguous, WorkerAtWork, WorkerEnded, WorkerNotFound


class FleetStoreSuite(StoreTests):
    """Tests of the port `FleetStore`."""

    async def listed(self, *, with_deleted: bool = False) -> dict[str, str]:
        """Return the states of the workers of this test's pool, by name, in their order."""
        rows = await self.site.api.list_workers(
            self.site.caller, with_deleted=with_deleted, limit=1000
        )
        return {row["worker"]: row["state"] for row in rows if row["pool"] == self.site.pool}

    async def test_workers_are_listed_by_name(self) -> None:
        """Those that have ended in order only if asked for."""
        for name in "ba":
            await self.site.open_worker(name)
        store, incarnation_id = await self.site.open_worker("c")
        await store.leave(incarnation_id)
        assert list((await self.listed()).items()) == [("a", "active"), ("b", "active")]
        assert list(await self.listed(with_deleted=True)) == ["a", "b", "c"]
        rows = await self.site.api.list_workers(self.site.caller, with_deleted=True, limit=1)
        assert len(rows) == 1

    async def test_workers_are_listed_page_by_page(self) -> None:
        """Also those of one name in several pools; the last one of a page may be gone."""
        api, caller = self.site.api, self.site.caller
        names = ("a", "b", "d")
        for name in names:
            await self.site.open_worker(name)
        whole = [
            (row["worker"], row["pool"])
            for row in await api.list_workers(caller, with_deleted=False, limit=1000)
        ]
        found: list[tuple[str, str]] = []
        for _ in whole:
            rows = await api.list_workers(
                caller, with_deleted=False, limit=2, after=found[-1] if found else None
            )
            found += [(row["worker"], row["pool"]) for row in rows]
        assert found == whole
        later = await api.list_workers(
            caller, with_deleted=False, limit=1000, after=("c", "no-such-pool")
        )
        assert [row["worker"] for row in later if row["pool"] == self.site.pool] == ["d"]
        sums = await api.sum_workers(caller, limit=9)
        assert sums["n_workers"] >= len(names)
        assert {"cpu", "memory", "cpu_used", "set_aside"} <= sums.keys()

    async def test_cordoned_worker_gets_no_job(self) -> None:
        """It keeps what it has; a repeat changes nothing."""
        api, caller, pool = self.site.api, self.site.caller, self.site.pool
        await self.site.submit(2)
        (running,) = await self.site.claim(1)
        assert await api.cordon_worker(caller, "w", pool, reason="new disk")
        assert not await api.cordon_worker(caller, "w", pool, reason="other")
        assert await self.site.run() == []
        await self.site.end(running)
        assert await self.listed() == {"w": "cordoned"}
        assert await api.uncordon_worker(caller, "w", pool)
        assert not await api.uncordon_worker(caller, "w", pool)
        assert await self.site.run() == [2]
        history = (await api.get_worker(caller, "w", pool))["history"]
        actor = f"user {caller.user_name}"
        assert [(one["state"], one["reason"], one["actor"]) for one in history] == [
            ("active", None, actor),
            ("cordoned", "new disk", actor),
        ]

    async def test_draining_worker_gets_no_job_and_is_deleted_when_it_ends(self) -> None:
        """One that starts again takes jobs; a drain is taken back like a cordon."""
        api, caller, pool = self.site.api, self.site.caller, self.site.pool
        store, incarnation_id = await self.site.open_worker("a")
        assert await api.drain_worker(caller, "a", pool, reason="old")
        assert not await api.drain_worker(caller, "a", pool, reason="other")
        assert not await api.cordon_worker(caller, "a", pool, reason="other")
        assert await self.listed() == {"a": "draining"}
        assert await api.uncordon_worker(caller, "a", pool)
        assert await api.drain_worker(caller, "a", pool, reason="old")
        await store.leave(incarnation_id)
        assert await self.listed() == {}
        with refused(WorkerEnded):
            await api.drain_worker(caller, "a", pool, reason=None)
        await self.site.open_worker("a")
        assert await self.listed() == {"a": "active"}

    async def test_only_a_silent_worker_is_given_up(self) -> None:
        """One that is heard of is refused, whatever runs there."""
        api, caller, pool = self.site.api, self.site.caller, self.site.pool
        await self.site.open_worker("a")
        with refused(WorkerAtWork):
            await api.lose_worker(caller, "a", pool)
        assert await self.listed() == {"a": "active"}

    async def test_worker_is_found_by_name_or_refused(self) -> None:
        """Several of one name are told apart by their pools."""
        api, caller, pool = self.site.api, self.site.caller, self.site.pool
        name = uuid4().hex
        store, incarnation_id = await self.site.open_worker(name)
        assert (await api.get_worker(caller, name, None))["pool"] == pool
        await self.site.open_worker(name, of_stranger=True)
        for wrong, error in ((None, WorkerAmbiguous), ("none", WorkerNotFound)):
            with refused(error):
                await api.get_worker(caller, name, wrong)
            with refused(error):
                await api.cordon_worker(caller, name, wrong, reason=None)
            with refused(error):
                await api.uncordon_worker(caller, name, wrong)
        await store.leave(incarnation_id)
        assert (await api.get_worker(caller, name, pool))["worker"] == name
        with refused(WorkerEnded):
            await api.cordon_worker(caller, name, pool, reason=None)
        with refused(WorkerEnded):
            await api.uncordon_worker(caller, name, pool)
