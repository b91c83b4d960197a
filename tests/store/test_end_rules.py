"""What exit codes, signals and external errors mean to a job with rules of its own."""

import pytest

from builders import job_rows, with_fields
from store.retries import fail, release, retried, wait_of
from store.world import Worker, World
from weft.core.states import Reason

HAS_RULES = 1 << 20
RULES = {"exits": [[3, 3], [10, 20]], "signals": [10], "external": [[15, 16], [66, 66]]}


async def state_after(
    world: World, reason: Reason, code: int | None, signal: int | None
) -> tuple[str, int]:
    """Return the state of a job after its first attempt, and how many attempts do not count."""
    rows = job_rows(1, max_attempts=3, retry_on=[Reason.EXIT, Reason.SIGNAL])
    rows.retry_on = [rows.retry_on[0] | HAS_RULES]
    batch, worker, (one,) = await world.submit_and_claim(
        with_fields(rows, j1={"end_rules": RULES}), limit=1
    )
    await worker.end(one, reason=reason, exit_code=code, signal=signal)
    uncounted = await world.admin.fetchval(
        "SELECT n_uncounted FROM weft.job WHERE batch_id = $1", batch
    )
    state = await world.states(batch)
    await world.api.cancel_jobs(world.caller, batch, [1])
    await worker.store.leave(worker.id)
    return state, uncounted


async def test_exit_codes_are_sorted_by_the_rules(world: World) -> None:
    """An external error is one also where a range of `retry_on` has it."""
    cases = [
        (3, "r", 0),
        (10, "r", 0),
        (20, "r", 0),
        (21, "f", 0),
        (1, "f", 0),
        (66, "b", 1),
        (15, "b", 1),
        (75, "b", 1),
        (14, "r", 0),
    ]
    for code, state, uncounted in cases:
        assert await state_after(world, Reason.EXIT, code, None) == (state, uncounted)


async def test_signals_are_sorted_by_the_rules(world: World) -> None:
    for signal, state in [(10, "r"), (11, "f")]:
        assert await state_after(world, Reason.SIGNAL, None, signal) == (state, 0)


async def test_documents_do_not_show_rules(world: World) -> None:
    rows = with_fields(job_rows(1), j1={"end_rules": RULES, "external_errors": [66, "15-16"]})
    batch = await world.submit(rows)
    job = await world.api.get_job(world.caller, batch, 1)

    assert "end_rules" not in job
    assert job["external_errors"] == [66, "15-16"]


NO_PRODUCT = {"exit_codes": {"200-207": "success: no product", "9": "success"}}
SUCCESSES = {"successes": [[200, 207, "no product"], [9, 9, None]]}


@pytest.mark.parametrize(
    ("code", "state", "subtype"),
    [(203, "success", "no product"), (9, "success", "exit code 9"), (208, "failed", None)],
)
async def test_exit_codes_may_be_successes_with_a_subtype(
    world: World, code: int, state: str, subtype: str | None
) -> None:
    """Its child runs, and sees the subtype among its parents; so does the history."""
    rows = job_rows(2, parents={2: [1]})
    rows.retry_on = [HAS_RULES]
    batch, worker, (one,) = await world.submit_and_claim(
        with_fields(rows, j1=NO_PRODUCT | {"end_rules": SUCCESSES})
    )
    await worker.end(one, reason=Reason.EXIT, exit_code=code)
    again = await worker.end(one, reason=Reason.EXIT, exit_code=code)
    (parent,) = await world.api.list_parents(world.caller, batch, 2, after=0, limit=9)
    history = await world.api.job_history(world.caller, batch, 1)

    assert again == ["ok"]
    assert (parent["state"], parent["exit_code"], parent.get("subtype")) == (state, code, subtype)
    assert parent["reason"] == (None if subtype else "exit")
    assert history[-1]["subtype"] == (subtype or "exit")
    assert await world.states(batch) == ("fc" if subtype is None else "sr")


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
