"""What every adapter of the port `DriverStore` must do with machines: a part of its suite."""

from uuid import uuid4

from msgspec import convert

from store.calls.store_site import StoreTests
from weft.core.pools import Flavour, Pool
from weft.core.pools.keep import Keep
from weft.ports.store import (
    ClaimRequest,
    Row,
    Shape,
    WorkTerms,
)
from weft.store import DriverStore
from weft.testing.builders import job_rows


class MachineStoreSuite(StoreTests):
    """Machines of pools."""

    async def test_machines_are_made_used_and_deleted(self) -> None:
        """Never more than the pool may have; one on which a job runs is only drained."""
        store = self.site.driver
        epoch = await self.site.lead()
        api, caller, name = self.site.api, self.site.caller, self.site.pool
        pool, others = await self.describe("none")
        await self.site.submit(3)
        (found,) = await self.rounds(store, epoch)
        assert convert(found["plan"], Pool) == pool
        assert [one["n_jobs"] for one in found["demand"]] == [3]
        (machine,) = await store.add_machines(epoch, found["pool_id"], [("f", "", "why")] * 2)
        assert await store.add_machines(epoch, found["pool_id"], [("f", "", "why")]) == []
        token = f"t{uuid4().hex}"
        assert await store.add_machine_token(epoch, machine, token)
        holder = await api.authenticate(token)
        assert holder is not None
        assert holder.work == WorkTerms(name, machine)
        await store.record_machine(epoch, machine, "made", provider_id="7")
        assert await self.states(store, epoch) == {machine: ("creating", False, 0)}
        worker, incarnation_id = await self.site.open_worker(machine)
        assert await self.states(store, epoch) == {machine: ("active", True, 0)}
        await store.count_machines(epoch, {machine: 0.5})
        for decision in ("cordon", "uncordon", "cordon", "delete"):
            assert await store.move_machine(epoch, machine, decision, "why")
        assert not await store.move_machine(epoch, machine, "cordon", "why")
        assert await self.states(store, epoch) == {machine: ("deleting", True, 0)}
        assert await worker.finish_drain(incarnation_id)
        assert await self.states(store, epoch) == {machine: ("deleting", False, 0)}
        await store.record_machine(epoch, machine, "fail", reason="busy")
        assert await api.authenticate(token) == holder
        await store.record_machine(epoch, machine, "gone", reason="gone")
        assert await api.authenticate(token) is None
        assert not await store.add_machine_token(epoch, machine, f"t{uuid4().hex}")
        assert await self.states(store, epoch) == {}
        (cost,) = await api.list_pool_costs(caller, name, days=9)
        assert await api.list_shares(caller, name, limit=9) == []
        assert 0 <= cost["used_hours"] <= cost["machine_hours"]
        await api.save_pools(caller, others)
        log = [one["kind"] for one in await api.list_pool_changes(caller, name, limit=99)]
        assert log == [
            "apply", "gone", "fail", "delete", "cordon", "uncordon", "cordon", "create", "apply",
        ]  # fmt: skip

    async def test_machines_are_compared_with_what_a_provider_has(self) -> None:
        """One that nobody asked for, or that is there twice, is deleted; a new one is left."""
        store, provider = self.site.driver, f"p{uuid4().hex}"
        epoch = await self.site.lead()
        pool, others = await self.describe(provider)
        (found,) = await self.rounds(store, epoch)
        (machine,) = await store.add_machines(epoch, found["pool_id"], [("f", "", "why")])
        await store.record_machine(epoch, machine, "made", provider_id="7")
        assert await store.reconcile_machines(epoch, provider, [], asked_s=0) == []
        stray = f"{pool.name}-stray"
        names = [machine, stray]
        (wrong,) = await store.reconcile_machines(epoch, provider, names, asked_s=0)
        assert (wrong["pool"], wrong["machine"]) == (pool.name, stray)
        assert await store.reconcile_machines(epoch, provider, names, asked_s=0) == []
        (wrong,) = await store.reconcile_machines(epoch, provider, [machine] * 2, asked_s=0)
        assert wrong["machine"] == machine
        states = {name: state for name, (state, _, _) in (await self.states(store, epoch)).items()}
        assert states == {machine: "deleting", stray: "deleting"}
        for one in names:
            await store.record_machine(epoch, one, "gone", reason="gone")
        await self.site.api.save_pools(self.site.caller, others)

    async def test_a_job_waits_for_a_machine_of_its_own(self) -> None:
        """It is ready again when the machine goes without a worker."""
        store = self.site.driver
        epoch = await self.site.lead()
        _, others = await self.describe("none")
        batch = await self.site.submit(job_rows(1, shapes=[Shape(words=(("machine", "f"),))]))
        (found,) = await self.rounds(store, epoch)
        assert [(one["batch_id"], one["job_id"]) for one in found["own_jobs"]] == [(batch, 1)]
        new = [("f", "", "why", batch, 1)]
        (made,) = await store.add_own_machines(epoch, found["pool_id"], new)
        assert await store.add_own_machines(epoch, found["pool_id"], new) == []
        (found,) = await self.rounds(store, epoch)
        (machine,) = found["machines"]
        assert (machine["name"], machine["is_own"]) == (made["name"], True)
        assert machine["is_needed"]
        assert found["own_jobs"] == []
        assert await store.move_machine(epoch, made["name"], "delete", "why")
        (found,) = await self.rounds(store, epoch)
        assert len(found["own_jobs"]) == 1
        await store.record_machine(epoch, made["name"], "gone", reason="gone")
        await self.site.api.save_pools(self.site.caller, others)

    async def describe(self, provider: str) -> tuple[Pool, list[Pool]]:
        """Describe this test's pool; return it, and the others that are described."""
        rows = await self.site.api.list_pools(self.site.caller)
        others = [convert(row["plan"], Pool) for row in rows if row["plan"] is not None]
        flavour = Flavour(name="f", cpu_m=1000, memory_mib=512)
        pool = Pool(name=self.site.pool, provider=provider, max_workers=1, flavours=(flavour,))
        await self.site.api.save_pools(self.site.caller, [*others, pool])
        return pool, others

    async def test_a_worker_is_kept_for_a_job_that_waits(self) -> None:
        """One worker for a job, and one job for a worker; until the job is gone."""
        store = self.site.driver
        epoch = await self.site.lead()
        batch = await self.site.submit(2)
        worker, incarnation_id = await self.site.open_worker("kept")
        rows = await store.reserve_rounds(epoch, after_s=0)
        assert batch in {one["batch_id"] for row in rows for one in row["jobs"]}
        assert incarnation_id in {one["incarnation_id"] for row in rows for one in row["workers"]}
        assert await store.add_reservations(epoch, [Keep(incarnation_id, batch, 2)]) == 1
        for other in (1, 2):
            assert (
                await store.add_reservations(epoch, [Keep(incarnation_id, batch, other, 9.0)]) == 0
            )
        assert (await worker.heartbeat(incarnation_id, [], draining=False)).kept
        request = ClaimRequest(budget_cpu_m=1, budget_memory_mib=1, limit_jobs=9)
        (claimed,), fills = await worker.claim_reserved(incarnation_id, request)
        assert (claimed.batch_id, claimed.job_id, fills) == (batch, 2, False)
        assert await worker.claim_reserved(incarnation_id, request) == ([], False)

    async def rounds(self, store: DriverStore, epoch: int) -> list[Row]:
        """Return what there is to decide about this test's pool."""
        rows = await store.pool_rounds(epoch, limit_jobs=100)
        return [row for row in rows if row["plan"]["name"] == self.site.pool]

    async def states(self, store: DriverStore, epoch: int) -> dict[str, tuple[str, bool, int]]:
        """Return state, whether there is a worker, and jobs of this test's machines."""
        (row,) = await self.rounds(store, epoch)
        return {
            one["name"]: (one["state"], one["has_worker"], one["n_running"])
            for one in row["machines"]
        }
