"""What every adapter of the port `WhyStore` must do: a part of the api's suite."""

from store.calls.store_site import TREE, StoreTests, refused
from weft.core.errors import BatchNotFound, GroupNotFound, JobNotFound
from weft.core.states import Reason
from weft.testing.builders import job_rows


class WhyStoreSuite(StoreTests):
    """Tests of the port `WhyStore`."""

    async def test_facts_of_a_job_that_waits(self) -> None:
        """For a worker, its parent, or a hold."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(2, parents={2: [1]}))
        first = await api.why_job(caller, batch, 1)
        assert first.pool is not None
        assert (first.state, first.pool.pool, first.pool.workers) == ("ready", self.site.pool, 0)
        await self.site.worker()
        child = await api.why_job(caller, batch, 2)
        assert [(one.job_id, one.state) for one in child.parents] == [(1, "ready")]
        assert child.pool is not None
        assert (child.pool.active, child.pool.free) == (1, True)
        await api.hold_group(caller, batch, 0)
        await api.hold_jobs(caller, batch, [1])
        assert (await api.why_job(caller, batch, 1)).held == ("/", "")
        both = await api.why_jobs(caller, batch, [2, 1, 7])
        assert [(one.job_id, one.held) for one in both] == [(1, ("/", "")), (2, ("/",))]

    async def test_facts_of_a_job_that_runs(self) -> None:
        """It waits for nothing."""
        batch = await self.site.submit(1)
        await self.site.claim()
        assert (await self.site.api.why_job(self.site.caller, batch, 1)).pool is None

    async def test_facts_of_a_group_name_jobs_that_stand_for_the_others(self) -> None:
        """One that is ready, and one that failed; only of this group."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(4, group=[0, 1, 1, 3]), groups=TREE)
        one, two = sorted(await self.site.claim(2), key=lambda job: job.job_id)
        await self.site.end(one, two, reason=Reason.EXIT)
        for group, ready, failed in ((0, 3, 1), ("/a", 3, 2), ("c", 4, None)):
            facts = await api.why_group(caller, batch, group)
            assert [job.job_id for job in facts.ready] == [ready]
            assert (facts.failed and facts.failed.job_id) == failed
        facts = await api.why_group(caller, batch, "c")
        assert (facts.name, facts.n_jobs) == (f"b{batch}/c", 1)
        assert (await api.why_group(caller, batch, 1)).n_failed == 1

    async def test_why_of_what_does_not_exist(self) -> None:
        """Or belongs to another tenant."""
        api, batch = self.site.api, await self.site.submit(1)
        with refused(JobNotFound):
            await api.why_job(self.site.caller, batch, 2)
        with refused(GroupNotFound):
            await api.why_group(self.site.caller, batch, 7)
        for call in (api.why_job, api.why_group):
            with refused(BatchNotFound):
                await call(self.site.stranger, batch, 1)
