"""What the driver reads of a transport that is away: few of the jobs that wait for it."""

import pytest

from builders import job_rows
from plans.test_plans import read_by_call
from store.test_transports import open_rabbit
from store.world import World

pytestmark = pytest.mark.slow
N_JOBS = 10_000
TABLES = ("job", "ready_job", "runnable", "batch", "transport_offer", "user_share")


async def test_a_look_reads_few_of_the_jobs_that_wait(own_world: World) -> None:
    world, rabbit = own_world, await open_rabbit(own_world)
    listed = job_rows(N_JOBS, shapes=[rabbit.shape], priority=[1] * N_JOBS)
    for batch in (listed, job_rows(N_JOBS, priority=[1] * N_JOBS)):
        await world.submit(batch)
    await rabbit.submit(N_JOBS)
    for _ in range(20):
        await world.submit(job_rows(2, shapes=[rabbit.shape], priority=[1, 2]))
    nothing: dict[str, list[str]] = {"tenants": [], "queues": [], "messages": [], "consumers": []}
    _, found = await read_by_call(
        world, "weft_driver", TABLES, "note_transport", epoch=rabbit.epoch,
        transport=rabbit.names[0], error="no route", **nothing,
    )  # fmt: skip
    (condition,) = await world.api.list_conditions(world.caller, after_id=0, limit=9)

    assert condition["n_jobs"] == 1000 + 1000 + 40
    assert found["ready_job"].scans == found["job"].scans == 0
    assert found["ready_job"].rows_by_index < 1500
    assert found["job"].rows_by_index < 1500
