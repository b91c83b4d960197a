"""One service of a name runs at a time, also when two transactions want it at once."""

import pytest

from builders import job_rows, with_fields
from store.world import World
from weft.core.errors import ServiceRuns
from weft.ports.store import JobRows


def service() -> JobRows:
    return with_fields(job_rows(1, names={1: "x"}), j1={"service": {"restart": "always"}})


async def test_a_retry_that_takes_the_name_first_is_seen_by_a_submission(world: World) -> None:
    old = await world.submit(service())
    with pytest.raises(ServiceRuns):
        await world.submit(service())
    await world.api.cancel_jobs(world.caller, old, [1])
    await world.sweep()
    other = await world.connect()
    retrying = other.transaction()
    await retrying.start()
    await other.execute("SELECT weft._before_retry($1, $2)", world.caller.tenant_id, old)
    assert await other.fetchval(
        "SELECT weft._retry($1, '{1}', 'user ada', clock_timestamp())", old
    )
    submission = await world.start_waiting(world.submit(service()))
    await retrying.commit()
    with pytest.raises(ServiceRuns):
        await submission
    assert await world.states(old) == "r"
