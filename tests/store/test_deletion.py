"""A deleted batch is gone at once, and all of it in the end; but what it cost."""

import asyncio
import random
import re
from typing import Any

import pytest

from builders import job_rows
from store.barriers import TREE, hold, park
from store.batch_steps import add, delete, open_update, operation_of, remove, rows_of, settle, step
from store.world import Worker, World
from weft.core import errors
from weft.core.states import Reason
from weft.ports.store import UNKEYED, NewBatch, NewSet, Origin
from weft.sql import files_of


async def bill(world: World) -> list[Any]:
    """Return what the project has used, by day."""
    rows = await world.admin.fetch(
        "SELECT u.* FROM weft.project_usage u WHERE tenant_id = $1 ORDER BY 1, 2, 3, 4",
        world.caller.tenant_id,
    )
    return [tuple(row) for row in rows]


async def run_some(world: World, worker: Worker, limit: int) -> None:
    claimed = await worker.claim(limit)
    await worker.start(*claimed, age_us=2_000_000)
    half = len(claimed) // 2
    await worker.end(*claimed[:half], start_age_us=2_000_000)
    await worker.end(*claimed[half:], reason=Reason.EXIT, start_age_us=2_000_000)
    await world.fold()


async def full_batch(world: World, worker: Worker) -> int:
    """Make a batch that has rows in nearly every table, and a part that is not committed."""
    batch = await world.submit(
        job_rows(
            20,
            group=[0, 1, 2, 3] * 5,
            priority=[0, 1] * 10,
            names={3: "c"},
            parents={9: [1], 10: [1, 2], 20: [9]},
            sets={5: (4,), 6: (4,)},
            always_run=[False] * 19 + [True],
        ),
        groups=TREE,
        callback="http://127.0.0.1:1/",
        cancel_after_n_failures=100,
        max_running=50,
    )
    await run_some(world, worker, 6)
    await hold(world, batch, 3)
    await world.api.hold_jobs(world.caller, batch, [11])
    await world.api.cancel_jobs(world.caller, batch, [12])
    await world.api.create_set(world.caller, batch, NewSet(name="more"))
    await park(world)
    update = await open_update(world, batch, 8, 1)
    await add(world, batch, update, job_rows(4, parents={2: [-3]}))
    return batch


async def test_batch_is_gone_at_once(world: World, worker: Worker) -> None:
    batch, other = await full_batch(world, worker), await world.submit(3)

    await delete(world, batch)

    with pytest.raises(errors.BatchNotFound):
        await world.api.get_batch(world.caller, batch)
    with pytest.raises(errors.BatchNotFound):
        await delete(world, batch)
    listed = await world.api.list_batches(world.caller, before=None, limit=9, name=None)
    assert [row["id"] for row in listed] == [other]
    assert {one.batch_id for one in await worker.claim()} == {other}


async def test_all_of_it_is_removed_but_what_it_cost(own_world: World) -> None:
    worker = await own_world.worker()
    batch, other = await full_batch(own_world, worker), await own_world.submit(2)
    before = await rows_of(own_world, batch)
    (running,) = await worker.claim_and_start(1)
    assert running.batch_id == batch

    operation_id = await delete(own_world, batch)
    for _ in range(3):
        await step(own_world, operation_id)
        await settle(own_world)
        assert await own_world.findings() == {}
    assert (await rows_of(own_world, batch))["job"] == 24  # nothing goes while a job runs
    told = await worker.beat(running)
    assert [tuple(one) for one in told.to_stop] == [(batch, running.job_id, running.attempt)]
    await worker.end(running, reason=Reason.CANCELLED, start_age_us=3_000_000)
    await own_world.fold()
    cost = await bill(own_world)
    steps = await remove(own_world, operation_id, limit=7, audited=True)

    assert before.keys() > {"job", "edge", "attempt", "job_spec", "membership", "group_hold"}
    assert await rows_of(own_world, batch) == {}
    assert await bill(own_world) == cost
    assert steps > 20
    ended = await operation_of(own_world, operation_id)
    assert (ended["state"], ended["done"], ended["total"]) == ("success", 28, 28)
    assert ended["result"] == {"n_jobs": 28}
    assert await own_world.states(other) == "rr"


