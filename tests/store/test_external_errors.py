"""The policy of a job holds for its external errors, too."""

from store.test_rare_fields import with_fields
from store.test_recovery import fail, release, retried, wait_of
from store.world import Worker, World
from weft.core.states import Reason


async def test_policy_of_a_job_holds_for_its_external_errors(world: World, worker: Worker) -> None:
    """With two steps the third external error in a row is final, though attempts are left."""
    steps = {"policy": "stepwise", "jitter": 0, "steps": [{"tries": 2, "wait_s": 0.001}]}
    batch = await world.submit(with_fields(retried(), j1={"retry": {**steps, "give_up_s": 600}}))
    found = []
    for _ in range(3):
        await fail(worker, *await worker.claim(), code=75)
        found.append(await world.states(batch))
        await release(world, in_s=9)

    assert found == ["b", "b", "e"]


async def test_errors_before_a_long_run_are_forgotten(world: World, worker: Worker) -> None:
    """Those of services: waits begin anew after it, also when it is the last attempt but one."""
    steps = [{"tries": 1, "wait_s": one} for one in (1, 2, 4, 8)]
    policy = {"policy": "stepwise", "jitter": 0, "steps": steps, "give_up_s": None}
    batch = await world.submit(
        with_fields(retried(), j1={"retry": {**policy, "forgets_s": 0.0005}})
    )
    found = []
    for is_long in (False, False, False, True, False, False):
        claimed = await worker.claim()
        age_us = 1000 if is_long else 0
        ended = await worker.end(*claimed, reason=Reason.EXIT, exit_code=75, start_age_us=age_us)
        assert [*ended] == ["ok"]
        found.append(await wait_of(world, batch))
        await release(world, in_s=9)

    assert found == [1, 2, 4, 1, 2, 4]


async def test_external_errors_are_given_up_though_the_policy_of_the_job_never_is(
    world: World,
) -> None:
    own = {"policy": "constant", "wait_s": 7, "jitter": 0}
    batch = await world.submit(with_fields(retried(), j1={"retry": own}))
    found = [
        await world.admin.fetchval("SELECT weft._policy_of($1, 1, 0, $2::smallint)", batch, one)
        for one in (Reason.BLOCKED, Reason.EXIT)
    ]

    assert found == [{**own, "give_up_s": 172_800}, own]
