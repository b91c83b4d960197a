"""Retries of whole batches and of single jobs: failed jobs run again in place."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from builders import job_rows
from store.retries import (
    A_MINUTE,
    begin,
    completions,
    end_all,
    fail,
    finish,
    let_attempts_age,
    release,
    retry,
    waiting,
)
from store.test_completion_times import TREE
from store.test_failures import acknowledge, letters
from store.test_recovery import message_of, save
from store.world import Worker, World
from weft.core.errors import BatchCancelled, ParentFailed
from weft.core.queues.queue import QueueState
from weft.core.states import Reason
from weft.driver.operations import advance_operation


async def test_failed_jobs_run_again_and_the_batch_completes_again(world: World) -> None:
    """What succeeded stays; attempts keep their rows and numbers; the callback is sent again."""
    batch = await world.submit(
        job_rows(4, group=[0, 1, 2, 2]), groups=TREE, callback="https://example.org/hook"
    )
    worker = await world.worker()
    await end_all(worker, 2, 3)
    before = await completions(world, batch), await world.counts(batch)
    first = await world.attempts(batch, 2)
    n = await retry(world, batch)
    running = await world.counts(batch), await world.counts(batch, 2)
    await world.fold()
    document = await world.api.get_batch(world.caller, batch)
    again = await end_all(worker)
    attempts = await world.attempts(batch, 2)

    assert before == (1, {"succeeded": 2, "failed": 2})
    assert n == 2
    assert running == ({"succeeded": 2, "ready": 2}, {"succeeded": 1, "ready": 1})
    assert (document["state"], document["complete"], document["completed_at"]) == (
        "running",
        False,
        None,
    )
    assert again == [2, 3]
    assert (await completions(world, batch), await world.counts(batch)) == (2, {"succeeded": 4})
    assert [one["attempt"] for one in attempts] == [1, 2]
    assert attempts[0] == first[0]
    sent = await world.api.list_callbacks(world.caller, batch, after=0, limit=9)
    assert [one["completion"] for one in sent] == [1, 2]


async def test_retry_between_two_folds_is_another_completion(world: World, worker: Worker) -> None:
    """Its deltas add up to nothing."""
    batch = await world.submit(2)
    await end_all(worker, 1)
    assert await completions(world, batch) == 1
    await retry(world, batch)
    await end_all(worker, 1)

    assert await completions(world, batch) == 2


async def test_job_with_another_bad_parent_stays_cancelled(world: World, worker: Worker) -> None:
    """It runs when the last of them is retried."""
    batch = await world.submit(job_rows(3, parents={3: [1, 2]}))
    await end_all(worker, 1, 2)
    one = await retry(world, batch, 1), await world.states(batch)
    await end_all(worker)
    between = await world.states(batch)
    with pytest.raises(ParentFailed, match="parent j2"):
        await begin(world, batch, 3)
    two = await retry(world, batch, 2), await world.states(batch)
    await end_all(worker)

    assert one == (1, "rfc")
    assert between == "sfc"
    assert two == (2, "srp")
    assert await end_all(worker) == [3]


async def test_cancelled_children_are_retried_a_page_at_a_time(world: World) -> None:
    """Their parent needs none of their rows."""
    n_jobs = 120
    batch = await world.submit(
        job_rows(n_jobs, parents={child: [1] for child in range(2, n_jobs + 1)})
    )
    worker = await world.worker()
    await end_all(worker, 1)
    await world.sweep()
    operation, epoch = await begin(world, batch), await world.lead()
    step = partial(world.driver.retry_failed, matching=None, looked_upto=None, limit=30)
    async with world.transaction("admin") as other:
        await other.execute(
            "SELECT FROM weft.job WHERE batch_id = $1 AND job_id = 50 FOR UPDATE", batch
        )
        steps = [await step(epoch, operation) for _ in range(3)]
        some = await world.states(batch)
    steps += [await step(epoch, operation) for _ in range(4)]

    assert steps == ["moved", "busy", "busy", *["moved"] * 4]
    assert some == "r" + "p" * 29 + "c" * 90
    assert await finish(world, operation) == {"n_retried": n_jobs}
    assert await world.states(batch) == "r" + "p" * (n_jobs - 1)
    await end_all(worker)
    await world.sweep()
    assert await world.states(batch) == "s" + "r" * (n_jobs - 1)


async def test_waiting_child_waits_once_more_for_a_retried_parent(world: World) -> None:
    """One parent still runs, the other one fails and is retried."""
    batch, worker, (one, two) = await world.submit_and_claim(job_rows(3, parents={3: [1, 2]}))
    await worker.end(one, reason=Reason.EXIT)
    await retry(world, batch)
    (again,) = await worker.claim()
    await worker.end(two)
    waits = await world.states(batch)
    await worker.end(again)

    assert waits == "Rsp"
    assert await world.states(batch) == "ssr"


async def test_failed_job_that_always_runs_waits_for_its_retried_parent(world: World) -> None:
    batch = await world.submit(job_rows(2, parents={2: [1]}, always_run=[False, True]))
    worker = await world.worker()
    await end_all(worker, 1)
    await end_all(worker, 2)
    n = await retry(world, batch)
    again = await world.states(batch)
    order = await end_all(worker), await end_all(worker)

    assert (n, again, order) == (2, "rp", ([1], [2]))


async def test_parent_that_was_cancelled_runs_after_a_job_that_always_runs(world: World) -> None:
    """Which ran because its parent was cancelled, and stays as it is."""
    batch = await world.submit(job_rows(2, parents={2: [1]}, always_run=[False, True]))
    worker = await world.worker()
    await world.api.cancel_jobs(world.caller, batch, [1])
    await world.sweep()
    order = await end_all(worker)
    n_retried = await retry(world, batch, 1)

    assert (order, n_retried, await end_all(worker)) == ([2], 1, [1])
    assert await world.states(batch) == "ss"


async def test_retried_job_has_all_its_tries_again(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(1, max_attempts=2, retry_on=[Reason.EXIT]))
    for _ in range(2):
        await end_all(worker, 1)
    ended = await world.states(batch)
    await retry(world, batch)
    await end_all(worker, 1)
    tried = await world.states(batch)
    await end_all(worker, 1)

    assert (ended, tried) == ("f", "r")
    assert await world.states(batch) == "f"
    assert [one["attempt"] for one in await world.attempts(batch)] == [1, 2, 3, 4]


async def test_policy_counts_from_the_retry_on(world: World, worker: Worker) -> None:
    """It gave up after two minutes; now it has them again."""
    policy = {**A_MINUTE, "give_up_s": 120}
    batch = await world.submit(
        waiting(job_rows(1, max_attempts=9, retry_on=[Reason.EXIT]), 1, policy=policy)
    )
    await end_all(worker, 1)
    await release(world, in_s=61)
    await let_attempts_age(world, batch, hours=1)
    await end_all(worker, 1)
    ended = await world.states(batch)
    await retry(world, batch)
    await end_all(worker, 1)

    assert ended == "f"
    assert await world.states(batch) == "b"


async def test_cancel_by_a_person_is_undone_for_named_jobs_only(world: World) -> None:
    batch, worker = await world.submit_to_worker(3)
    await world.api.cancel_jobs(world.caller, batch, [1])
    one, two = await worker.claim()
    await world.api.cancel_jobs(world.caller, batch, [2])
    await worker.end(one, reason=Reason.CANCELLED)
    await worker.end(two, reason=Reason.EXIT)
    n = await retry(world, batch), await world.states(batch)
    named = await retry(world, batch, 1, 2), await world.states(batch)

    assert n == (1, "ccr")
    assert named == (2, "rrr")
    assert await end_all(worker) == [1, 2, 3]


async def test_retry_of_a_query(world: World) -> None:
    """What was cancelled because of a match runs again, too."""
    batch, worker, (one, two, three) = await world.submit_and_claim(job_rows(4, parents={4: [2]}))
    await worker.end(one, reason=Reason.EXIT, exit_code=1)
    await worker.end(two, reason=Reason.EXIT, exit_code=3)
    await worker.end(three)
    n = await retry(world, batch, query="exit_code = 3")

    assert n == 2
    assert await world.states(batch) == "frsp"


async def test_retry_by_cause(world: World, worker: Worker) -> None:
    """In steps, with what was cancelled because of it; an acknowledged job is of it, too."""
    batch = await world.submit(job_rows(8, parents={8: [7]}))
    for one in await worker.claim(7):
        await worker.end(one, reason=Reason.EXIT, exit_code=one.job_id % 2)
    await world.sweep()
    cause = next(one["cause"] for one in await letters(world, batch) if one["exit_code"] == 1)
    await acknowledge(world, batch, job_ids=[3])
    operation, epoch = await begin(world, batch, cause=cause), await world.lead()
    step = partial(world.driver.retry_failed, matching=None, looked_upto=None)
    assert await step(epoch, operation, limit=2) == "moved"
    between = await world.states(batch)

    assert await finish(world, operation) == {"n_retried": 5}
    assert between == "rfrffffc"
    assert await world.states(batch) == "rfrfrfrp"
    assert await retry(world, batch, cause="0" * 12) == 0


async def test_jobs_too_late_for_their_deadlines_are_left_out_and_counted(world: World) -> None:
    now, an_hour = datetime.now(UTC), timedelta(hours=1)
    dates = [now - an_hour, now + an_hour, now - an_hour]
    rows = job_rows(4)
    rows.rare_job = [1, 2, 3]
    rows.rare_fields = [
        {"deadline": (one + an_hour).isoformat(), "latest_start": one.isoformat()} for one in dates
    ]
    batch, worker = await world.submit_to_worker(rows)
    await end_all(worker, 1, 2, 3, 4)
    await world.driver.sweep("sweep_deadlines", await world.lead(), limit_jobs=9)
    operation, epoch = await begin(world, batch), await world.lead()
    while (await world.api.get_operation(world.caller, operation))["state"] == "running":
        await world.driver.retry_failed(epoch, operation, matching=None, looked_upto=None, limit=1)

    found = await world.api.get_operation(world.caller, operation)
    assert found["result"] == {"n_retried": 2, "n_late": 2}
    assert await world.states(batch) == "erer"


async def test_retry_of_a_group(world: World, worker: Worker) -> None:
    """With what is below it. A cancelled one is refused."""
    batch = await world.submit(job_rows(3, group=[0, 1, 2]), groups=TREE)
    await end_all(worker, 1, 2, 3)
    n = await retry(world, batch, group=1)

    assert n == 2
    assert await world.states(batch) == "frr"
    await world.cancel(batch, 1)
    with pytest.raises(BatchCancelled, match="a group of batch"):
        await begin(world, batch, group=2)
    assert await retry(world, batch) == 1


async def test_later_retry_waits_for_an_earlier_one(world: World) -> None:
    batch = await world.submit(1)
    await end_all(await world.worker(), 1)
    first, second = await begin(world, batch), await begin(world, batch)
    epoch = await world.lead()
    waiting = (await world.driver.running_operations(epoch, first))[0]

    assert not await advance_operation(world.driver, epoch, waiting)
    assert (await finish(world, first), await finish(world, second)) == (
        {"n_retried": 1},
        {"n_retried": 0},
    )


async def test_history_shows_who_retried(world: World, worker: Worker) -> None:
    batch = await world.submit(1)
    await end_all(worker, 1)
    await retry(world, batch)
    await end_all(worker)
    history = await world.api.job_history(world.caller, batch, 1)

    steps = [(one["from"], one["to"], one["actor"]) for one in history if one["from"] != one["to"]]
    assert steps[2:] == [
        ("running", "failed", "worker w"),
        ("failed", "ready", "user ada"),
        ("ready", "running", "worker w"),
        ("running", "success", "worker w"),
    ]


async def test_retried_jobs_are_no_dead_letters(world: World, worker: Worker) -> None:
    """Until they fail once more."""
    batch = await world.submit(2)
    await end_all(worker, 1, 2)
    before = len(await letters(world, batch))
    await retry(world, batch)
    between = len(await letters(world, batch))
    await end_all(worker, 2)

    assert (before, between) == (2, 0)
    assert [one["job_id"] for one in await letters(world, batch)] == [2]


async def test_failures_are_counted_anew(world: World) -> None:
    """With cancel_after_n_failures."""
    batch, worker, (one, two, three) = await world.submit_and_claim(3, cancel_after_n_failures=2)
    await worker.end(one, reason=Reason.EXIT)
    await retry(world, batch)
    await worker.end(two, reason=Reason.EXIT)
    open_yet = (await world.api.get_batch(world.caller, batch))["cancelled"]
    await worker.end(three, reason=Reason.EXIT)

    assert not open_yet
    assert (await world.api.get_batch(world.caller, batch))["cancelled"]
    await world.sweep()


@pytest.mark.parametrize("states", [("closed",), ()])
async def test_retry_by_hand_puts_a_job_back_whatever_became_of_its_queue(
    world: World, states: tuple[QueueState, ...]
) -> None:
    """It runs; its own tries end at once, as those of others do."""
    shapes = [await save(world, "enabled")]
    rows = job_rows(2, max_attempts=2, retry_on=[Reason.EXIT], shapes=shapes)
    batch = await world.submit(rows)
    worker, epoch = await world.worker(), await world.lead()
    for _ in range(2):
        await fail(worker, *await worker.claim(2))
        await world.call("pass_gates", epoch=epoch, limit_jobs=9)
    await world.fold()
    await save(world, *states)
    before = await world.states(batch)
    n_retried = await retry(world, batch)
    await world.call("pass_gates", epoch=epoch, limit_jobs=9)
    one, two = await worker.claim(2)
    await worker.end(one)
    await fail(worker, two)

    assert (before, n_retried) == ("ff", 2)
    assert await world.states(batch) == "se"
    assert "cannot go back into its queue" in await message_of(world, batch, 2)
