"""Counters, costs and completions: exact at every moment, whoever folds, whoever is late."""

import asyncio

import asyncpg
import pytest

from builders import job_rows, tree
from store.pool_rows import add_machine, described
from store.test_pools import age, set_price
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import Shape
from weft.store.database import call_on

TREE = tree("a", "a/b")


async def test_counters_are_exact_before_and_after_folds(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(9, group=[0, 1, 2] * 3), groups=TREE)
    seen = []

    async def see() -> None:
        now = [await world.counts(batch, group) for group in (0, "/a", "/a/b")]
        await world.fold()
        assert [await world.counts(batch, group) for group in (0, "/a", "/a/b")] == now
        seen.append(now)

    await see()
    claimed = await worker.claim(6)
    await see()
    await worker.end(*claimed[:3])
    await worker.end(claimed[3], reason=Reason.EXIT)
    await worker.end(claimed[4], reason=Reason.OOM)
    await see()
    await world.cancel(batch, 2)
    await see()

    assert seen == [
        [{"ready": 9}, {"ready": 6}, {"ready": 3}],
        [{"ready": 3, "running": 6}, {"ready": 2, "running": 4}, {"ready": 1, "running": 2}],
        [
            {"ready": 3, "running": 1, "succeeded": 3, "failed": 1, "errored": 1},
            {"ready": 2, "running": 1, "succeeded": 2, "errored": 1},
            {"ready": 1, "running": 1, "succeeded": 1},
        ],
        [
            {"ready": 2, "running": 1, "succeeded": 3, "failed": 1, "errored": 1, "cancelled": 1},
            {"ready": 1, "running": 1, "succeeded": 2, "errored": 1, "cancelled": 1},
            {"running": 1, "succeeded": 1, "cancelled": 1},
        ],
    ]


async def test_delta_of_a_late_commit_is_folded_once(world: World, worker: Worker) -> None:
    """Its transaction began first and commits after two folds of younger ones."""
    batch = await world.submit(10)
    async with world.claiming(worker, 3):
        for _ in range(2):
            (one, *_) = await worker.claim(2)
            await worker.end(one)
            await world.fold()
        during = await world.counts(batch)
    after = await world.counts(batch)
    folds = [await world.fold() for _ in range(3)]

    assert during == {"ready": 6, "running": 2, "succeeded": 2}
    assert after == {"ready": 3, "running": 5, "succeeded": 2}
    assert (folds[0] > 0, folds[1:]) == (True, [0, 0])
    assert await world.counts(batch) == after


async def test_folds_follow_each_other(world: World) -> None:
    """One whose driver has given it up may still be under way: the next one waits for it."""
    batch = await world.submit(2)
    connection, epoch = await world.connect(), await world.lead()
    async with connection.transaction():
        await call_on(connection, "fold_deltas", epoch=epoch)
        other = await world.start_waiting(world.fold())
    await other

    assert await world.counts(batch) == {"ready": 2}


async def test_fold_that_waits_for_a_range_keeps_nobody_from_announcing(world: World) -> None:
    """Whoever changes a range may announce its user next, and waits for that user's row."""
    batch = await world.submit(2)
    await (await world.worker()).claim()
    async with world.transaction() as connection:
        await connection.execute("SELECT FROM weft.runnable WHERE batch_id = $1 FOR UPDATE", batch)
        folding = await world.start_waiting(world.fold())
        shares = await connection.fetch(
            "SELECT FROM weft.user_share WHERE user_id = $1 FOR UPDATE NOWAIT",
            world.caller.user_id,
        )
    async with asyncio.timeout(60):
        folded = await folding

    assert (len(shares), folded > 0) == (1, True)


async def test_readers_beside_folds_see_no_wrong_sum(world: World) -> None:
    """A reader in the middle of a fold: the sum is always that of the jobs."""
    n = 60
    batch = await world.submit(n)
    workers = [await world.worker(f"w{number}") for number in range(2)]
    finished = asyncio.Event()
    wrong = []

    async def work() -> None:
        await asyncio.gather(*[drain(worker) for worker in workers])
        finished.set()

    async def drain(worker) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        while await worker.run(3):
            pass

    async def fold() -> None:
        while not finished.is_set():
            await world.fold()

    async def read() -> None:
        while not finished.is_set():
            document = await world.api.get_batch(world.caller, batch)
            if (
                document["n_jobs"] != n
                or min(v for k, v in document.items() if k.startswith("n_")) < 0
            ):
                wrong.append(document)

    await asyncio.gather(work(), fold(), read(), read())

    assert wrong == []
    assert await world.counts(batch) == {"succeeded": n}


