"""Blocked jobs: they wait for a date, and then are ready again."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import array_rows, job_rows, tree
from core.test_ends import TRIES, WAITS, policies
from store.retries import A_MINUTE, fail, let_attempts_age, release, retried, wait_of, waiting
from store.test_deadlines import due, look
from store.test_waiting import ear
from store.world import Worker, World
from weft.core.ends.retry_policy import EXTERNAL, wait_s
from weft.core.errors import QueueHasJobs
from weft.core.queues import Queue
from weft.core.queues.queue import QueueState
from weft.core.states import Reason
from weft.ports.store import Shape


async def test_retry_waits_for_its_date(world: World, worker: Worker) -> None:
    batch = await world.submit(retried(2))
    await fail(worker, *await worker.claim())
    await release(world, in_s=59)
    early = await worker.claim(), await world.states(batch)
    blocked = await world.counts(batch)
    await release(world, in_s=61, limit=1)
    late = await world.states(batch)
    claimed = await worker.claim()
    await worker.end(*claimed)

    assert early == ([], "bb")
    assert blocked == {"blocked": 2}
    assert late == "rr"
    assert [one.attempt for one in claimed] == [2, 2]
    assert await world.counts(batch) == {"succeeded": 2}


async def test_document_and_history_say_when_it_goes_on(world: World, worker: Worker) -> None:
    batch = await world.submit(retried())
    await fail(worker, *await worker.claim())
    blocked = await world.api.get_job(world.caller, batch, 1)
    facts = await world.api.why_job(world.caller, batch, 1)
    await release(world, in_s=61)
    ready = await world.api.get_job(world.caller, batch, 1)
    history = await world.api.job_history(world.caller, batch, 1)

    wait = datetime.fromisoformat(str(blocked["next_try_at"])) - datetime.now(UTC)
    assert timedelta(seconds=30) < wait <= timedelta(seconds=60)
    assert (blocked["reason"], blocked["retry"]) == ("exit", A_MINUTE)
    assert facts.blocked is not None
    assert (facts.blocked.attempt, facts.blocked.reason) == (1, "exit")
    assert "next_try_at" not in ready
    assert ready["times"]["blocked_ms"] >= 60_000
    assert [(one["from"], one["to"]) for one in history if one["to"] in {"blocked", "ready"}] == [
        (None, "ready"),
        ("running", "blocked"),
        ("blocked", "ready"),
    ]


async def test_jobs_of_an_array_share_a_policy(world: World, worker: Worker) -> None:
    rows = array_rows(None, 3, max_attempts=2, retry_on=[Reason.EXIT])
    batch = await world.submit(waiting(rows, 2))
    await fail(worker, *await worker.claim())

    blocked = await world.states(batch)
    await release(world, in_s=61)

    assert (blocked, await world.states(batch)) == ("fbbb", "frrr")  # the first has none


async def test_external_error_is_tried_again_and_does_not_count(world: World) -> None:
    """Whatever the job says about retries."""
    batch, worker = await world.submit_to_worker(1)
    waits = []
    for _ in range(3):
        await fail(worker, *await worker.claim(), code=75)
        waits.append(await wait_of(world, batch))
        await release(world, in_s=61)
    await fail(worker, *await worker.claim())

    assert waits == [10, 10, 20]
    assert await world.states(batch) == "f"
    job = await world.job(batch)
    assert (job["attempt"], job["n_uncounted"], job["n_lost"]) == (4, 3, 0)


async def test_external_errors_are_counted_since_the_last_other_end(world: World) -> None:
    batch = await world.submit(job_rows(1, max_attempts=3, retry_on=[Reason.EXIT]))
    worker = await world.worker()
    waits = []
    for code in (75, 75, 75, 1, 75):
        await fail(worker, *await worker.claim(), code=code)
        if code != 1:
            waits.append(await wait_of(world, batch))
        await release(world, in_s=61)

    assert waits == [10, 10, 20, 10]


async def test_external_error_is_given_up_after_two_days(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(2, parents={2: [1]}))
    await fail(worker, *await worker.claim(), code=75)
    await release(world, in_s=61)
    await let_attempts_age(world, batch)
    await fail(worker, *await worker.claim(), code=75)
    await world.sweep()

    job = await world.api.get_job(world.caller, batch, 1)
    assert (job["state"], job["reason"], job["exit_code"]) == ("error", "blocked", 75)
    assert await world.states(batch) == "ec"


async def test_policy_that_gives_up_makes_the_failure_final(world: World, worker: Worker) -> None:
    policy = {"policy": "stepwise", "jitter": 0, "steps": [{"tries": 1, "wait_s": 5}]}
    rows = job_rows(1, max_attempts=9, retry_on=[Reason.EXIT])
    batch = await world.submit(waiting(rows, 1, policy=policy))
    for _ in range(2):
        await fail(worker, *await worker.claim())
        await release(world, in_s=61)

    assert await world.states(batch) == "f"
    assert (await world.job(batch))["attempt"] == 2


async def test_cancelled_jobs_are_not_released(world: World, worker: Worker) -> None:
    """A single one ends at once, those of a group with the sweep or, before it, when due."""
    batch = await world.submit(retried(4, group=[0, 1, 2, 0]), groups=tree("a", "b"))
    await fail(worker, *await worker.claim())
    answer = await world.api.cancel_jobs(world.caller, batch, [1])
    await world.cancel(batch, 1)
    swept = await world.states(batch)
    await world.api.cancel_group(world.caller, batch, 2, force=False)
    await release(world, in_s=61)

    assert answer == {1: "cancelled"}
    assert swept == "ccbb"
    assert await world.states(batch) == "cccr"
    assert [one.job_id for one in await worker.claim()] == [4]


async def test_job_that_fails_while_it_is_being_cancelled_is_not_blocked(world: World) -> None:
    batch, worker, claimed = await world.submit_and_claim(
        retried(3, group=[0, 1, 0]), groups=tree("a")
    )
    await world.api.cancel_jobs(world.caller, batch, [1])
    await world.api.cancel_group(world.caller, batch, 1, force=False)
    await fail(worker, *claimed)

    assert await world.states(batch) == "ccb"


async def test_cancel_that_is_under_way_wins_over_a_release(world: World, worker: Worker) -> None:
    """The release leaves the row alone; one that it waits for it ends as well."""
    batch = await world.submit(retried(2))
    await fail(worker, *await worker.claim())
    async with world.during_request("cancel_jobs", batch, job_ids=[1], actor="x"):
        await release(world, in_s=61)
        released = await world.states(batch)
    await fail(worker, *await worker.claim())
    epoch, at = await world.lead(), datetime.now(UTC) + timedelta(seconds=61)
    async with world.during("admin", "release_blocked", epoch=epoch, limit_jobs=9, at=at):
        cancelling = await world.start_waiting(world.api.cancel_jobs(world.caller, batch, [2]))
    answer = await cancelling

    assert released == "br"
    assert answer == {2: "cancelled"}
    assert await world.states(batch) == "cc"
    assert await worker.claim() == []


@pytest.mark.parametrize("in_s", [0.0, 3600.0])
async def test_blocked_job_ends_at_its_deadline(world: World, in_s: float) -> None:
    """Also if it was late when it was blocked."""
    rows = due(job_rows(1, max_attempts=2, retry_on=[Reason.EXIT]), 7200, 1, timeout_s=3600)
    rows.rare_fields[0]["retry"] = dict(A_MINUTE)
    rows.retry_on = [rows.retry_on[0] | 1]
    batch, worker, claimed = await world.submit_and_claim(rows)
    if not in_s:
        await world.admin.execute(
            "UPDATE weft.job_deadline SET latest_start = now() - interval '1 s', "
            "due_at = deadline WHERE batch_id = $1",
            batch,
        )
    await fail(worker, *claimed)
    blocked = await world.states(batch)
    await look(world, in_s=in_s)

    job = await world.api.get_job(world.caller, batch, 1)
    assert (blocked, job["state"], job["reason"]) == ("b", "error", "deadline")


async def test_held_job_is_ready_but_not_claimed(world: World, worker: Worker) -> None:
    batch = await world.submit(retried(2))
    await fail(worker, *await worker.claim())
    await world.api.hold_jobs(world.caller, batch, [1])
    await release(world, in_s=61)
    claimed = [one.job_id for one in await worker.claim()]
    await world.api.release_jobs(world.caller, batch, [1])

    assert claimed == [2]
    assert [one.job_id for one in await worker.claim()] == [1]


async def test_place_at_a_gate_is_free_while_its_job_is_blocked(world: World) -> None:
    batch, worker = await world.submit_to_worker(retried(2), max_running=1)
    await fail(worker, *await worker.claim())
    (second,) = await worker.claim()
    await release(world, in_s=61)

    assert second.job_id == 2
    assert await world.states(batch) == "rR"
    assert await worker.claim() == []


async def test_notice_tells_the_driver(world: World) -> None:
    batch, worker, (one,) = await world.submit_and_claim(retried())
    listener = await ear(world, "driver")
    await fail(worker, one)

    await listener.until("recovery")
    assert await world.states(batch) == "b"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(policy=policies(), tries=TRIES, waited=WAITS, draw=st.integers(0, 65_535))
async def test_database_waits_as_the_pure_function(
    world: World, policy: dict[str, Any], tries: int, waited: float, draw: int
) -> None:
    part = draw / 65_536
    found = await world.admin.fetchval(
        "SELECT weft._retry_wait($1, $2, $3, $4)", policy, tries, waited, part
    )
    expected = wait_s(policy, tries, waited_s=waited, draw=part)

    assert found == (None if expected is None else pytest.approx(expected))


async def test_policy_of_external_errors_is_that_of_the_program(world: World) -> None:
    found = await world.admin.fetchval(
        "SELECT weft._policy_of(0, 0, 0, $1::smallint)", Reason.BLOCKED
    )

    assert found == {**EXTERNAL, "steps": [*EXTERNAL["steps"]]}


async def save(world: World, *states: QueueState) -> Shape:
    """Save a queue in this state, or none; return the shape of its jobs."""
    name = f"q-{world.pool}"
    queues = [
        Queue(name=name, priority=1, pools=(world.pool,), max_running=2, state=state)
        for state in states
    ]
    await world.api.save_queues(world.caller, queues)
    return Shape(words=(("pool", world.pool), ("queue", name)))


async def message_of(world: World, batch: int, job: int = 1) -> str:
    """Return the last thing that the history of a job says."""
    return str((await world.api.job_history(world.caller, batch, job))[-1]["message"])


@pytest.mark.parametrize("code", [1, 75])
@pytest.mark.parametrize("waits", [True, False])
async def test_job_whose_queue_is_closed_or_gone_ends_at_once(
    world: World, code: int, *, waits: bool
) -> None:
    """So does one that was blocked before; a job that has not run yet runs."""
    shapes = [await save(world, "enabled")]
    make = retried if waits else partial(job_rows, max_attempts=3, retry_on=[Reason.EXIT])
    batch = await world.submit(make(4, shapes=shapes))
    worker, epoch = await world.worker(), await world.lead()
    one, two = await worker.claim(2)
    await fail(worker, one, code=75)
    blocked = await world.states(batch)
    await save(world, "closed")
    await fail(worker, two, code=code)
    ended = await world.states(batch)
    await release(world, in_s=61)
    released = await world.states(batch)
    await world.call("pass_gates", epoch=epoch, limit_jobs=9)
    three, four = await worker.claim(2)
    await worker.end(three)
    await world.fold()
    await save(world)
    await fail(worker, four, code=code)

    assert (blocked, ended, released) == ("bRrr", "berr", "eerr")
    assert await world.states(batch) == "eese"
    messages = [await message_of(world, batch, job) for job in (1, 2, 4)]
    end = f'it cannot go back into its queue: "q-{world.pool}" '
    assert messages == [end + "is closed", end + "is closed", end + "was deleted"]
    letters = await world.api.list_dead_letters(world.caller, limit=9, batch_id=batch)
    assert {(one["job_id"], one["reason"]) for one in letters} == {
        (job, "blocked") for job in (1, 2, 4)
    }


async def test_job_goes_back_into_a_queue_that_is_drained(world: World) -> None:
    shapes = [await save(world, "enabled")]
    batch = await world.submit(retried(1, shapes=shapes))
    worker, epoch = await world.worker(), await world.lead()
    await fail(worker, *await worker.claim(1))
    await save(world, "draining")
    with pytest.raises(QueueHasJobs):
        await save(world)
    await release(world, in_s=61)
    await world.call("pass_gates", epoch=epoch, limit_jobs=9)
    await fail(worker, *await worker.claim(1))
    await release(world, in_s=61)
    await world.call("pass_gates", epoch=epoch, limit_jobs=9)

    assert await worker.run() == [1]
    assert await world.states(batch) == "s"


async def test_cancelled_job_of_a_closed_queue_is_cancelled(world: World) -> None:
    shapes = [await save(world, "enabled")]
    batch = await world.submit(retried(3, group=[0, 1, 0], shapes=shapes), groups=tree("a"))
    worker, epoch = await world.worker(), await world.lead()
    claimed = await worker.claim(2)
    await world.api.cancel_jobs(world.caller, batch, [1])
    await world.api.cancel_group(world.caller, batch, 1, force=False)
    await save(world, "closed")
    await fail(worker, *claimed)
    await world.call("pass_gates", epoch=epoch, limit_jobs=9)
    await fail(worker, *await worker.claim())

    assert await world.states(batch) == "cce"


async def test_lost_lease_goes_back_into_a_closed_queue(world: World) -> None:
    """An attempt that never started leaves its job where it waited; one that had started does
    not.
    """
    shapes = [await save(world, "enabled")]
    batch, worker, (one, two) = await world.submit_and_claim(job_rows(2, shapes=shapes), limit=2)
    await worker.start(two)
    await save(world, "closed")
    await worker.end(one, reason=Reason.LOST, start_age_us=None)
    await worker.end(two, reason=Reason.LOST)

    assert await world.states(batch) == "re"
