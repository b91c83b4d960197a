"""Jobs that failed: their list, and counts by reason, page by page."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import pytest

from builders import end_report, job_rows
from store.batch_steps import delete, remove
from store.retries import fail, release, retried
from store.test_deadlines import due, look
from store.world import Worker, World
from weft.core import errors
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.ports.store import UNKEYED, Claimed, NewGroup, Shape
from weft.store.database import call_on
from weft.store.end_columns import end_columns
from weft.wire.documents.queues import MonitorDocument


async def fold(world: World, limit: int = 1000) -> int:
    """Let the driver add up what it has not; return how many calls that took."""
    calls = 0
    while await world.driver.sweep("fold_failures", await world.lead(), limit_jobs=limit):
        calls += 1
    return calls


async def causes(world: World, batch: int, *, show_all: bool = False) -> list[tuple[Any, ...]]:
    """Return jobs, message and example of the causes of a batch."""
    found = await world.api.list_causes(world.caller, batch, show_all=show_all, limit=100)
    return [
        (one["n_jobs"], one["message"], one["example"] and one["example"]["job_id"])
        for one in found["causes"]
    ]


async def letters(
    world: World,
    batch: int | None = None,
    limit: int = 100,
    **more: Any,  # noqa: ANN401 (as the call)
) -> Sequence[Mapping[str, Any]]:
    return await world.api.list_dead_letters(world.caller, batch_id=batch, limit=limit, **more)


async def acknowledge(world: World, batch: int, **more: Any) -> int:  # noqa: ANN401 (as the call)
    wanted: dict[str, Any] = {"cause_id": None, "job_ids": None, "until": None, "limit": 1000}
    return await world.api.acknowledge_failures(
        world.caller, batch, note="seen to", **{**wanted, **more}
    )


async def say(worker: Worker, *ends: tuple[Claimed, str]) -> None:
    """Let jobs fail with these messages."""
    reports = [end_report(one, Reason.EXIT, exit_code=1, message=text) for one, text in ends]
    assert set(await worker.store.complete_attempts(worker.id, reports)) == {"ok"}


async def failed_batch(world: World, n_jobs: int = 5) -> int:
    """Submit jobs that fail: those with odd numbers for one cause, the others for another."""
    batch = await world.submit(n_jobs)
    worker = await world.worker(f"w{batch}")
    claimed = await worker.claim()
    said = [f"row {one.job_id} is bad" if one.job_id % 2 else "no disk" for one in claimed]
    await say(worker, *zip(claimed, said, strict=True))
    return batch


@pytest.mark.parametrize("folded", [False, True])
async def test_failures_are_counted_by_cause(world: World, *, folded: bool) -> None:
    batch = await failed_batch(world)
    if folded:
        assert await fold(world, limit=1) > 1
    found = await world.api.list_causes(world.caller, batch, show_all=False, limit=1)

    assert await causes(world, batch) == [(3, "row <n> is bad", 1), (2, "no disk", 2)]
    assert (found["n_jobs"], found["n_causes"], len(found["causes"])) == (5, 2, 1)
    assert found["causes"][0]["example"] == {"job_id": 1, "attempt": 1, "message": "row 1 is bad"}
    assert found["causes"][0]["reason"] == "exit"


async def test_only_failures_for_good_are_dead_letters(world: World) -> None:
    batch, worker, (first, second) = await world.submit_and_claim(retried(2, tries=2))
    await worker.end(first)
    await fail(worker, second, code=3)
    waits = await letters(world, batch)
    await release(world, in_s=61)
    await fail(worker, *await worker.claim(), code=3)
    (letter,) = await letters(world, batch)

    assert waits == []
    assert (letter["job_id"], letter["state"], letter["exit_code"]) == (2, "failed", 3)
    assert (letter["attempt"], letter["final_retry_count"]) == (2, 1)


async def test_reasons_and_codes_are_causes(world: World) -> None:
    batch, worker, (one, two, three, four) = await world.submit_and_claim(4)
    await fail(worker, one, code=1)
    await fail(worker, two, code=2)
    await worker.end(three, reason=Reason.SIGNAL)
    await worker.end(four, reason=Reason.TIMEOUT)

    assert len(await causes(world, batch)) == 4
    assert [one["job_id"] for one in await letters(world, batch, reason=Reason.TIMEOUT)] == [4]
    assert {one["reason"] for one in await letters(world, batch)} == {"exit", "signal", "timeout"}


async def test_late_jobs_are_dead_letters(world: World) -> None:
    batch = await world.submit(due(job_rows(2), 60, 1, 2))
    await look(world, in_s=61)
    (letter, _) = await letters(world, batch)

    assert await causes(world, batch) == [(2, "could not end by its deadline", 1)]
    assert (letter["state"], letter["reason"], letter["attempt"]) == ("error", "deadline", 0)
    assert letter["final_retry_count"] == 0


async def test_lost_too_often_is_a_dead_letter(world: World, worker: Worker) -> None:
    batch = await world.submit(1)
    while claimed := await worker.claim():
        await worker.start(*claimed)
        await worker.end(*claimed, reason=Reason.LOST, message="its worker was lost")

    assert await world.states(batch) == "e"
    assert await causes(world, batch) == [(1, "its worker was lost", 1)]


async def test_list_goes_on_after_a_key(world: World) -> None:
    old, new = await failed_batch(world), await failed_batch(world)
    found: list[Mapping[str, Any]] = []
    after = None
    while page := await letters(world, limit=3, after=after):
        found += page
        after = (page[-1]["batch_id"], page[-1]["cause_id"], page[-1]["job_id"])

    ids = [(one["batch_id"], one["job_id"]) for one in found]
    assert len(ids) == len(set(ids)) == 10
    assert [batch for batch, _ in ids] == [new] * 5 + [old] * 5
    assert len({one["cause"] for one in found}) == 2
    of_one = await letters(world, cause_id=found[0]["cause_id"])
    assert {one["cause"] for one in of_one} == {found[0]["cause"]}
    assert {one["batch_id"] for one in of_one} == {new, old}


async def test_acknowledged_jobs_leave_the_list(world: World) -> None:
    batch = await failed_batch(world)
    (disk, _) = await letters(world, batch, limit=2, after=None)
    cause = disk["cause_id"]
    of_cause = len(await letters(world, batch, cause_id=cause))
    assert await acknowledge(world, batch, cause_id=cause) == of_cause
    left = await letters(world, batch)
    seen = await letters(world, batch, acknowledged=True)
    history = await world.api.job_history(world.caller, batch, seen[0]["job_id"])
    job = await world.api.get_job(world.caller, batch, seen[0]["job_id"])

    assert len(left) == 5 - of_cause
    assert len(await causes(world, batch)) == 1
    assert len(await causes(world, batch, show_all=True)) == 2
    assert seen[0]["acknowledged"]["note"] == "seen to"
    assert seen[0]["acknowledged"]["by"] == "user ada"
    assert (history[-1]["subtype"], history[-1]["message"]) == ("acknowledged", "seen to")
    assert (job["state"], job["reason"]) == ("failed", "exit")
    assert await acknowledge(world, batch, cause_id=cause) == 0
    await fold(world)


async def test_acknowledged_in_bounded_sets_up_to_a_date(world: World) -> None:
    batch = await failed_batch(world)
    early = datetime.now(UTC) - timedelta(hours=1)

    assert await acknowledge(world, batch, until=early) == 0
    assert await acknowledge(world, batch, job_ids=[2, 2, 99]) == 1
    assert [await acknowledge(world, batch, limit=3) for _ in range(3)] == [3, 1, 0]
    assert await letters(world) == []
    found = await world.api.list_causes(world.caller, batch, show_all=False, limit=9)
    assert (found["n_jobs"], found["n_acknowledged"], found["causes"]) == (0, 5, [])


async def test_acknowledged_error_keeps_its_reason(world: World) -> None:
    batch = await world.submit(due(job_rows(1), 60, 1))
    await look(world, in_s=61)
    await acknowledge(world, batch)

    assert (await world.api.get_job(world.caller, batch, 1))["reason"] == "deadline"


async def fail_again(world: World, batch: int, *jobs: int) -> None:
    """Note jobs that were forgotten, as if they had run again and failed."""
    n = len(jobs)
    await world.call(
        "_add_dead_letters",
        batch_ids=[batch] * n,
        job_ids=list(jobs),
        reasons=[Reason.EXIT] * n,
        exit_codes=[1] * n,
        signals=[None] * n,
        messages=["no disk"] * n,
        at=datetime.now(UTC),
    )


async def test_job_that_runs_again_is_forgotten(world: World) -> None:
    batch = await failed_batch(world)
    await acknowledge(world, batch, job_ids=[1])
    await fold(world)
    await world.call("_forget_failures", of_batch_id=batch, of_job_ids=[1, 2, 99])
    before = await causes(world, batch)
    await fold(world)
    after = await causes(world, batch)
    listed = {one["job_id"] for one in await letters(world, batch)}
    seen = await letters(world, batch, acknowledged=True)
    await fail_again(world, batch, 1, 2, 3)

    assert before == after == [(2, "row <n> is bad", 3), (1, "no disk", 4)]
    assert listed == {3, 4, 5}
    assert seen == []
    assert await causes(world, batch) == [(3, "no disk", 1), (2, "row <n> is bad", 3)]


async def test_cause_without_jobs_is_removed(world: World) -> None:
    batch = await failed_batch(world)
    await world.call("_forget_failures", of_batch_id=batch, of_job_ids=[1, 2, 3, 4, 5])
    await fold(world, limit=1)
    rows = "SELECT count(*) FROM weft.failure_cause WHERE batch_id = $1"
    n_causes, found = await world.admin.fetchval(rows, batch), await causes(world, batch)
    await fail_again(world, batch, 1, 2, 3, 4, 5)

    assert (n_causes, found) == (0, [])


async def test_deleted_batch_has_none(world: World) -> None:
    batch = await failed_batch(world)
    await fold(world)
    operation = await delete(world, batch)
    listed = await letters(world)
    await remove(world, operation)

    assert listed == []
    for table in ("dead_letter", "failure_cause", "failure_delta"):
        rows = f"SELECT count(*) FROM weft.{table} WHERE batch_id = $1"  # noqa: S608 (above)
        assert await world.admin.fetchval(rows, batch) == 0


GROUPS = [
    NewGroup(group_id=1, parent_id=0, name="a"),
    NewGroup(group_id=2, parent_id=1, name="b"),
    NewGroup(group_id=3, name="s", is_set=True),
]


async def reasons(
    world: World, batch: int, group: int = 0, *, limit: int = 1000
) -> dict[str, int]:
    """Return the counts of all pages, by reason and exit code."""
    found: dict[str, int] = {}
    after: int | None = 0
    while after is not None:
        rows, after = await world.api.count_reasons(
            world.caller, batch, group, after=after, limit=limit
        )
        for row in rows:
            words = [row["state"], row["reason"], row["exit_code"], row["signal"]]
            key = " ".join(str(word) for word in words if word is not None)
            found[key] = found.get(key, 0) + row["n_jobs"]
    return found


async def end_some(worker: Worker, claimed: Sequence[Claimed]) -> None:
    """End the first job well, the second by exit, the third by its time limit, and so on."""
    await worker.end(*claimed[::4])
    await worker.end(*claimed[1::4], reason=Reason.EXIT, exit_code=3)
    await worker.end(*claimed[2::4], reason=Reason.TIMEOUT)
    await worker.end(*claimed[3::4], reason=Reason.BAD_SPEC)


async def test_reasons_are_counted_by_group_and_by_page(world: World, worker: Worker) -> None:
    batch = await world.submit(
        job_rows(13, group=[0, 1, 2] * 4 + [0], sets={2: (3,), 3: (3,), 4: (3,)}), groups=GROUPS
    )
    other = await world.submit(1)
    assert await reasons(world, batch) == {}
    claimed = [one for one in await worker.claim() if one.batch_id == batch]
    await end_some(worker, sorted(claimed, key=lambda one: one.job_id)[:12])

    whole = {"failed exit 3": 3, "error timeout": 3, "error bad_spec": 3}
    assert [await reasons(world, batch, limit=limit) for limit in (1, 2, 3, 9, 10)] == [whole] * 5
    assert await reasons(world, batch, 1) == {
        "failed exit 3": 2,
        "error timeout": 2,
        "error bad_spec": 2,
    }
    assert await reasons(world, batch, 3) == {
        "failed exit 3": 1,
        "error timeout": 1,
        "error bad_spec": 1,
    }
    assert await reasons(world, other) == {}
    rows, _ = await world.api.count_reasons(world.caller, batch, 0, after=0, limit=1000)
    assert [row["first_job"] for row in rows] == [2, 3, 4]


async def test_only_the_last_attempt_of_a_failed_job_counts(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(2, max_attempts=3, retry_on=[Reason.EXIT]))
    for first, second in ((1, 4), (2, 5), (None, 6)):
        one, two = sorted(await worker.claim(), key=lambda one: one.job_id)
        await worker.end(one, reason=Reason.EXIT if first else None, exit_code=first)
        await worker.end(two, reason=Reason.EXIT, exit_code=second)

    assert await world.states(batch) == "sf"
    assert await reasons(world, batch, limit=1) == {"failed exit 6": 1}


async def test_reasons_of_what_does_not_exist(world: World) -> None:
    batch = await world.submit(1)

    with pytest.raises(errors.GroupNotFound):
        await reasons(world, batch, 7)
    with pytest.raises(errors.BatchNotFound):
        await reasons(world, batch + 1_000_000)


GROUPS_AT_ONCE = [
    NewGroup(group_id=1, parent_id=0, name="a", cancel_after_n_failures=9),
    NewGroup(group_id=2, parent_id=0, name="b", cancel_after_n_failures=9),
]
GONE = Shape(words=(("queue", "gone"),))
"""Of jobs that cannot go back into their queue."""


async def end(
    world: World, worker: Worker, claimed: Sequence[Claimed], reasons: Sequence[Reason]
) -> Any:  # noqa: ANN401 (verdicts)
    """Report ends on a connection of its own, and do not try again."""
    columns = end_columns(
        [end_report(one, reason) for one, reason in zip(claimed, reasons, strict=True)]
    )
    connection = await world.connect("weft_worker")
    rows = await call_on(connection, "complete_attempts", incarnation_id=worker.id, **columns)
    return rows[0][0]


async def failures(world: World, batch: int) -> list[int]:
    rows = await world.admin.fetch(
        "SELECT n_failures FROM weft.failure_count WHERE batch_id = $1 ORDER BY group_id", batch
    )
    return [row["n_failures"] for row in rows]


async def test_ends_of_which_one_cannot_go_back_into_its_queue(world: World) -> None:
    """A job of the second group fails; one of the first is to be tried again, and cannot be."""
    rows = job_rows(
        5,
        group=[2, 1, 1, 2, 0],
        parents={5: [1]},
        shapes=[Shape(), GONE],
        shape_index=[0, 1, 0, 0, 0],
        max_attempts=2,
        retry_on=[Reason.EXIT],
    )
    batch, worker = await world.submit_to_worker(rows, groups=GROUPS_AT_ONCE)
    claimed = sorted(await worker.claim(), key=lambda one: one.job_id)
    await worker.start(*claimed)
    async with world.transaction() as holder:
        await holder.execute(
            "SELECT FROM weft.job WHERE batch_id = $1 AND job_id = 5 FOR UPDATE", batch
        )
        first = await world.start_waiting(
            end(world, worker, claimed[:2], [Reason.OOM, Reason.EXIT])
        )
        second = asyncio.create_task(end(world, worker, claimed[2:], [Reason.OOM, Reason.OOM]))
        await world.until_somebody_waits(2)
    verdicts = [await first, await second]
    await world.sweep()

    assert verdicts == [["ok", "ok"], ["ok", "ok"]]
    assert await world.states(batch) == "eeeec"
    assert await failures(world, batch) == [2, 2]


async def test_jobs_that_waited_too_long_for_several_reasons(world: World, worker: Worker) -> None:
    """A blocked job of the second group, and one of the first that is ready."""
    limits = msgspec.to_builtins(MonitorDocument(ready_s=60, blocked_s=60))
    queue = Queue(name="q", priority=1, pools=(world.pool,), monitor=limits)
    await world.api.save_queues(world.caller, [queue])
    rows = job_rows(
        4,
        group=[2, 1, 2, 1],
        priority=[9, 9, 9, 0],
        max_attempts=2,
        shapes=[Shape(words=(("pool", world.pool), ("queue", "q")))],
    )
    batch = await world.submit(rows, groups=GROUPS_AT_ONCE)
    blocked, *claimed = sorted(await worker.claim(3), key=lambda one: one.job_id)
    await worker.store.complete_attempts(
        worker.id, [end_report(blocked, Reason.EXIT, exit_code=75)]
    )
    at = datetime.now(UTC) + timedelta(seconds=3600)
    before = await world.states(batch)
    holder, patrol = await world.connect(), await world.connect()
    async with holder.transaction():
        await holder.execute("SELECT pg_advisory_xact_lock(7701, 0)")  # nobody may announce
        first = await world.start_waiting(
            call_on(patrol, "_end_overdue", of_batch_id=batch, after_job=0, last_job=99, at=at)
        )
        second = asyncio.create_task(end(world, worker, claimed, [Reason.OOM, Reason.OOM]))
        await world.until_somebody_waits(2)
    ended, _ = await first, await second

    assert before == "bRRr"
    assert [row["n_jobs"] for row in ended] == [1, 1]
    assert await world.states(batch) == "eeee"
    assert await failures(world, batch) == [2, 2]


async def test_nth_failure_while_members_are_added_to_a_set(world: World, worker: Worker) -> None:
    """The report cancels the group under the lock of the batch, and has counted in the set."""
    groups = [
        NewGroup(group_id=1, parent_id=0, name="a", cancel_after_n_failures=1),
        NewGroup(group_id=2, parent_id=0, name="s", is_set=True, cancel_after_n_failures=9),
    ]
    batch = await world.submit(job_rows(2, group=[1, 0], sets={1: (-2,)}), groups=groups)
    claimed = sorted(await worker.claim(), key=lambda one: one.job_id)
    async with world.transaction("weft_api") as adder:
        await adder.execute(
            "SELECT pg_advisory_xact_lock_shared($1)", batch
        )  # as add_members does
        report = await world.start_waiting(end(world, worker, claimed[:1], [Reason.OOM]))
        (added,) = await call_on(
            adder,
            "add_members",
            tenant_id=world.caller.tenant_id,
            batch_id=batch,
            group_id=2,
            job_ids=[2],
            sets_max=9,
        )

    assert await report == ["ok"]
    assert (added["n_added"], added["busy"]) == (0, [2])  # they are added with the next call


async def test_nth_failure_while_jobs_are_retried(world: World, worker: Worker) -> None:
    """It holds the counter, and waits for the batch, of which the retry has a share."""
    batch = await world.submit(2, cancel_after_n_failures=3)
    for claimed in await worker.claim():
        await worker.end(claimed, reason=Reason.EXIT)
    operation = await world.api.retry_jobs(world.caller, batch, UNKEYED)
    step = partial(
        world.driver.retry_failed,
        await world.lead(),
        operation,
        matching=None,
        looked_upto=None,
        limit=9,
    )
    async with world.transaction("admin") as other:
        await other.execute("SELECT FROM weft.failure_count WHERE batch_id = $1 FOR UPDATE", batch)
        during = await step(), await world.states(batch)
    after = await step(), await world.states(batch)

    assert during == ("busy", "ff")
    assert after == ("moved", "rr")