async def completions(world: World, batch: int) -> list[tuple[int, int]]:
    await world.fold()
    rows = await world.admin.fetch(
        "SELECT group_id, completion FROM weft.group_completion WHERE batch_id = $1 "
        "ORDER BY group_id, completion",
        batch,
    )
    return [tuple(row) for row in rows]


async def test_completion_is_recorded_once_per_completion(world: World) -> None:
    batch, worker, (one, two, three) = await world.submit_and_claim(
        job_rows(3, group=[0, 1, 2]), groups=TREE
    )
    await worker.end(three)
    first = await completions(world, batch)
    await worker.end(one, two)
    second = await completions(world, batch)
    again = await completions(world, batch)
    await world.submit(1, batch=batch)
    grown = await world.api.get_batch(world.caller, batch)
    third = await completions(world, batch)
    await worker.run()
    fourth = await completions(world, batch)

    assert first == [(2, 1)]
    assert second == again == third == [(0, 1), (1, 1), (2, 1)]
    assert (grown["complete"], grown["state"], grown["completed_at"]) == (False, "running", None)
    assert fourth == [(0, 1), (0, 2), (1, 1), (2, 1)]


async def test_growth_between_two_folds_is_another_completion(world: World) -> None:
    batch, worker = await world.submit_and_run(1)
    first = await completions(world, batch)
    await world.submit(1, batch=batch)
    await worker.run()

    assert first == [(0, 1)]
    assert await completions(world, batch) == [(0, 1), (0, 2)]


@pytest.mark.parametrize(
    ("reasons", "cancelled", "state"),
    [
        ([None, None], False, "success"),
        ([None, Reason.EXIT], False, "failure"),
        ([Reason.CANCELLED, Reason.OOM], True, "failure"),
        ([None, Reason.CANCELLED], False, "cancelled"),
        ([None, None], True, "success"),
    ],
)
async def test_state_of_a_complete_batch(
    world: World, worker: Worker, reasons: list[Reason | None], state: str, *, cancelled: bool
) -> None:
    batch = await world.submit(2)
    for reason, claimed in zip(reasons, await worker.claim(), strict=True):
        await worker.end(claimed, reason=reason)
    if cancelled:
        await world.cancel(batch)
    before = await world.api.get_batch(world.caller, batch)
    await world.fold()
    after = await world.api.get_batch(world.caller, batch)

    assert (
        (before["state"], before["complete"])
        == (after["state"], after["complete"])
        == (state, True)
    )
    assert after["completed_at"] is not None


async def test_cost_is_usage_times_the_price_of_the_claim(world: World) -> None:
    shapes = [Shape(cpu_m=2000, memory_mib=1024), Shape(cpu_m=500, memory_mib=0, gpu=0)]
    batch, worker, claimed = await world.submit_and_claim(
        job_rows(3, shapes=shapes, shape_index=[0, 1, 1], group=[0, 1, 2]), groups=TREE
    )
    await world.age("job", "claimed_at", by_s=86_400, batch_id=batch)
    hour_us = 3_600_000_000
    for one in claimed:
        await worker.end(one, start_age_us=2 * hour_us, end_age_us=hour_us)
    groups = await world.api.list_groups(world.caller, batch, after=-1, limit=9)
    jobs = await world.api.list_jobs(world.caller, batch, after=0, limit=9)
    attempt = (await world.api.list_attempts(world.caller, batch, 1))[0]

    # 0.01 for a core hour, 0.001 for a GiB hour.
    costs = [0.021, 0.005, 0.005]
    assert [job["cost"] for job in jobs] == pytest.approx(costs, rel=1e-4)
    assert [group["cost"] for group in groups] == pytest.approx([0.031, 0.01, 0.005], rel=1e-4)
    assert attempt["cost"] == pytest.approx(0.021, rel=1e-4)
    assert attempt["cost_by_resource"][0] == {
        "resource": "cpu",
        "usage": 2000 * 3_600_000,
        "unit": "mCPU*ms",
        "cost": 0.02,
    }
    await world.fold()
    again = await world.api.list_groups(world.caller, batch, after=-1, limit=9)
    assert [group["cost"] for group in again] == [group["cost"] for group in groups]