async def test_every_table_of_batches_is_known_to_the_removal(world: World) -> None:
    """A new table with a batch_id has to be named in _remove_rows.sql.

    A schedule keeps its runs, whatever became of their batches, and so do the trail its entries
    and a source its items: else they would become jobs again. Products outlive their jobs.
    """
    tables = await world.admin.fetch(
        "SELECT table_name FROM information_schema.columns "
        "WHERE table_schema = 'weft' AND column_name = 'batch_id' "
        "AND table_name <> ALL (ARRAY['schedule_run', 'trail_entry', "
        "'trail_unsealed', 'source', 'source_item', 'source_item_change', 'product'])"
    )
    (text,) = (one.text for one in files_of("functions") if one.name == "_remove_rows")

    assert [t for (t,) in tables if not re.search(rf"\b{t}\b", text)] == []


async def test_two_deletions_at_once_make_one_operation(world: World) -> None:
    batch = await world.submit(1)
    answers = await asyncio.gather(
        *[delete(world, batch) for _ in range(4)], return_exceptions=True
    )

    assert sorted(type(one) is int for one in answers) == [False] * 3 + [True]
    assert all(isinstance(one, int | errors.BatchNotFound) for one in answers)


async def test_key_of_the_batch_is_free_again(world: World) -> None:
    async def submit() -> int:
        batch, _reserved, _added_at = await world.api.submit(
            world.caller, NewBatch(), [], job_rows(), Origin(key="b", trace_id="")
        )
        return batch

    first = await submit()
    operation_id = await delete(world, first)
    second = await submit()
    await remove(world, operation_id)

    assert second != first
    assert await submit() == second


async def test_empty_batch_and_one_with_a_gap_are_removed_in_few_steps(own_world: World) -> None:
    batch, _is_new = await own_world.api.create_batch(own_world.caller, NewBatch(), UNKEYED)
    await open_update(own_world, batch, 1_000_000_000)
    await add(own_world, batch, await open_update(own_world, batch, 5), job_rows(2))
    empty, _is_new = await own_world.api.create_batch(own_world.caller, NewBatch(), UNKEYED)

    assert await remove(own_world, await delete(own_world, batch)) < 10
    assert await remove(own_world, await delete(own_world, empty)) < 10
    assert await rows_of(own_world, batch) == await rows_of(own_world, empty) == {}


async def test_workers_are_told_of_a_batch_when_it_is_removed(world: World) -> None:
    """Not before: its jobs may still write."""
    store = world.backend.worker_store()
    kept, batch = await world.submit(1), await world.submit(1)
    notices = store.notices.listen("removed")
    assert await anext(notices) == ("", "")
    operation = await delete(world, batch)
    assert await store.list_removed([kept, batch]) == []
    await remove(world, operation)

    assert await store.list_removed([kept, batch]) == [batch]
    async with asyncio.timeout(60):
        assert await anext(notices) == ("removed", str(batch))
    await notices.aclose()


async def test_upload_into_a_deleted_batch_is_refused(world: World) -> None:
    batch = await world.submit(1)
    update = await open_update(world, batch, 2)
    operation_id = await delete(world, batch)

    with pytest.raises(errors.BatchNotFound):
        await add(world, batch, update, job_rows(2))
    with pytest.raises(errors.BatchNotFound):
        await world.api.commit_update(world.caller, batch, update.update_id)
    with pytest.raises(errors.BatchNotFound):
        await open_update(world, batch, 1)
    await remove(world, operation_id)
    assert await rows_of(world, batch) == {}


