"""Batches and updates that wait for their jobs, and removals, step by step, as tests make them."""

from typing import Any

import pytest

from store.barriers import park
from store.world import World
from weft.driver.operations import advance_operation, one_batch
from weft.ports.store import UNKEYED, JobRows, NewBatch, Origin, Reserved

NEW = NewBatch()


async def open_update(world: World, batch: int, n_jobs: int, n_groups: int = 0) -> Reserved:
    reserved, _is_new = await world.api.create_update(
        world.caller, batch, UNKEYED, n_jobs=n_jobs, n_groups=n_groups
    )
    return reserved


async def new_batch(world: World) -> int:
    batch, _is_new = await world.api.create_batch(world.caller, NEW, UNKEYED)
    return batch


async def add(world: World, batch: int, update: Reserved, rows: JobRows) -> bool:
    return bool(await world.api.add_jobs(world.caller, batch, update.update_id, rows))


async def delete(world: World, batch: int, key: str | None = None, digest: bytes = b"") -> int:
    return await world.api.delete_batch(
        world.caller, batch, Origin(key=key, digest=digest, trace_id="")
    )


async def operation_of(world: World, operation_id: int) -> Any:  # noqa: ANN401 (a document)
    return await world.api.get_operation(world.caller, operation_id)


async def step(world: World, operation_id: int, limit: int = one_batch.STEP_ROWS) -> bool:
    """Do one step of the removal."""
    epoch = await world.lead()
    for running in await world.driver.running_operations(epoch):
        if running.operation_id == operation_id:
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(one_batch, "STEP_ROWS", limit)
                return await advance_operation(world.driver, epoch, running)
    return False


async def settle(world: World) -> None:
    """Do what the driver's other loops do."""
    await world.sweep()
    await park(world)
    await world.fold()


async def remove(
    world: World, operation_id: int, *, limit: int = one_batch.STEP_ROWS, audited: bool = False
) -> int:
    """Go on until it has ended, `limit` rows a step; return in how many steps."""
    for steps in range(10_000):
        if (await operation_of(world, operation_id))["state"] != "running":
            return steps
        if not await step(world, operation_id, limit):
            await settle(world)
        if audited:
            assert await world.findings() == {}
    raise AssertionError


async def rows_of(world: World, batch: int) -> dict[str, int]:
    """Return how many rows each table has of a batch; those that tell of its end excepted."""
    tables = await world.admin.fetch(
        "SELECT table_name FROM information_schema.columns "
        "WHERE table_schema = 'weft' AND column_name = 'batch_id'"
    )
    found = {}
    for (table,) in tables:
        but = {
            "operation": "AND kind <> 'delete_batch'",
            "event": "AND kind <> 'batch.deleted' AND kind NOT LIKE 'operation.%'",
        }.get(table, "")
        found[table] = await world.admin.fetchval(
            f"SELECT count(*) FROM weft.{table} WHERE batch_id = $1 {but}",  # noqa: S608
            batch,
        )
    return {table: n for table, n in found.items() if n}
