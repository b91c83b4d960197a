"""Conditions that are over: they are forgotten in bounded steps, and in one order with batches."""

from typing import Any

import asyncpg
import pytest

from store.batch_steps import delete, remove, settle
from store.test_conditions import operator
from store.world import World
from weft.store.database import call_on

_CONDITION = """
    INSERT INTO weft.condition (tenant_id, kind, tester, parameters, digest, since, next_test_at)
    VALUES ($1, 'quota', 'tcp', '{}', $2, now(), now() - interval '1 minute')
    RETURNING condition_id
"""
_WAITED = """
    INSERT INTO weft.condition_batch (batch_id, condition_id, tenant_id, owner_id, project_id)
    SELECT b.batch_id, $1, b.tenant_id, b.user_id, b.project_id FROM weft.batch b
    WHERE b.batch_id >= $2
"""
_COPIES = """
    INSERT INTO weft.batch OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(b, jsonb_build_object('batch_id', b.batch_id + n))).*
    FROM weft.batch b, generate_series(1, $2::int) n WHERE b.batch_id = $1
"""
_GONE = "SELECT pg_stat_get_xact_tuples_deleted('weft.condition_batch'::regclass)"
_LOCK = "SELECT FROM weft.condition_batch WHERE batch_id = $1 AND condition_id = $2 FOR UPDATE"
N_BATCHES = 12_500


async def over(world: World) -> int:
    """Make a condition that is over, and due."""
    tenant = world.caller.tenant_id
    number = await world.admin.fetchval("SELECT count(*) FROM weft.condition")
    found: int = await world.admin.fetchval(_CONDITION, tenant, f"{tenant}.{number}")
    return found


async def close(world: World, connection: asyncpg.Connection) -> tuple[list[Any], int]:
    """Look for due conditions once; return what was found, and how many rows were removed."""
    epoch = await world.lead()
    async with connection.transaction():
        before = await connection.fetchval(_GONE)
        rows = await call_on(connection, "due_conditions", epoch=epoch, busy=[], limit_rows=1000)
        return list(rows), await connection.fetchval(_GONE) - before


@pytest.mark.heavy
@pytest.mark.slow
async def test_condition_of_many_batches_is_forgotten_in_bounded_steps(own_world: World) -> None:
    """Its event names the newest batches all the same; another one does not wait for that."""
    own_world.has_made_up = True
    first = await own_world.submit()
    large, small = await over(own_world), await over(own_world)
    await own_world.admin.execute(_COPIES, first, N_BATCHES)
    await own_world.admin.execute(_WAITED, large, first + 1)
    await own_world.admin.execute(_WAITED, small, first + N_BATCHES)
    start = await own_world.api.events_now()
    connection = await own_world.connect("weft_driver")
    steps = [await close(own_world, connection) for _ in range(4)]
    rows, _ = await own_world.api.list_events(
        operator(own_world), after=start, batch_id=None, limit=99
    )
    named = await own_world.admin.fetchval(
        "SELECT array_agg(k::bigint ORDER BY k::bigint) FROM weft.event e, "
        "jsonb_object_keys(e.detail -> 'batches') k WHERE (e.detail ->> 'condition_id')::bigint "
        "= $1 AND e.kind = 'condition.closed'",
        large,
    )

    closed = [[(row["condition_id"], row["is_over"]) for row in found] for found, _ in steps]
    assert closed == [[(small, True)], [], [], [(large, True)]]
    assert [n for _, n in steps] == [1, 10_000, 1_500, 1_000]
    assert [row["detail"]["condition_id"] for row in rows] == [small, large]
    assert named == list(range(first + N_BATCHES - 999, first + N_BATCHES + 1))


@pytest.mark.parametrize("at_work", ["conditions are over", "the batch is removed"])
async def test_driver_locks_batches_of_conditions_in_one_order(
    own_world: World, at_work: str
) -> None:
    """Each waits at the first condition, whatever way the rows lie, and has none that the other
    would want first.
    """
    batch = await own_world.submit()
    one, two = await over(own_world), await over(own_world)
    for condition in (two, one):
        await own_world.admin.execute(_WAITED, condition, batch)
    operation = await delete(own_world, batch)
    await settle(own_world)
    holder, looker = await own_world.connect(), await own_world.connect()
    closing = await own_world.connect("weft_driver")

    async def work() -> None:
        if at_work == "conditions are over":
            await close(own_world, closing)
        else:
            await remove(own_world, operation)

    async with holder.transaction():
        await holder.execute(_LOCK, batch, one)
        task = await own_world.start_waiting(work())
        async with looker.transaction():
            await looker.execute(f"{_LOCK} NOWAIT", batch, two)
    await task
    await remove(own_world, operation)
    left = await own_world.admin.fetchval("SELECT count(*) FROM weft.condition_batch")

    assert left == 0
