"""Facts that `why` is told of jobs and groups."""

from builders import job_rows
from store.site import TREE, Site
from weft.core.states import Reason


async def test_facts_of_a_job_that_waits(site: Site) -> None:
    """For a worker, its parent, or a hold."""
    api, caller = site.api, site.caller
    batch = await site.submit(job_rows(2, parents={2: [1]}))
    first = await api.why_job(caller, batch, 1)
    assert first.pool is not None
    assert (first.state, first.pool.pool, first.pool.workers) == ("ready", site.pool, 0)
    await site.worker()
    child = await api.why_job(caller, batch, 2)
    assert [(one.job_id, one.state) for one in child.parents] == [(1, "ready")]
    assert child.pool is not None
    assert (child.pool.active, child.pool.free) == (1, True)
    await api.hold_group(caller, batch, 0)
    await api.hold_jobs(caller, batch, [1])
    assert (await api.why_job(caller, batch, 1)).held == ("/", "")
    both = await api.why_jobs(caller, batch, [2, 1, 7])
    assert [(one.job_id, one.held) for one in both] == [(1, ("/", "")), (2, ("/",))]


async def test_facts_of_a_group_name_jobs_that_stand_for_the_others(site: Site) -> None:
    """One that is ready, and one that failed; only of this group."""
    api, caller = site.api, site.caller
    batch = await site.submit(job_rows(4, group=[0, 1, 1, 3]), groups=TREE)
    one, two = sorted(await site.claim(2), key=lambda job: job.job_id)
    await site.end(one, two, reason=Reason.EXIT)
    for group, ready, failed in ((0, 3, 1), ("/a", 3, 2), ("c", 4, None)):
        facts = await api.why_group(caller, batch, group)
        assert [job.job_id for job in facts.ready] == [ready]
        assert (facts.failed and facts.failed.job_id) == failed
    facts = await api.why_group(caller, batch, "c")
    assert (facts.name, facts.n_jobs) == (f"b{batch}/c", 1)
    assert (await api.why_group(caller, batch, 1)).n_failed == 1
