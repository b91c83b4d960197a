"""Deadlines: a job that cannot end by then ends as an error, wherever it stands."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from builders import array_rows, job_rows, with_fields
from store.barriers import park
from store.batch_steps import open_update
from store.world import World
from weft.core.states import Reason
from weft.ports.store import JobRows, NewGroup


def due(rows: JobRows, in_s: float, *jobs: int, timeout_s: float = 0) -> JobRows:
    """Give jobs a deadline."""
    at = datetime.now(UTC) + timedelta(seconds=in_s)
    fields = {
        "deadline": at.isoformat(),
        "latest_start": (at - timedelta(seconds=timeout_s)).isoformat(),
    }
    return with_fields(rows, **{f"j{job}": fields for job in jobs})


async def make_late(world: World, batch: int) -> None:
    late = "UPDATE weft.job_deadline SET latest_start = now() - interval '1 s' WHERE batch_id = $1"
    await world.admin.execute(late, batch)


async def look(world: World, *, in_s: float = 0, limit: int = 100) -> int:
    """Let the driver look at the deadlines, as if some seconds later."""
    looked, epoch = 0, await world.lead()
    at = datetime.now(UTC) + timedelta(seconds=in_s)
    while True:
        (row,) = await world.call("sweep_deadlines", epoch=epoch, limit_jobs=limit, at=at)
        if not row["sweep_deadlines"]:
            return looked
        looked += row["sweep_deadlines"]


async def reasons(world: World, batch: int) -> Sequence[str | None]:
    jobs = await world.api.list_jobs(world.caller, batch, after=0, limit=100)
    return [job["reason"] for job in jobs]


async def test_waiting_jobs_end_wherever_they_stand(world: World) -> None:
    """Ready, pending, held, at a gate; what waits for them is cancelled."""
    rows = due(job_rows(5, parents={2: [1], 5: [2]}), 60, 2, 3, 4)
    batch = await world.submit(rows, max_running=2)
    await world.api.hold_jobs(world.caller, batch, [4])
    await park(world)
    before = await look(world), await world.states(batch)
    await look(world, in_s=61)
    await world.sweep()

    assert before == (0, "rprrp")
    assert await world.states(batch) == "reeec"
    assert await reasons(world, batch) == [None, "deadline", "deadline", "deadline", None]
    assert await (await world.worker()).run() == [1]


async def test_driver_is_told_the_next_deadline(own_world: World) -> None:
    epoch, ask = await own_world.lead(), own_world.driver.loop_due
    before = await ask(epoch, "deadlines")
    await own_world.submit(due(job_rows(1), 1000, 1))
    later_s = await ask(epoch, "deadlines")
    await own_world.submit(due(job_rows(1), 0, 1))
    soon_s = await ask(epoch, "deadlines")
    await look(own_world)

    assert before is None
    assert later_s is not None
    assert soon_s is not None
    assert soon_s <= 0 < later_s <= 1000


async def test_jobs_of_an_array_end_in_bounded_steps(world: World) -> None:
    batch = await world.submit(due(array_rows(None, 25), 60, 2))
    looked = await look(world, in_s=61, limit=10)

    assert looked >= 25
    assert await world.states(batch) == "r" + 25 * "e"


async def test_time_limit_is_taken_off_the_deadline(world: World) -> None:
    """A job that runs by then goes on until the deadline, and is not tried again."""
    batch, worker, (first, second) = await world.submit_and_start(
        due(job_rows(3, max_attempts=5), 100, 1, 2, 3, timeout_s=60), limit=2
    )
    await look(world, in_s=41)
    states = await world.states(batch)
    stopped = await worker.store.list_to_stop(worker.id, [(batch, first.job_id, first.attempt)])
    await make_late(world, batch)
    await worker.end(first, reason=Reason.LOST)
    await worker.end(second)
    unclaimable = await worker.claim()
    await look(world)

    assert unclaimable == []
    assert states == "RRe"
    assert stopped == []
    assert await world.states(batch) == "ese"
    assert await reasons(world, batch) == ["deadline", None, "deadline"]


@pytest.mark.parametrize("reason", [Reason.CANCELLED, Reason.LOST, None])
async def test_running_job_is_stopped_at_its_deadline(world: World, reason: Reason | None) -> None:
    batch, worker, (one,) = await world.submit_and_start(due(job_rows(1), 0.05, 1))
    await look(world, in_s=1)
    key = (batch, 1, one.attempt)
    stopped = await worker.store.list_to_stop(worker.id, [key])
    await world.admin.execute(
        "SELECT pg_sleep_until(deadline) FROM weft.job_deadline WHERE batch_id = $1", batch
    )
    await worker.end(one, reason=reason)
    again = await worker.end(one, reason=reason)
    assert await worker.claim() == []
    await look(world)
    history = await world.api.job_history(world.caller, batch, 1)

    assert list(stopped) == [key]
    assert again == ["ok"]
    assert await world.states(batch) == ("s" if reason is None else "e")
    assert await reasons(world, batch) == [None if reason is None else "deadline"]
    assert history[-1]["to"] == ("success" if reason is None else "error")


async def test_late_job_is_not_offered_when_it_is_released(world: World) -> None:
    """It became ready too late, while it was held: the driver ends it."""
    rows = due(job_rows(3, parents={2: [1], 3: [1]}), 100, 2, timeout_s=60)
    batch, worker, (first,) = await world.submit_and_claim(rows)
    await world.api.hold_jobs(world.caller, batch, [2])
    await make_late(world, batch)
    await worker.end(first)
    await world.api.release_jobs(world.caller, batch, [2])
    claimed = await worker.run()
    await look(world)

    assert claimed == [3]
    assert await world.states(batch) == "ses"


async def test_user_who_cancels_first_is_named(world: World) -> None:
    batch, worker, (one,) = await world.submit_and_start(due(job_rows(1), 60, 1))
    await world.api.cancel_jobs(world.caller, batch, [1])
    await look(world, in_s=61)
    await worker.end(one, reason=Reason.CANCELLED)

    assert await world.states(batch) == "c"
    assert await reasons(world, batch) == ["cancelled"]


async def test_late_jobs_count_as_failures(world: World) -> None:
    group = NewGroup(group_id=1, name="g", cancel_after_n_failures=2)
    rows = due(job_rows(4, group=1), 60, 1, 2)
    batch = await world.submit(rows, groups=[group])
    await look(world, in_s=61)
    await world.sweep()

    assert await world.states(batch) == "eecc"


async def test_uncommitted_jobs_are_looked_at_after_their_commit(world: World) -> None:
    batch = await world.submit(0)
    reserved = await open_update(world, batch, 1)
    await world.api.add_jobs(world.caller, batch, reserved.update_id, due(job_rows(1), 60, 1))
    before = await look(world, in_s=61)
    await world.api.commit_update(world.caller, batch, reserved.update_id)

    assert before == 0
    assert await look(world, in_s=61) == 1
    assert await world.states(batch) == "e"


async def test_late_job_never_starts(world: World) -> None:
    """It ends with its commit: no worker sees it ready, whether or not a driver runs."""
    group = NewGroup(group_id=1, name="g", cancel_after_n_failures=2)
    rows = job_rows(6, parents={6: [1]}, priority=[0, 0, 5, 0, 0, 0], group=[0, 0, 1, 1, 1, 0])
    late = due(rows, 60, 1, 3, 4, timeout_s=61)
    batch = await world.submit(late, groups=[group])
    array = await world.submit(due(array_rows(None, 25), -1, 2))
    gated = await world.submit(due(job_rows(3), -1, 1), max_running=1)
    before = [await world.states(number) for number in (batch, array, gated)]
    claimed = await (await world.worker()).claim(100)
    await world.sweep()

    assert before == ["ereerp", "r" + 25 * "e", "err"]
    assert sorted((job.batch_id, job.job_id) for job in claimed) == [
        (batch, 2),
        (array, 1),
        (gated, 2),
    ]
    assert await world.states(batch) == "eReecc"
    assert await reasons(world, batch) == [
        "deadline",
        None,
        "deadline",
        "deadline",
        None,
        None,
    ]


async def test_job_that_is_claimed_at_its_deadline_is_stopped(world: World) -> None:
    """The driver has seen it wait, and waits for its claim."""
    batch = await world.submit(due(job_rows(1), 60, 1))
    await world.admin.execute(
        "UPDATE weft.job_deadline SET due_at = now() - interval '1 h', latest_start = now(), "
        "deadline = now() WHERE batch_id = $1",
        batch,
    )
    worker = await world.worker()
    async with world.claiming(worker, 2) as (one,):
        looking = await world.start_waiting(
            world.driver.sweep("sweep_deadlines", await world.lead(), limit_jobs=9)
        )
    await looking
    key = (batch, 1, one["attempt"])

    assert list(await worker.store.list_to_stop(worker.id, [key])) == [key]


async def test_two_drivers_end_the_same_late_jobs_once(world: World) -> None:
    """The second one waits for the job that the first one has locked."""
    batch = await world.submit(due(job_rows(2, parents={2: [1]}), 100, 2, timeout_s=60))
    (first,) = await (worker := await world.worker()).claim()
    await world.api.hold_jobs(world.caller, batch, [2])
    await make_late(world, batch)
    await worker.end(first)
    await world.api.release_jobs(world.caller, batch, [2])
    epoch = await world.lead()
    sweep, step = "sweep_deadlines", {"epoch": epoch, "limit_jobs": 9}
    async with world.during("weft_driver", sweep, **step) as (ended,):
        looking = await world.start_waiting(world.driver.sweep(sweep, **step))
    looked = await looking
    await look(world)

    assert (ended["sweep_deadlines"], looked) == (1, 1)
    assert await world.states(batch) == "se"


async def test_a_late_child_is_locked_after_the_counter_of_failures(world: World) -> None:
    """As by a report on its parent: in another order, each would wait for the other."""
    groups = [NewGroup(group_id=1, parent_id=0, name="a", cancel_after_n_failures=9)]
    rows = due(job_rows(2, parents={2: [1]}, group=[-1, -1]), 60, 2)
    batch = await world.submit(rows, groups=groups)
    worker, other, epoch = await world.worker(), await world.connect(), await world.lead()
    (parent,) = await worker.claim(1)
    await world.admin.execute(
        "UPDATE weft.job_deadline SET latest_start = now(), due_at = now() WHERE batch_id = $1",
        batch,
    )

    async def end_late() -> None:
        while await world.driver.sweep("sweep_deadlines", epoch, limit_jobs=9):
            pass

    async with other.transaction():
        await other.execute("SELECT FROM weft.failure_count WHERE batch_id = $1 FOR UPDATE", batch)
        ending = await world.start_waiting(end_late())
        await other.execute(
            "SELECT FROM weft.job WHERE batch_id = $1 AND job_id = 2 FOR UPDATE NOWAIT", batch
        )
    await ending
    counted = await world.admin.fetchval(
        "SELECT n_failures FROM weft.failure_count WHERE batch_id = $1", batch
    )
    await worker.end(parent)

    assert counted == 1
    assert await world.states(batch) == "se"
