"""A worker that is cordoned as a black hole, tries a job, and comes back."""

from builders import end_report
from store.site import MUCH, Site
from weft.core.states import Reason
from weft.ports.store import Claimed, ClaimRequest, Row, WorkerStore

SOON_S = 9.0


def counts(row: Row) -> tuple[int, int, int]:
    """Return how many attempts ended how."""
    return row["successes"], row["fast_failures"], row["slow_failures"]


async def known_holes(site: Site, epoch: int) -> list[Row]:
    """Return the black holes of this test."""
    rows = await site.driver.black_holes(epoch)
    return [row for row in rows if row["worker"] == "bad"]


async def recent_ends(site: Site, epoch: int) -> list[Row]:
    """Return the newest ends in the pool of this test."""
    rows = await site.driver.recent_ends(epoch, window_s=60, fast_s=5, limit_events=1000)
    newest = rows[0]["pool_id"]
    return [row for row in rows if row["pool_id"] == newest]


async def claim_for(
    site: Site, worker: tuple[WorkerStore, int], *, limit_jobs: int = 100
) -> list[Claimed]:
    """Claim jobs for a worker."""
    store, incarnation_id = worker
    request = ClaimRequest(budget_cpu_m=MUCH, budget_memory_mib=MUCH, limit_jobs=limit_jobs)
    return list(await store.claim_jobs(incarnation_id, request))


async def end_for(
    site: Site, worker: tuple[WorkerStore, int], claimed: list[Claimed], reason: Reason | None
) -> None:
    """Report that attempts ended."""
    store, incarnation_id = worker
    await store.complete_attempts(incarnation_id, [end_report(one, reason) for one in claimed])


async def claim_and_end(
    site: Site, worker: tuple[WorkerStore, int], reason: Reason | None, *, limit_jobs: int = 1
) -> list[Claimed]:
    """Claim jobs, and report that they ended."""
    claimed = await claim_for(site, worker, limit_jobs=limit_jobs)
    if claimed:
        await end_for(site, worker, claimed, reason)
    return claimed


async def test_worker_is_cordoned_tries_one_job_and_comes_back(site: Site) -> None:
    """While it is cordoned it gets none, and for its try exactly one. A failed try counts."""
    store, epoch = site.driver, await site.lead()
    good, bad = await site.open_worker("good"), await site.open_worker("bad")
    await site.submit(6)
    assert len(await claim_and_end(site, good, None, limit_jobs=1)) == 1
    await claim_and_end(site, bad, Reason.EXIT, limit_jobs=2)
    failed, succeeded = await recent_ends(site, epoch)
    assert counts(failed) == (0, 2, 0)
    assert counts(succeeded) == (1, 0, 0)
    assert failed["at"] >= succeeded["at"]
    assert failed["is_active"]
    worker_id = failed["worker_id"]
    move = store.move_black_hole
    assert await move(epoch, worker_id, "try", "too early", retry_s=SOON_S) is None
    assert await move(epoch, worker_id, "cordon", "why", retry_s=SOON_S) == "bad"
    assert await move(epoch, worker_id, "cordon", "why", retry_s=SOON_S) is None
    (known,) = await known_holes(site, epoch)
    assert (known["n_tries"], known["outcome"]) == (0, "none")
    assert 0 < known["due_in_s"] <= SOON_S
    assert await claim_and_end(site, bad, None) == []
    assert await move(epoch, worker_id, "try", "now", retry_s=SOON_S) == "bad"
    assert (await known_holes(site, epoch))[0]["due_in_s"] is None
    (tried,) = await claim_for(site, bad)
    assert await claim_for(site, bad) == []
    (known,) = await known_holes(site, epoch)
    assert (known["outcome"], known["due_in_s"]) == ("running", None)
    await end_for(site, bad, [tried], Reason.EXIT)
    (known,) = await known_holes(site, epoch)
    assert (known["outcome"], known["due_in_s"] <= 0) == ("failure", True)
    assert await move(epoch, worker_id, "wait", "again", retry_s=0) == "bad"
    (known,) = await known_holes(site, epoch)
    assert (known["n_tries"], known["outcome"]) == (1, "none")
    assert await move(epoch, worker_id, "try", "now", retry_s=SOON_S) == "bad"
    assert len(await claim_and_end(site, bad, None)) == 1
    assert (await known_holes(site, epoch))[0]["outcome"] == "success"
    assert await move(epoch, worker_id, "uncordon", "it works", retry_s=0) == "bad"
    assert await known_holes(site, epoch) == []
    assert [one["worker_id"] for one in await recent_ends(site, epoch)] == [succeeded["worker_id"]]
    assert len(await claim_and_end(site, bad, None)) == 1
    log = await site.api.list_pool_changes(site.caller, site.pool, limit=9)
    assert [one["kind"] for one in log][:2] == ["uncordon", "cordon"]
