"""Holds set, released and swept, as tests of what is held do it."""

from store.world import World
from weft.ports.store import Claimed, NewGroup

TREE = [
    NewGroup(group_id=1, parent_id=0, name="a"),
    NewGroup(group_id=2, parent_id=1, name="b"),
    NewGroup(group_id=3, parent_id=0, name="c"),
    NewGroup(group_id=4, name="pca", is_set=True),
]


def numbers(claimed: list[Claimed]) -> list[int]:
    return sorted(one.job_id for one in claimed)


async def hold(world: World, batch: int, group: int = 0) -> bool:
    return await world.api.hold_group(world.caller, batch, group)


async def release(world: World, batch: int, group: int = 0) -> bool:
    return await world.api.release_group(world.caller, batch, group)


async def park(world: World, limit: int = 10_000) -> int:
    """Sweep until nothing is left; return how many steps that were."""
    for steps in range(10_000):
        if not await world.driver.sweep("sweep_holds", await world.lead(), limit_jobs=limit):
            return steps
    raise AssertionError


async def parked(world: World, batch: int) -> list[int]:
    rows = await world.admin.fetch(
        "SELECT job_id FROM weft.ready_job WHERE batch_id = $1 AND gate_set_id = 1 ORDER BY 1",
        batch,
    )
    return [row["job_id"] for row in rows]