async def test_removal_waits_for_a_call_that_found_the_batch(world: World) -> None:
    """An upload that was under way when the batch was deleted leaves nothing behind."""
    batch = await world.submit(1)
    update = await open_update(world, batch, 0, 1)
    arguments = {
        "tenant_id": world.caller.tenant_id,
        "batch_id": batch,
        "update_id": update.update_id,
        "group_ids": [1],
        "parent_ids": [0],
        "names": ["late"],
        "attributes": [{}],
        "cancel_afters": [None],
        "callbacks": [None],
        "depth_max": 9,
    }
    async with world.during("weft_api", "add_groups", **arguments):
        operation_id = await delete(world, batch)
        for _ in range(5):
            await settle(world)
            await step(world, operation_id)
        assert (await rows_of(world, batch))["job"] == 1
    await remove(world, operation_id)

    assert await rows_of(world, batch) == {}


async def test_events_of_a_deleted_batch_say_only_that(world: World) -> None:
    after = await world.api.events_now()
    batch = await world.submit(1)
    await remove(world, await delete(world, batch))
    rows, _position = await world.api.list_events(
        world.caller, after=after, batch_id=None, limit=99
    )

    assert [row["kind"] for row in rows if row["batch_id"] == batch] == [
        "batch.deleted",
        "operation.progress",
        "operation.success",
    ]


async def test_other_operations_on_it_fail_and_are_gone(world: World) -> None:
    batch = await world.submit(3)
    filling = await world.api.create_query_set(
        world.caller, batch, NewSet(name="all"), UNKEYED, query="state = ready"
    )
    operation_id = await delete(world, batch)

    with pytest.raises(errors.OperationNotFound):
        await operation_of(world, filling)
    with pytest.raises(errors.BatchNotFound):
        await step(world, filling)
    await remove(world, operation_id)
    assert await rows_of(world, batch) == {}


async def test_nobody_is_called_back_for_a_deleted_batch(world: World) -> None:
    batch = await world.submit(1, callback="http://127.0.0.1:1/")
    operation_id = await delete(world, batch)
    await settle(world)

    assert "callback_delivery" not in await rows_of(world, batch)
    assert "group_completion" in await rows_of(world, batch)
    await remove(world, operation_id)


@pytest.mark.parametrize("seed", range(3))
async def test_races_leave_no_row_without_a_batch(world: World, worker: Worker, seed: int) -> None:
    """Uploads, commits, claims and reports go on while batches are deleted."""
    chance = random.Random(seed)  # noqa: S311 (order of calls)
    operations: list[int] = []
    deleted: list[int] = []

    async def fill(batch: int) -> None:
        try:
            while True:
                update = await open_update(world, batch, 4)
                await add(world, batch, update, job_rows(4, parents={2: [1], 3: [-1]}))
                await world.api.commit_update(world.caller, batch, update.update_id)
        except (errors.BatchNotFound, errors.BatchCancelled):
            pass

    async def work() -> None:
        while len(deleted) < 4:
            await worker.run(3, chance.choice([None, Reason.EXIT]))

    async def drive() -> None:
        while len(deleted) < 4:
            await settle(world)
            for operation_id in tuple(operations):
                await step(world, operation_id)

    async def remove_soon(batch: int) -> None:
        for _ in range(chance.randrange(30)):
            await world.api.get_batch(world.caller, batch)
        operations.append(await delete(world, batch))
        deleted.append(batch)

    batches = [await world.submit(2) for _ in range(4)]
    async with asyncio.timeout(60):
        await asyncio.gather(
            work(), drive(), *map(fill, batches), *map(fill, batches), *map(remove_soon, batches)
        )
    for operation_id in operations:
        await remove(world, operation_id)

    assert [await rows_of(world, batch) for batch in batches] == [{}] * 4
    assert (
        await world.admin.fetchval(
            "SELECT count(*) FROM weft.user_share "
            "WHERE tenant_id = $1 AND (n_ready, running_m) <> (0, 0)",
            world.caller.tenant_id,
        )
        == 0
    )
