"""Attempts that are beyond a limit of their queue: stopped, run again or ended."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from builders import end_report, job_rows
from store.retries import let_attempts_age, release, retry
from store.world import Worker, World
from weft.core.queues import Queue
from weft.core.states import Phase, Reason
from weft.ports.store import Claimed, PhaseReport, Shape
from weft.wire.documents.queues import MonitorDocument

HOUR_S = 3600


async def watched(world: World, n_jobs: int = 1, **monitor: Any) -> int:  # noqa: ANN401 (fields)
    """Submit jobs to a queue with limits."""
    limits = msgspec.to_builtins(MonitorDocument(**monitor))
    queue = Queue(name="q", priority=1, pools=(world.pool,), monitor=limits)
    await world.api.save_queues(world.caller, [queue])
    shape = Shape(words=(("pool", world.pool), ("queue", "q")))
    return await world.submit(job_rows(n_jobs, shapes=[shape]))


async def look(world: World, *, in_s: float = 0) -> Sequence[Mapping[str, Any]]:
    """Let the monitor look, as if some seconds later; return what it stopped of our worker, and
    whether it gave that up.
    """
    at, found = datetime.now(UTC) + timedelta(seconds=in_s), []
    while rows := await world.call(
        "stop_overdue", epoch=await world.lead(), limit_jobs=100, confirm_s=120, at=at
    ):
        found += [dict(row) for row in rows if row["worker"] == world.pool]
    return found


def phase(one: Claimed, phase: Phase) -> PhaseReport:
    return PhaseReport(batch_id=one.batch_id, job_id=one.job_id, attempt=one.attempt, phase=phase)


async def running(world: World, **monitor: Any) -> tuple[int, Worker, Claimed]:  # noqa: ANN401 (fields)
    """Let our worker run a job and say so."""
    batch, worker = await watched(world, **monitor), await world.worker(world.pool)
    (one,) = await worker.claim_and_start()
    await worker.beat(one)
    return batch, worker, one


async def test_attempt_beyond_its_limit_is_stopped_and_runs_again(world: World) -> None:
    batch, worker, one = await running(world, executing_s=60)
    early = await look(world, in_s=50)
    (row,) = await look(world, in_s=61)
    told = (await worker.beat(one)).to_stop
    stopped, held = await world.states(batch), await worker.claim()
    verdicts = await worker.end(one)
    gone = await look(world)
    (again,) = await worker.claim_and_start()
    await worker.end(again)

    assert (early, gone, held) == ([], [], [])
    assert (row["batch_id"], row["job_id"], row["goes_on"]) == (batch, 1, True)
    assert row["message"] == "phase executing took longer than 60 s; stopped 1 of 3 times"
    assert list(told) == [(batch, 1, 1)]
    assert stopped == "b"
    assert list(verdicts) == ["stale"]
    assert again.attempt == 2
    assert await world.states(batch) == "s"
    first, _ = await world.attempts(batch)
    assert (Reason(first["reason"]), first["message"]) == (Reason.OVERDUE, row["message"])


async def test_stopped_attempt_cannot_succeed(world: World) -> None:
    """Its worker says what it used and wrote; its end stays as it is."""
    batch, worker, one = await running(world, executing_s=60)
    await look(world, in_s=61)
    said = msgspec.structs.replace(end_report(one), memory_peak_bytes=7, stdout_bytes=500)
    verdicts = [
        *await worker.store.complete_attempts(worker.id, [said, end_report(one)]),
        *await worker.start(one),
        *await worker.store.record_phases(worker.id, [phase(one, Phase.PUBLISHING)]),
    ]
    (attempt,) = await world.attempts(batch)

    assert verdicts == ["stale"] * 4
    assert (attempt["reason"], attempt["memory_peak_bytes"]) == (16, 7)
    assert await world.counts(batch) == {"blocked": 1}


async def test_job_is_stopped_a_bounded_number_of_times(world: World) -> None:
    worker = await world.worker(world.pool)
    batch = await watched(world, executing_s=60, rounds=2.0)
    stopped: list[Mapping[str, Any]] = []
    for n in range(1, 4):
        (one,) = await worker.claim_and_start()
        await worker.beat(one)
        stopped += await look(world, in_s=61 * n)
        await worker.end(one)
        await look(world)

    assert [row["goes_on"] for row in stopped] == [True, True, False]
    assert stopped[2]["message"].endswith("took longer than 60 s; was stopped 2 times before")
    assert await worker.claim() == []
    job = await world.api.get_job(world.caller, batch, 1)
    assert (job["state"], job["reason"]) == ("error", "overdue")
    assert await dead_letters(world, batch) == [(16, "phase executing took longer than its limit")]


async def test_queue_may_end_jobs_beyond_a_limit_at_once(world: World) -> None:
    batch, worker, one = await running(world, executing_s=60, action="fail")
    (row,) = await look(world, in_s=61)
    await worker.end(one)
    await look(world)

    assert (row["message"], row["goes_on"]) == ("phase executing took longer than 60 s", False)
    assert await world.states(batch) == "e"


async def test_a_person_who_retries_the_job_gives_it_all_rounds_again(world: World) -> None:
    batch, worker, one = await running(world, executing_s=60, rounds=0)
    await look(world, in_s=61)
    await worker.end(one)
    await look(world)
    await watched(world, 0, executing_s=60, rounds=1)
    await retry(world, batch, 1)
    (again,) = await worker.claim_and_start()
    await worker.beat(again)
    (row,) = await look(world, in_s=122)

    assert (again.attempt, row["goes_on"]) == (2, True)


async def test_each_phase_has_its_own_time(world: World) -> None:
    batch, worker, one = await running(world, executing_s=600, collecting_s=60)
    await worker.store.record_phases(worker.id, [phase(one, Phase.COLLECTING)])
    unseen = await look(world, in_s=601)
    await worker.beat(one)
    early = await look(world, in_s=59)
    (row,) = await look(world, in_s=61)

    assert (unseen, early) == ([], [])
    assert row["message"].startswith("phase collecting took longer than 60 s")
    assert await world.states(batch) == "b"


async def test_attempt_that_its_worker_does_not_name_is_stopped(world: World) -> None:
    batch, worker, one = await running(world, silent_s=60)
    await worker.beat()
    await worker.beat(one)
    named = await look(world, in_s=61)
    await worker.beat()
    (row,) = await look(world, in_s=61)
    await worker.beat()
    await look(world)

    assert named == []
    assert row["message"].startswith("its worker has not named it for 60 s")
    assert await world.states(batch) == "r"


async def test_job_waits_until_its_worker_has_stopped_it(world: World) -> None:
    """The date of a blocked job does not free it; that the worker is lost does."""
    batch, worker, one = await running(world, executing_s=60)
    await look(world, in_s=61)
    await release(world, in_s=HOUR_S)
    await worker.beat(one)
    await look(world)
    waits = await world.states(batch)
    facts = await world.api.why_job(world.caller, batch, 1)
    (row,) = await look(world, in_s=HOUR_S)
    alive = (await worker.beat(one)).alive

    assert waits == "b"
    assert facts.blocked is not None
    assert facts.blocked.stops_on == world.pool
    assert (row["batch_id"], row["message"]) == (None, "did not stop an attempt in time")
    assert not alive
    assert await world.states(batch) == "r"


async def test_job_cancelled_meanwhile_stays_cancelled(world: World) -> None:
    batch, worker, one = await running(world, executing_s=60)
    await look(world, in_s=61)
    await world.cancel(batch)
    await worker.end(one)
    await look(world)

    assert await world.states(batch) == "c"


async def test_jobs_of_queues_without_limits_are_not_noted(world: World) -> None:
    """Those of the default queue are, if it has limits."""
    worker = await world.worker(world.pool)
    await watched(world, 0)
    await world.submit(2)
    one, two = await worker.claim()
    await worker.beat(one, two)
    noted = await watches(world)
    limits = msgspec.to_builtins(MonitorDocument())
    await world.api.save_queues(world.caller, [Queue(name="default", monitor=limits)])
    await worker.end(two)
    await worker.beat(one)

    assert (noted, await watches(world)) == (0, 1)
    await world.api.save_queues(world.caller, [Queue(name="default")])
    await worker.beat(one)
    assert await watches(world) == 0


async def watches(world: World) -> int:
    return int(
        await world.admin.fetchval(
            "SELECT count(*) FROM weft.attempt_watch WHERE tenant_id = $1", world.caller.tenant_id
        )
    )


@pytest.mark.parametrize("phase", Phase)
async def test_database_and_code_agree_on_phases(world: World, phase: Phase) -> None:
    (row,) = await world.call("_phase_word", of_phase=phase.value)
    (limit,) = await world.call(
        "_phase_limit", monitor=msgspec.to_builtins(MonitorDocument()), of_phase=phase.value
    )

    assert row[0] == phase.word
    assert limit[0] == timedelta(seconds=getattr(MonitorDocument(), f"{phase.word}_s"))


async def wait(world: World, batch: int, *, in_s: float) -> list[tuple[int, str]]:
    """Let the driver look at jobs that wait, as if some seconds later; return what it ended."""
    at = datetime.now(UTC) + timedelta(seconds=in_s)
    rows = await world.call("_end_overdue", of_batch_id=batch, after_job=0, last_job=99, at=at)
    return [tuple(row) for row in rows]


async def an_hour_passes(world: World, batch: int) -> None:
    """Let the jobs of a batch have been ready for an hour more."""
    await world.age("batch_update", "committed_at", by_s=3600, batch_id=batch)
    await let_attempts_age(world, batch, hours=1)
    await world.age("job", "ready_at", by_s=3600, batch_id=batch)


async def dead_letters(world: World, batch: int) -> list[tuple[int, str]]:
    rows = await world.admin.fetch(
        "SELECT c.reason, c.message FROM weft.dead_letter d JOIN weft.failure_cause c "
        "USING (batch_id, cause_id) WHERE batch_id = $1 UNION "
        "SELECT c.reason, c.message FROM weft.dead_letter d JOIN weft.failure_delta c "
        "USING (batch_id, cause_id) WHERE batch_id = $1",
        batch,
    )
    return [tuple(row) for row in rows]


async def test_job_that_is_ready_for_too_long_ends(world: World, worker: Worker) -> None:
    """Not before it was ready for so long; those that run, are held or have ended stay."""
    batch = await watched(world, 4, ready_s=60)
    (first,) = await worker.claim(1)
    await worker.end(first)
    (one,) = await worker.claim(1)
    await world.api.hold_jobs(world.caller, batch, [3])
    early = await wait(world, batch, in_s=50)
    late = await wait(world, batch, in_s=61)
    job = await world.api.get_job(world.caller, batch, 4)
    ended = await world.states(batch)
    await an_hour_passes(world, batch)
    held = await wait(world, batch, in_s=61)
    await world.api.release_jobs(world.caller, batch, [3])
    released = await wait(world, batch, in_s=50)

    assert (early, late) == ([], [(1, "it was ready for longer than 60 s")])
    assert (ended, held, released) == ("sRre", [], [])
    assert (job["state"], job["reason"], job["message"]) == (
        "error",
        "overdue",
        "it was ready for longer than 60 s",
    )
    assert await dead_letters(world, batch) == [(16, "it was ready for longer than <n> s")]
    await worker.end(one)


@pytest.mark.parametrize("retries", [True, False])
async def test_time_as_ready_begins_anew_each_time(
    world: World, worker: Worker, *, retries: bool
) -> None:
    """A retry keeps the date at which the job was ready for the first time."""
    batch = await watched(world, ready_s=60)
    for _ in range(2):
        (one,) = await worker.claim_and_start()
        if not retries:
            await an_hour_passes(world, batch)
        await worker.end(one, reason=Reason.EXIT if retries else Reason.PREEMPTED)
        if retries:
            await an_hour_passes(world, batch)
            assert await retry(world, batch) == 1
    again = await wait(world, batch, in_s=50)

    assert (again, await world.states(batch)) == ([], "r")
    assert await wait(world, batch, in_s=61) != []


async def test_job_that_is_blocked_for_too_long_ends(world: World) -> None:
    """One that waits for the stop of its attempt is left to the monitor."""
    stopped, worker, other = await running(world, blocked_s=60, executing_s=60)
    batch = await watched(world, blocked_s=60, executing_s=60)
    (one,) = await worker.claim()
    await worker.end(one, reason=Reason.EXIT, exit_code=75)
    early = await wait(world, batch, in_s=50)
    late = await wait(world, batch, in_s=61)
    await look(world, in_s=61)
    left = await wait(world, stopped, in_s=HOUR_S)

    assert (early, late, left) == ([], [(1, "it was blocked for longer than 60 s")], [])
    assert (await world.states(batch), await world.states(stopped)) == ("e", "b")
    await worker.end(other)


async def test_waiting_is_not_limited_without_being_asked(world: World) -> None:
    """By a queue with other limits, or with none."""
    batch = await watched(world, executing_s=60)
    other = await world.submit(1)

    assert [await wait(world, one, in_s=1e7) for one in (batch, other)] == [[], []]
