"""Jobs that were lost on machines that may be taken back: some time they go to one that stays."""

import msgspec

from builders import job_rows
from store.pool_rows import others
from store.world import Worker, World
from weft.core.pools import Demand, Flavour, Pool, decide
from weft.core.states import Reason
from weft.ports.store import Shape

SPOT = Flavour(name="spot", cpu_m=1000, memory_mib=1024, preemptible=True)
STAYS = Flavour(name="stays", cpu_m=1000, memory_mib=1024)


def bears_it(world: World, **more: str) -> Shape:
    """Return what a job asks that may lose its machine."""
    words = {"pool": world.pool, "preemptible": "yes", **more}
    return Shape(cpu_m=1000, memory_mib=512, words=tuple(sorted(words.items())))


async def lose(worker: Worker, reason: Reason = Reason.LOST) -> list[int]:
    """Let the worker start what it is given, and lose that; return the numbers."""
    claimed = await worker.claim_and_start()
    await worker.end(*claimed, reason=reason)
    return [one.job_id for one in claimed]


async def test_a_job_that_was_lost_too_often_goes_to_a_machine_that_stays(world: World) -> None:
    stays = await world.worker("stays")
    spot = await world.worker("spot", preemptible=["yes"])
    batch = await world.submit(job_rows(2, shapes=[bears_it(world)]))
    first = await lose(spot)
    second = await lose(spot, Reason.PREEMPTED)
    history = await world.api.job_history(world.caller, batch, 1)
    found = [one for one in history if one["subtype"] == "spot"]

    assert (first, second) == ([1, 2], [1, 2])
    assert await spot.claim() == []
    assert [one["message"] for one in found] == [
        "lost 2 times on machines that may be taken back: it goes to one that stays"
    ]
    assert sorted(await stays.run()) == [1, 2]
    assert await world.states(batch) == "ss"
    await world.fold()


async def test_the_audit_finds_a_job_that_goes_back_to_a_machine_that_may_be_taken(
    world: World,
) -> None:
    stays = await world.worker("stays")
    spot = await world.worker("spot", preemptible=["yes"])
    batch = await world.submit(job_rows(1, shapes=[bears_it(world)]))
    assert [await lose(spot) for _ in range(2)] == [[1]] * 2
    broken = await world.findings_after(  # as if it had been lost later
        "UPDATE weft.job_change SET at = at - interval '1 h' WHERE batch_id = $1", batch
    )

    assert await world.findings() == {}
    assert broken.keys() == {"lost_jobs_stay"}
    assert [one["attempt"] for one in broken["lost_jobs_stay"]] == [1, 2]
    assert await stays.run() == [1]


async def test_losses_elsewhere_and_leases_do_not_count(world: World) -> None:
    stays = await world.worker("stays")
    await world.submit(job_rows(1, shapes=[bears_it(world)]))
    assert await lose(stays) == [1]
    spot = await world.worker("spot", preemptible=["yes"])
    lease = await spot.claim()
    await spot.end(*lease, reason=Reason.PREEMPTED, start_age_us=None)

    assert await lose(spot) == [1]
    assert await lose(spot) == [1]
    assert await spot.claim() == []
    assert await stays.run() == [1]


async def test_a_job_stays_where_it_is_if_nothing_else_can_hold_it(world: World) -> None:
    await world.worker("small", cpu_m=500)
    spot = await world.worker("spot", preemptible=["yes"])
    await world.submit(job_rows(1, shapes=[bears_it(world)]))

    assert [await lose(spot) for _ in range(3)] == [[1]] * 3
    assert await spot.run() == [1]


async def test_the_number_of_losses_is_a_setting(world: World) -> None:
    epoch = await world.lead()
    await world.driver.configure(epoch, {"spot_losses_max": 1})
    try:
        stays = await world.worker("stays")
        spot = await world.worker("spot", preemptible=["yes"])
        await world.submit(job_rows(1, shapes=[bears_it(world)]))

        assert await lose(spot) == [1]
        assert await spot.claim() == []
        assert await stays.run() == [1]
    finally:
        await world.driver.configure(epoch, {"spot_losses_max": 2})


async def test_the_pool_then_makes_a_machine_that_stays(world: World) -> None:
    pool = Pool(name=world.pool, provider="none", max_workers=2, flavours=(SPOT, STAYS))
    await world.api.save_pools(world.caller, [*await others(world), pool])

    async def made() -> list[str]:
        rows = await world.driver.pool_rounds(await world.lead(), limit_jobs=20)
        (row,) = [one for one in rows if one["plan"]["name"] == world.pool]
        demand = msgspec.convert(row["demand"], list[Demand])
        return [one.flavour for one in decide(pool, demand, [])]

    batch = await world.submit(job_rows(1, shapes=[bears_it(world)]))
    before = await made()
    spot = await world.worker("spot", preemptible=["yes"])
    assert [await lose(spot) for _ in range(2)] == [[1]] * 2
    await world.fold()
    after = await made()
    (why,) = await world.api.why_jobs(world.caller, batch, [1])
    await world.cancel(batch)
    await world.api.save_pools(world.caller, await others(world))

    assert (before, after) == (["spot"], ["stays"])
    assert why.stays


async def test_half_of_the_workers_are_taken_back_at_once_and_new_ones_come_late(
    world: World,
) -> None:
    """No job is lost, and what ran in vain stays with its times."""
    batch = await world.submit(40)
    workers = [await world.worker(f"w{number}") for number in range(4)]
    claimed = [await worker.claim(10) for worker in workers]
    for worker, some in zip(workers, claimed, strict=True):
        await worker.start(*some)
    for worker, some in zip(workers[:2], claimed[:2], strict=True):
        await worker.end(*some, reason=Reason.PREEMPTED)
        await worker.store.leave(worker.id)
    waiting = await world.states(batch)
    for worker, some in zip(workers[2:], claimed[2:], strict=True):
        await worker.end(*some)
    late = await world.worker("late")
    again = await late.claim_and_start(40)
    await late.end(*again)
    tries = [await world.attempts(batch, job) for job in range(1, 41)]
    in_vain = [one for rows in tries for one in rows if one["reason"] == Reason.PREEMPTED]

    assert waiting.count("r") == len(again) == len(in_vain) == 20
    assert await world.states(batch) == "s" * 40
    assert all(one["started_at"] < one["ended_at"] for one in in_vain)
