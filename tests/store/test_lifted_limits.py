"""Retries of what `cancel_after_n_failures` has cancelled."""

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from builders import job_rows
from store.retries import begin, completions, end_all, finish, retry
from store.test_completion_times import TREE
from store.world import Worker, World
from weft.core.billing.spending import Measure
from weft.core.errors import BatchCancelled, SoftLimitAboveLimit
from weft.core.states import Reason
from weft.ports.store.queries import Limited
from weft.store.database import call_on


async def cut_short(world: World) -> tuple[int, Worker]:
    """Submit six jobs of which the second failure cancels the last ones; job 2 is told to stop."""
    batch, worker, (one, two, three) = await world.submit_and_claim(
        job_rows(6, parents={6: [1]}), cancel_after_n_failures=2, limit=3
    )
    await worker.end(one, reason=Reason.EXIT)
    await world.api.cancel_jobs(world.caller, batch, [4])
    await worker.end(three, reason=Reason.EXIT)
    await world.sweep()
    assert await world.states(batch) == "fRfccc"
    await worker.end(two, reason=Reason.CANCELLED)
    return batch, worker


async def test_limit_of_failures_is_lifted_by_a_retry(world: World) -> None:
    """What it has cancelled runs again, not what a person has cancelled; it counts anew."""
    batch, worker = await cut_short(world)
    assert await completions(world, batch) == 1
    with pytest.raises(BatchCancelled) as caught:
        await begin(world, batch, 1)
    n, states = await retry(world, batch), await world.states(batch)
    document = await world.api.get_batch(world.caller, batch)
    order = [await end_all(worker, 3), await end_all(worker)]
    between = (await world.api.get_batch(world.caller, batch))["cancelled"]

    assert "weft retry b" in caught.value.hint
    assert (n, states) == (5, "rrrcrp")
    assert (document["cancelled"], document["state"]) == (False, "running")
    assert order == [[1, 2, 3, 5], [6]]
    assert not between
    assert await world.counts(batch) == {"succeeded": 4, "failed": 1, "cancelled": 1}
    assert await completions(world, batch) == 2
    changes = await world.admin.fetch(
        "SELECT kind, actor FROM weft.group_change WHERE batch_id = $1", batch
    )
    assert [(one["kind"], one["actor"]) for one in changes] == [("reopened", "user ada")]


async def test_lifted_limit_cancels_again(world: World) -> None:
    """Failures that are left out count no more, those that come later do."""
    batch, worker, claimed = await world.submit_and_claim(4, cancel_after_n_failures=2, limit=2)
    await worker.end(*claimed, reason=Reason.EXIT)
    await world.sweep()
    await world.admin.execute(
        "INSERT INTO weft.job_cancel (batch_id, job_id, tenant_id, cancelled_at, actor) "
        "SELECT batch_id, 1, tenant_id, now(), 'user ada' FROM weft.batch WHERE batch_id = $1",
        batch,
    )
    assert await retry(world, batch) == 3
    await world.admin.execute("DELETE FROM weft.job_cancel WHERE batch_id = $1", batch)
    two, three, four = await worker.claim(3)
    await worker.end(two, reason=Reason.EXIT)
    once = (await world.api.get_batch(world.caller, batch))["cancelled"]
    assert await retry(world, batch, 1, 2) == 2
    await worker.end(three, reason=Reason.EXIT)
    still = (await world.api.get_batch(world.caller, batch))["cancelled"]
    await worker.end(four, reason=Reason.EXIT)
    await world.sweep()

    assert (once, still) == (False, False)
    assert (await world.api.get_batch(world.caller, batch))["cancelled"]
    assert await world.states(batch) == "ccff"


async def test_limit_is_lifted_when_what_it_stops_has_ended(world: World, worker: Worker) -> None:
    """Else a job would become cancelled after the retry; jobs that always run are not stopped."""
    batch = await world.submit(
        job_rows(3, always_run=[False, False, True]), cancel_after_n_failures=1
    )
    one, two, three = sorted(await worker.claim(3), key=lambda one: one.job_id)
    await worker.end(one, reason=Reason.EXIT)
    await world.sweep()
    operation, epoch = await begin(world, batch), await world.lead()
    step = partial(world.driver.retry_failed, matching=None, looked_upto=None, limit=9)
    running = await step(epoch, operation)
    await worker.end(two, reason=Reason.CANCELLED)
    unswept = await world.submit(2, cancel_after_n_failures=1)
    await worker.end(*await worker.claim(1), reason=Reason.EXIT)
    other = await begin(world, unswept)

    assert (running, await step(epoch, other)) == ("waits", "waits")
    await world.sweep()
    assert await finish(world, other) == {"n_retried": 2}
    assert await finish(world, operation) == {"n_retried": 2}
    assert await world.states(batch) == "rrR"
    await worker.end(three)


