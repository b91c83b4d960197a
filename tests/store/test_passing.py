"""Jobs that start before one that was claimed and waits for room on its worker."""

from datetime import timedelta

from builders import job_rows
from store.world import Worker, World
from weft.core.why.facts import ClaimedFacts
from weft.ports.store import Claimed, Shape

SMALL, LARGE = Shape(cpu_m=1000), Shape(cpu_m=4000)


async def stand(world: World) -> tuple[Worker, Claimed, Claimed]:
    """Return a worker of four cores, and the large job that waits there behind a small one."""
    worker = await world.worker(cpu_m=4000)
    await world.submit(job_rows(1, shapes=[SMALL]))
    (first,) = await worker.claim_and_start()
    await world.submit(job_rows(1, shapes=[LARGE]))
    (large,) = await worker.claim(cpu_m=3000)
    assert large.cpu_m == LARGE.cpu_m
    return worker, large, first


def names(claimed: list[Claimed]) -> list[tuple[int, int]]:
    return [(one.batch_id, one.job_id) for one in claimed]


async def test_what_fits_is_claimed_whatever_comes_before_it(world: World) -> None:
    """Also within a range, and from one batch to the next."""
    worker, large, _ = await stand(world)
    mixed = await world.submit(job_rows(3, shapes=[LARGE, SMALL], shape_index=[0, 1, 0]))
    small = await world.submit(job_rows(4, shapes=[SMALL]))

    passing = await worker.claim_passing(large, cpu_m=3000)

    assert names(passing) == [(mixed, 2), (small, 1), (small, 2)]
    assert await world.states(small) == "RRrr"


async def test_no_job_of_its_user_passes_one_of_a_higher_priority(world: World) -> None:
    worker = await world.worker(cpu_m=4000)
    await world.submit(job_rows(1, shapes=[SMALL]))
    await worker.start(*await worker.claim())
    await world.submit(job_rows(1, shapes=[LARGE], priority=2))
    (large,) = await worker.claim(cpu_m=3000)
    await world.submit(job_rows(1, shapes=[SMALL], priority=1))
    equal = await world.submit(job_rows(1, shapes=[SMALL], priority=2))
    other = await world.submit(job_rows(1, shapes=[SMALL]), caller=await world.user("ben"))

    passing = await worker.claim_passing(large, cpu_m=3000)

    assert sorted(names(passing)) == [(equal, 1), (other, 1)]


async def test_both_are_told_what_they_wait_for(world: World) -> None:
    """The one that has been claimed, and its batch; and the one that could run beside."""
    _, large, _ = await stand(world)
    small = await world.submit(job_rows(1, shapes=[SMALL]))
    too_large = await world.submit(job_rows(1, shapes=[LARGE]))
    earlier = "UPDATE weft.job SET claimed_at = claimed_at + $2 WHERE batch_id = $1"
    await world.admin.execute(earlier, large.batch_id, -timedelta(seconds=3))

    facts = await world.api.why_group(world.caller, large.batch_id, 0)
    pools = [(await world.api.why_job(world.caller, one, 1)).pool for one in (small, too_large)]

    assert (facts.n_running, facts.claimed) == (1, ClaimedFacts(1, "w"))
    assert [(one.free, one.behind) for one in pools if one] == [(False, "w"), (False, None)]
    await world.admin.execute(earlier, large.batch_id, timedelta(seconds=3))


async def test_nothing_passes_a_job_that_has_started_or_is_elsewhere(world: World) -> None:
    worker, large, first = await stand(world)
    await world.submit(job_rows(1, shapes=[SMALL]))
    other = await world.worker("other", cpu_m=4000)

    assert await other.claim_passing(large, cpu_m=3000) == []
    await worker.end(first)
    await worker.start(large)
    assert await worker.claim_passing(large, cpu_m=3000) == []
