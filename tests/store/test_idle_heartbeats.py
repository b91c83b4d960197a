"""A heartbeat of a worker that has no jobs costs little: it need not survive a crash."""

import pytest

from store.world import World


@pytest.mark.parametrize(("jobs", "expected"), [(0, "off"), (1, "on")])
async def test_only_a_heartbeat_without_jobs_may_be_forgotten(
    world: World, jobs: int, expected: str
) -> None:
    """The server waits for the disk only if the heartbeat changes more than its time."""
    worker = await world.worker()
    if jobs:
        await world.submit(jobs)
        assert len(await worker.claim(jobs)) == jobs
    async with world.admin.transaction():
        (answer,) = await world.admin.fetch(
            "SELECT * FROM weft.heartbeat_v2($1, '{}', '{}', '{}', false)", worker.id
        )
        durable = await world.admin.fetchval("SHOW synchronous_commit")

    assert answer["alive"]
    assert durable == expected
    assert await world.admin.fetchval("SHOW synchronous_commit") == "on"


async def test_to_go_to_sleep_waits_for_no_disk(world: World) -> None:
    """Whoever makes work visible waits for those who go to sleep at this moment."""
    worker = await world.worker()
    async with world.admin.transaction():
        assert not await world.admin.fetchval("SELECT weft.wait_for_work($1)", worker.id)
        assert await world.admin.fetchval("SHOW synchronous_commit") == "off"
    assert await world.admin.fetchval("SHOW synchronous_commit") == "on"
