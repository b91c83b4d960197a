"""Batches and updates that wait for their jobs, as tests of submissions make them."""

from store.world import World
from weft.ports.store import UNKEYED, JobRows, NewBatch, Reserved

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