async def test_folded_deltas_are_removed(own_world: World) -> None:
    await own_world.submit(5)
    worker = await own_world.worker()
    while await worker.run(1):
        await own_world.fold()
    for _ in range(2):
        await own_world.fold()
    await own_world.submit(1)
    await own_world.fold()
    left = await own_world.admin.fetchval("SELECT count(*) FROM weft.job_delta")

    assert left <= 2


CHECK, CHECK_OF_WORKERS = "machines_are_counted", "workers_are_counted"
ADD = (
    "INSERT INTO weft.machine_sum SELECT pool_id, flavour, state, 0, 0, 0, 0, 0, 0, 0, 0 "
    "FROM weft.machine_sum LIMIT 1"
)

COUNT = "UPDATE weft.machine SET costs_from = clock_timestamp() WHERE name = $1"
FOLD = "SELECT weft._fold_machine_sums(1)"
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'"
WRONG = {
    "loads_of_pools_are_counted": (
        "UPDATE weft.pool_load SET running_m = running_m + 1",
        "DELETE FROM weft.pool_load",
    ),
    "machines_are_counted": (
        "UPDATE weft.machine_sum SET n = n + 1",
        "UPDATE weft.machine_sum SET price_from = price_from + 1",
    ),
    "stored_bytes_are_counted": (
        "UPDATE weft.batch_storage SET n_bytes = n_bytes + 1",
        "UPDATE weft.user_storage SET n_bytes = n_bytes + 1 WHERE user_id = 0",
    ),
    "usage_by_resource_equals_usage": (
        "TRUNCATE weft.usage_sum",
        "UPDATE weft.usage_sum SET cpu = cpu - 1 WHERE project_id = 0 AND user_id = 0",
        "UPDATE weft.usage_sum SET memory = 0 WHERE project_id > 0 AND user_id > 0",
    ),
    "users_are_counted": (
        "UPDATE weft.user_count SET n_ready = n_ready + 1",
        "INSERT INTO weft.user_count VALUES (1, 9, 9, 1, 0, 0, 0, 0, 0)",
        "UPDATE weft.user_count SET n_ready = 1 WHERE user_id = 0 AND project_id = 0",
        "DELETE FROM weft.user_count",
    ),
    "workers_are_counted": (
        "UPDATE weft.worker_sum SET n_workers = n_workers + 1",
        "UPDATE weft.worker_sum SET cpu_m = cpu_m + 1",
        "UPDATE weft.worker_sum SET memory_mib = memory_mib + 1",
        "DELETE FROM weft.worker_sum",
    ),
}


async def test_sums_follow_machines_from_their_making_to_their_end(own_world: World) -> None:
    async with described(own_world):
        epoch = await own_world.lead()
        names = [await add_machine(own_world) for _ in range(2)]
        await set_price(own_world, "3")
        await own_world.driver.count_machines(epoch, {names[0]: 0.5})
        for name in names:
            await age(own_world, name, 2)
        assert CHECK not in await own_world.findings()
        (pool,) = await own_world.api.list_pools(own_world.caller, name=own_world.pool)
        (cost,) = await own_world.api.list_pool_costs(own_world.caller, own_world.pool, days=9)
        await own_world.driver.record_machine(epoch, names[0], "gone", reason="gone")
        (after,) = await own_world.api.list_pools(own_world.caller, name=own_world.pool)
        assert CHECK not in await own_world.findings()

    assert sum(pool["machines"].values()) == 2
    assert sum(after["machines"].values()) == 1
    assert cost["machine_hours"] == pytest.approx(4, abs=0.01)
    assert cost["cost"] == pytest.approx(12, abs=0.1)
    assert cost["used_cost"] == pytest.approx(3, abs=0.1)


async def test_many_changes_leave_few_rows(own_world: World) -> None:
    async with described(own_world):
        epoch = await own_world.lead()
        name = await add_machine(own_world)
        for _ in range(200):
            await own_world.admin.execute(ADD)
        await own_world.driver.count_machines(epoch, {name: 0.25})
        n_rows = await own_world.admin.fetchval("SELECT count(*) FROM weft.machine_sum")
        (pool,) = await own_world.api.list_pools(own_world.caller, name=own_world.pool)
        assert CHECK not in await own_world.findings()

    assert n_rows == 1
    assert sum(pool["machines"].values()) == 1


