"""Lanes: what jobs ask of a worker beside cpu and memory, and who serves it."""

import asyncio
import itertools
from typing import Any

import pytest

from builders import array_rows, job_rows
from store.world import World
from weft.core.scheduling.offers import Ask, Offer, serves
from weft.ports.store import Shape

LARGE = itertools.count(1_000)
"""Storage that no other test asks for: its lane is new."""


async def lane_of(world: World, shape: Shape) -> int:
    """Submit a job of this shape; return its lane."""
    batch = await world.submit(job_rows(1, shapes=[shape]))
    lane: int = (await world.job(batch))["lane_id"]
    return lane


async def ready_work(world: World, batch: int) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the ranges of a batch (lane, first, last) and the jobs that are listed."""
    ranges = await world.admin.fetch(
        "SELECT lane_id, first_job, last_job FROM weft.runnable WHERE batch_id = $1 ORDER BY 2",
        batch,
    )
    listed = await world.admin.fetch(
        "SELECT job_id FROM weft.ready_job WHERE batch_id = $1 ORDER BY 1", batch
    )
    return [tuple(row) for row in ranges], [row["job_id"] for row in listed]


async def serving(world: World, lane: int) -> set[int]:
    """Return the incarnations of the world's pool that serve a lane."""
    rows = await world.admin.fetch(
        "SELECT incarnation_id FROM weft.worker_lane JOIN weft.worker_incarnation "
        "USING (incarnation_id) JOIN weft.pool p USING (pool_id) WHERE lane_id = $1 "
        "AND p.name = $2",
        lane,
        world.pool,
    )
    return {row["incarnation_id"] for row in rows}


async def test_jobs_that_ask_for_nothing_more_have_the_first_lane(world: World) -> None:
    worker = await world.worker()

    assert await lane_of(world, Shape(cpu_m=1234)) == 0
    assert worker.id in await serving(world, 0)


async def test_a_new_lane_is_served_by_the_workers_that_can_ever_serve_it(world: World) -> None:
    worker = await world.worker()
    fits = await lane_of(world, Shape(storage_mib=next(LARGE)))
    too_much = await lane_of(world, Shape(storage_mib=1_000_000 + next(LARGE)))
    later = await world.worker("later")

    assert await serving(world, fits) == {worker.id, later.id}
    assert await serving(world, too_much) == set()


@pytest.mark.parametrize("first", ["lane", "worker"])
async def test_a_lane_and_a_worker_that_are_new_at_once_find_each_other(
    world: World, first: str
) -> None:
    """Each is in a transaction that does not see the other one."""
    shape, name = Shape(storage_mib=next(LARGE)), f"{world.pool}-w"
    register = (
        "SELECT incarnation_id FROM weft.register_worker('w', 'h', $1, $2, 1000, 1000, "
        "1000000, 0, '{\"executor\": \"process\"}', 'v', false, 30)"
    )
    other: asyncio.Task[Any]
    async with world.transaction() as connection:
        if first == "lane":
            await connection.fetch(
                "SELECT shape_ids FROM weft._shape_ids('{1000}', '{512}', ARRAY[$1::bigint], "
                "'{0}', ARRAY['{}'::jsonb])",
                shape.storage_mib,
            )
            other = asyncio.create_task(world.admin.fetchval(register, world.pool, name))
        else:
            await connection.fetchval(register, world.pool, name)
            other = asyncio.create_task(world.submit(job_rows(1, shapes=[shape])))
        while not other.done() and not await connection.fetchval(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND classid = 7704)"
        ):
            await asyncio.sleep(0)
    await other
    lane = await lane_of(world, shape)

    assert len(await serving(world, lane)) == 1


async def test_an_update_of_one_lane_is_one_range_of_it(world: World) -> None:
    shape = Shape(gpu=1)
    batch = await world.submit(job_rows(300, shapes=[shape]))

    assert await ready_work(world, batch) == ([(await lane_of(world, shape), 1, 300)], [])


async def test_long_runs_of_a_lane_are_ranges_and_short_ones_are_listed(world: World) -> None:
    shapes = [Shape(), Shape(gpu=1)]
    lengths = [(0, 5), (1, 150), (0, 30), (1, 100), (0, 20), (0, 100)]
    index = [shape for shape, n in lengths for _ in range(n)]
    batch = await world.submit(job_rows(len(index), shapes=shapes, shape_index=index))
    gpu = await lane_of(world, shapes[1])
    ranges, listed = await ready_work(world, batch)

    assert ranges == [(gpu, 1, 285), (0, 286, 405)]
    assert listed == [*range(1, 6), *range(156, 186)]


