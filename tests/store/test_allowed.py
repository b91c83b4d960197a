"""What a tenant lets its jobs choose is told of batches to their workers."""

from plans.table_reads import reads
from store.world import Worker, World
from weft.store.database import call_on


async def test_lists_are_told_as_they_are_now(world: World, worker: Worker) -> None:
    """By batch, read by key."""
    batches = [await world.submit(1) for _ in range(3)]
    name = await world.api.tenant_name(world.caller)
    change = {"allowed": {"image": ["docker://a/*"]}}
    await world.api.set_tenant(world.caller.tenant_id, name, change)
    told = await worker.store.list_choices([batches[0], batches[2], 1 << 40])
    connection = await world.connect("weft_worker")
    async with reads(connection, "batch", "tenant") as found:
        await call_on(connection, "list_choices", batch_ids=batches[:1])
    await world.api.set_tenant(world.caller.tenant_id, name, {"allowed": {"image": None}})

    assert told == {batch: {"image": ["docker://a/*"]} for batch in (batches[0], batches[2])}
    assert await worker.store.list_choices(batches) == {}
    assert found["batch"].rows_by_index == 1
    assert found["batch"].rows_scanned == 0