async def _count(connection: asyncpg.Connection, machine: str) -> None:
    """Count what a machine cost, and fold, in one transaction."""
    async with connection.transaction():
        await connection.execute(COUNT, machine)
        await connection.execute(FOLD)


async def test_two_folds_at_once_lose_nothing(own_world: World) -> None:
    """The one that waits sees only its own changes, of no machine more or less."""
    async with described(own_world):
        names = [await add_machine(own_world) for _ in range(2)]
        first, second = await own_world.connect(), await own_world.connect()
        async with first.transaction():
            await _count(first, names[0])
            waiting = asyncio.create_task(_count(second, names[1]))
            async with asyncio.timeout(60):
                while not await own_world.admin.fetchval(WAITS, second.get_server_pid()):
                    await asyncio.sleep(0)
        await waiting
        n_rows = await own_world.admin.fetchval("SELECT count(*) FROM weft.machine_sum")
        assert CHECK not in await own_world.findings()

    assert n_rows == 2


async def test_each_wrong_sum_is_found(own_world: World) -> None:
    async with described(own_world):
        await add_machine(own_world)
        _, worker, (ended, _) = await own_world.submit_and_claim(5, limit=2)
        await worker.end(ended, start_age_us=1_000_000)
        await own_world.fold()
        assert WRONG.keys().isdisjoint(await own_world.findings())
        for check, changes in WRONG.items():
            for change in changes:
                assert {*await own_world.findings_after(change)} == {check}, change


async def together(world: World) -> tuple[int, float]:
    """Return how many workers live, and their cores."""
    found = await world.api.sum_workers(world.caller, limit=9)
    return found["n_workers"], found["cpu"]


@pytest.mark.slow
async def test_workers_count_while_they_live(own_world: World) -> None:
    """One that is started again counts once, with what it has now."""
    first, _ = await own_world.worker("a", cpu_m=4000), await own_world.worker("b", cpu_m=8000)
    assert await together(own_world) == (2, 12)
    await first.store.leave(first.id)
    assert await together(own_world) == (1, 8)
    again = await own_world.worker("a", cpu_m=2000)
    await again.beat()
    await again.store.leave(again.id)
    await again.store.leave(again.id)

    assert await together(own_world) == (1, 8)
    assert CHECK_OF_WORKERS not in await own_world.findings()


@pytest.mark.slow
async def test_sums_are_exact_while_they_are_folded(own_world: World) -> None:
    """What others have not committed yet is neither lost nor counted twice."""
    workers = [await own_world.worker(name, cpu_m=1000) for name in "abc"]
    async with own_world.transaction() as ending:
        await ending.execute("SELECT weft.leave($1)", workers[0].id)
        await own_world.admin.execute("SELECT weft._fold_worker_sums(1)")
        assert await together(own_world) == (3, 3)
    assert await together(own_world) == (2, 2)
    await own_world.admin.execute("SELECT weft._fold_worker_sums(1)")
    rows = await own_world.admin.fetchval("SELECT count(*) FROM weft.worker_sum")

    assert (rows, await together(own_world)) == (1, (2, 2))
    assert CHECK_OF_WORKERS not in await own_world.findings()


@pytest.mark.slow
async def test_many_begins_leave_few_rows(own_world: World) -> None:
    await own_world.worker("a", cpu_m=1000)
    await own_world.admin.execute(
        "INSERT INTO weft.worker_sum SELECT pool_id, 0, 0, 0 FROM weft.worker_sum, "
        "generate_series(1, 200)"
    )
    await own_world.worker("b", cpu_m=1000)

    assert await own_world.admin.fetchval("SELECT count(*) FROM weft.worker_sum") == 2
    assert await together(own_world) == (2, 2)


@pytest.mark.slow
async def test_slots_of_simulations_are_no_cores(own_world: World) -> None:
    """Such a worker is no machine."""
    await own_world.worker("a", cpu_m=4000)
    slots = await own_world.worker("b", cpu_m=9000, executor=["simulation"])
    assert await together(own_world) == (1, 4)
    assert CHECK_OF_WORKERS not in await own_world.findings()
    await slots.store.leave(slots.id)

    assert await together(own_world) == (1, 4)