async def test_few_jobs_of_many_lanes_are_listed_but_those_of_the_first(world: World) -> None:
    shapes = [Shape(gpu=1), Shape(), Shape(gpu=2)]
    batch = await world.submit(job_rows(9, shapes=shapes, shape_index=[0, 1, 2] * 3))
    ranges, listed = await ready_work(world, batch)

    assert ranges == [(await lane_of(world, shapes[0]), 1, 9)]
    assert listed == [2, 3, 5, 6, 8, 9]


async def test_entries_of_arrays_stand_in_ranges_of_their_lanes(world: World) -> None:
    shapes = [Shape(), Shape(gpu=1)]
    rows = array_rows(200, 20, None, 200, shapes=shapes, shape_index=[0, 1, 0, 1])
    batch = await world.submit(rows)
    gpu = await lane_of(world, shapes[1])
    ranges, listed = await ready_work(world, batch)

    assert ranges == [(0, 1, 221), (gpu, 222, 421)]
    assert listed == list(range(201, 221))


async def test_children_of_one_parent_become_ready_in_ranges_of_their_lanes(world: World) -> None:
    shapes = [Shape(), Shape(gpu=1)]
    rows = job_rows(
        1201,
        shapes=shapes,
        shape_index=[0] + [0] * 600 + [1] * 600,
        parents={child: [1] for child in range(2, 1202)},
    )
    batch, worker = await world.submit_to_worker(rows)
    assert await worker.run(1) == [1]
    await world.sweep()
    gpu = await lane_of(world, shapes[1])
    ranges, listed = await ready_work(world, batch)

    assert [one for one in ranges if one[1] > 1] == [(0, 2, 601), (gpu, 602, 1201)]
    assert listed == []


async def test_sql_and_python_agree_on_who_serves_what(world: World) -> None:
    """Python says it when a submission is refused, SQL when a lane is given to workers."""
    values: list[Offer | None] = [None, 0, 2, "eu", ["eu", "us"], []]
    asked_of_a_worker: list[dict[str, Ask]] = [
        {},
        {"a": 1},
        {"a": 2},
        {"a": 3},
        {"a": "eu"},
        {"a": "e"},
        {"a": 2, "b": "us"},
        {"a": ["eu", "x"]},
        {"a": ["x"]},
        {"a": ["us", "eu"], "b": 0},
        {"preemptible": "yes"},
        {"timeout_s": "10-10"},
    ]
    rules = [
        ({name: offer for name, offer in (("a", a), ("b", b)) if offer is not None}, asks)
        for a, b in itertools.product(values, values)
        for asks in asked_of_a_worker
    ]
    rules += [({"preemptible": ["yes"]}, asks) for asks in asked_of_a_worker]
    queues: list[dict[str, Offer]] = [
        {},
        {"queue": []},
        {"queue": ["default"]},
        {"queue": ["q", "default"]},
        {"queue": ["q"]},
    ]
    of_queues: list[dict[str, Ask]] = [{}, {"queue": "default"}, {"queue": "q"}, {"queue": "x"}]
    rules += itertools.product(queues, of_queues)
    ending: list[dict[str, Offer]] = [{"timeout_s": 0}, {"timeout_s": 60}, {"timeout_s": 90_000}]
    limits: list[dict[str, Ask]] = [
        {},
        {"timeout_s": "0-10"},
        {"timeout_s": "30-60"},
        {"timeout_s": "60-60"},
        {"timeout_s": "60-120"},
        {"timeout_s": "86400-"},
    ]
    rules += itertools.product(ending, limits)
    offers, asked = zip(*rules, strict=True)
    rows = await world.admin.fetch(
        "SELECT weft._serves(t.o, t.a) AS serves FROM unnest($1::jsonb[], $2::jsonb[]) "
        "WITH ORDINALITY t (o, a, n) ORDER BY t.n",
        offers,
        asked,
    )

    assert [row["serves"] for row in rows] == [serves(*rule) for rule in rules]