async def test_limit_is_not_lifted_once_a_person_has_cancelled(world: World) -> None:
    batch, worker = await world.submit_to_worker(2, cancel_after_n_failures=1)
    await worker.end(*await worker.claim(1), reason=Reason.EXIT)
    await world.sweep()
    operation = await begin(world, batch)
    await world.api.cancel_group(world.caller, batch, 0, force=False)

    assert await finish(world, operation) == {"n_retried": 0}
    assert await world.states(batch) == "fc"
    with pytest.raises(BatchCancelled) as caught:
        await begin(world, batch)
    assert "new batch" in caught.value.hint


async def test_limits_of_groups_are_lifted_with_what_is_retried(world: World) -> None:
    """A group with what is below it, or the whole batch; not what is above it."""
    limited = [replace(one, cancel_after_n_failures=1) for one in TREE]
    batch, worker, (one, two, three) = await world.submit_and_claim(
        job_rows(4, group=[0, 1, 2, 2]), groups=limited, limit=3
    )
    await worker.end(three, reason=Reason.EXIT)
    await worker.end(one, reason=Reason.EXIT)
    await worker.end(two, reason=Reason.CANCELLED)
    await world.sweep()
    before = await world.states(batch)
    with pytest.raises(BatchCancelled, match="a group of batch"):
        await begin(world, batch, group=2)
    with pytest.raises(BatchCancelled, match="a group of batch"):
        await begin(world, batch, group=1, query="exit_code = 1")
    n = await retry(world, batch, group=1)

    assert (before, n) == ("fcfc", 3)
    assert await world.states(batch) == "frrr"
    assert await end_all(worker) == [2, 3, 4]


BELOW = "amount_max", "amount_soft_max"


async def set_limit(world: World, of: Limited, **patch: float | None) -> dict[str, Any]:
    return dict(await world.api.set_limit(world.caller, of, Measure.CPU, patch))


@pytest.mark.parametrize("kind", ["project", "user", "batch", "group"])
async def test_soft_limit_above_the_limit_is_refused(world: World, kind: str) -> None:
    batch = await world.submit(1)
    of = {
        "project": Limited("project", "default"),
        "user": Limited("user", world.caller.user_name),
        "batch": Limited("group", None, batch),
        "group": Limited("group", None, batch, 0),
    }[kind]
    with pytest.raises(SoftLimitAboveLimit, match=r"the soft limit 8\.5 is above the limit 5"):
        await set_limit(world, of, amount_max=5.0, amount_soft_max=8.5)
    assert await world.api.list_limits(world.caller, None, after=0, limit=9) == []
    made = await set_limit(world, of, amount_max=8, amount_soft_max=8)
    for field, amount in (("amount_soft_max", 9), ("amount_max", 7), ("amount_max", 0)):
        with pytest.raises(SoftLimitAboveLimit) as refused:
            await set_limit(world, of, **{field: amount})
        assert "one change may set both" in refused.value.hint
    assert await set_limit(world, of) == made
    for patch in (
        {"amount_max": 5, "amount_soft_max": 4},
        {"amount_max": None},
        {"amount_soft_max": 9},
        {"amount_soft_max": None},
        {"amount_max": 1},
    ):
        changed = await set_limit(world, of, **patch)
        assert {name: changed[name] for name in patch} == patch
        made |= changed
    # Of another measure it is another limit.
    other = await world.api.set_limit(world.caller, of, Measure.GPU, {"amount_soft_max": 99})
    assert other["amount_soft_max"] == 99


async def test_limits_of_a_project_that_was_made_with_one(world: World) -> None:
    await world.api.create_project(world.caller, "lab", cost_max=5)
    with pytest.raises(SoftLimitAboveLimit):
        await world.api.change_project(world.caller, "lab", {"cost_soft_max": 6, "closed": True})
    (project,) = await world.api.list_projects(world.caller, "lab")

    assert (project["cost_max"], project["cost_soft_max"], project["closed"]) == (5, None, False)


@pytest.mark.parametrize("is_stored", [False, True])
async def test_of_two_changes_at_once_the_second_sees_the_first(
    own_world: World, *, is_stored: bool
) -> None:
    """Also if nothing was stored before."""
    world, of = own_world, Limited("user", own_world.caller.user_name)
    if is_stored:
        await set_limit(world, of, amount_max=9)
    first = await world.connect("weft_api")
    transaction = first.transaction()
    await transaction.start()
    await call_on(
        first,
        "set_limit",
        caller=world.caller,
        kind=of.kind,
        of_name=of.name,
        of_batch_id=None,
        group_id=None,
        path=None,
        measure="cpu",
        patch={"amount_max": 5},
    )
    second = await world.start_waiting(set_limit(world, of, amount_soft_max=8))
    await transaction.commit()
    with pytest.raises(SoftLimitAboveLimit, match="8 is above the limit 5"):
        await second
    (found,) = await world.api.list_limits(world.caller, None, after=0, limit=9)

    assert [found[name] for name in BELOW] == [5, None]
