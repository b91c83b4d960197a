"""Conditions: jobs that wait for the same thing share one test, and go on together."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from builders import tree
from contexts import beside
from store.batch_steps import delete, remove
from store.retries import let_attempts_age, release, retried
from store.test_waiting import ear
from store.world import Worker, World, open_world
from weft.core.access.rights import UserRole
from weft.core.ends.conditions import Ask
from weft.core.states import AttemptKey, Reason
from weft.driver.adapters import Adapters
from weft.driver.loops import conditions as loop
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import LoopContext
from weft.ports.store import Caller, Claimed
from weft.run.isolated.asking.messages import ConditionTests
from weft.settings import Settings

ASK = Ask("connection_failed", "tcp", {"host": "h", "port": "80"})


async def block(worker: Worker, *claimed: Claimed, ask: Ask = ASK) -> None:
    """Let attempts ask for something and end with 75, as an agent reports it."""
    for one in claimed:
        key = AttemptKey(one.batch_id, one.job_id, one.attempt)
        assert await worker.store.ask_block(worker.id, key, ask)
    assert set(await worker.end(*claimed, reason=Reason.EXIT, exit_code=75)) == {"ok"}


def operator(world: World) -> Caller:
    """Return somebody who sees the tenant, conditions without jobs included."""
    return replace(world.caller, role=UserRole.OPERATOR)


async def conditions(world: World) -> list[Any]:
    return list(await world.api.list_conditions(operator(world), after_id=0, limit=100))


def soon(in_s: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=in_s)


async def due(world: World, at: datetime) -> list[int]:
    """Return which conditions of this world are due at a time."""
    rows = await world.call(
        "due_conditions", epoch=await world.lead(), busy=[], limit_rows=1000, at=at
    )
    ours = {one["condition_id"] for one in await conditions(world)}
    return [row["condition_id"] for row in rows if row["condition_id"] in ours]


async def postpone(
    world: World, found: Sequence[int], at: datetime, jobs: int, due_s: float = 0.0
) -> int:
    rows = await world.call(
        "postpone_conditions",
        epoch=await world.lead(),
        condition_ids=found,
        limit_jobs=jobs,
        due_s=due_s,
        at=at,
    )
    return int(rows[0][0])


async def record(
    world: World, found: Sequence[int], at: datetime, *, passed: bool, said: str = "so"
) -> list[int]:
    """Record the same of several tests; return the conditions at which that is new."""
    rows = await world.call(
        "record_tests",
        epoch=await world.lead(),
        condition_ids=found,
        at=at,
        have_passed=[passed] * len(found),
        messages=[said] * len(found),
    )
    return [row[0] for row in rows]


async def look(world: World, at: datetime, *, passed: bool = True, jobs: int = 1000) -> list[int]:
    """Test what is due at a time, as the driver does; return the conditions."""
    epoch, found = await world.lead(), await due(world, at)
    while not passed and await postpone(world, found, at, jobs):
        pass
    await record(world, found, at, passed=passed)
    while (await world.call("release_conditions", epoch=epoch, limit_jobs=jobs, at=at))[0][0]:
        pass
    return found


async def dates(world: World, batch: int) -> Sequence[float]:
    """Return in how many seconds each blocked job is due, in whole seconds."""
    rows = await world.admin.fetch(
        "SELECT extract(epoch FROM next_at - blocked_at)::float8 AS s FROM weft.blocked_job "
        "WHERE batch_id = $1 ORDER BY job_id",
        batch,
    )
    return [round(row["s"]) for row in rows]


async def test_jobs_that_ask_the_same_share_a_condition(world: World) -> None:
    batch, worker, (first, second, third, fourth) = await world.submit_and_claim(4)
    await block(worker, first, second)
    await block(worker, third, ask=Ask("quota", ASK.tester, ASK.parameters))
    await block(worker, fourth, ask=Ask("quota", "tcp", {"host": "other", "port": "80"}))
    found = await conditions(world)

    assert [(one["condition"], one["n_jobs"]) for one in found] == [
        ("connection_failed", 3),
        ("quota", 1),
    ]
    assert found[0]["parameters"] == ASK.parameters
    assert await world.counts(batch) == {"blocked": 4}
    assert await release(world, in_s=1000) == 0  # their dates alone release none


async def test_a_request_without_an_external_error_is_forgotten(world: World) -> None:
    batch, worker, (one, two) = await world.submit_and_claim(retried(2))
    for attempt in (one, two):
        key = AttemptKey(attempt.batch_id, attempt.job_id, attempt.attempt)
        assert await worker.store.ask_block(worker.id, key, ASK)
    await worker.end(one, reason=Reason.EXIT, exit_code=1)
    await worker.end(two)
    await release(world, in_s=61)
    (again,) = await worker.claim()
    await worker.end(again, reason=Reason.EXIT, exit_code=75)

    assert await conditions(world) == []
    assert await world.states(batch) == "bs"


async def test_test_is_made_at_the_earliest_date(world: World) -> None:
    """Each job keeps its own steps: one that came later does not inherit those of the others."""
    batch, worker, (first, second) = await world.submit_and_claim(2)
    await block(worker, first)
    early = await due(world, soon(9))
    for in_s in (11, 22, 43):
        assert len(await look(world, soon(in_s), passed=False)) == 1
    waited = await dates(world, batch)
    await block(worker, second)

    assert early == []
    assert await dates(world, batch) == [*waited, 10]
    assert [one >= 63 for one in waited] == [True]  # after 10, 10 and 20 s then 20 s more
    assert len(await due(world, soon(12))) == 1
    (one,) = await conditions(world)
    assert (one["passed"], one["message"], one["n_jobs"]) == (False, "so", 2)


async def test_jobs_wait_on_once_however_long_that_takes(world: World, worker: Worker) -> None:
    """A job that is due again before the last one waits on has to wait for the next test."""
    batch = await world.submit(3)
    await block(worker, *await worker.claim())
    found = await due(world, soon(11))
    moved = [
        await postpone(world, found, soon(11 + late_s), 1, late_s) for late_s in range(0, 60, 12)
    ]

    assert moved == [1, 1, 1, 0, 0]
    assert sorted(await dates(world, batch)) == [21, 33, 45]


async def test_tests_are_recorded_together(world: World, worker: Worker) -> None:
    """Each with what it said; what is not new is not told."""
    batch = await world.submit(5)
    for number, one in enumerate(await worker.claim()):
        await block(worker, one, ask=Ask("quota", "tcp", {"host": f"h{number}", "port": "1"}))
    found, at = await due(world, soon(11)), soon(11)
    moved = [await postpone(world, found, at, 2) for _ in range(4)]
    new = await record(world, found, at, passed=False, said="no")
    again = await record(world, found[:3], at, passed=False, said="no")
    changed = await record(world, found[:2], at, passed=False, said="really not")
    passed = await record(world, found[:1], at, passed=True, said="really not")

    assert len(found) == 5
    assert moved == [2, 2, 1, 0]
    assert await dates(world, batch) == [21] * 5
    assert sorted(new) == sorted(found)
    assert again == []
    assert sorted(changed) == sorted(found[:2])
    assert passed == found[:1]
    assert {
        one["condition_id"]: (one["passed"], one["message"], one["n_jobs"])
        for one in await conditions(world)
    } == {
        found[0]: (True, "really not", 1),
        found[1]: (False, "really not", 1),
        **dict.fromkeys(found[2:], (False, "no", 1)),
    }


async def test_jobs_of_several_batches_are_given_up(world: World, worker: Worker) -> None:
    """In as many steps as there are batches."""
    batches = [await world.submit(2) for _ in range(3)]
    await block(worker, *await worker.claim())
    await let_attempts_age(world, *batches)
    await look(world, soon(11), passed=False)

    assert [await world.states(batch) for batch in batches] == ["ee"] * 3


async def test_room_in_a_pool_is_what_its_workers_have_left(world: World) -> None:
    """A cordoned worker takes no jobs."""
    await world.submit(4)
    worker = await world.worker(cpu_m=4000)
    await block(worker, *await worker.claim(1))
    await worker.claim(3)  # of a core each
    epoch, pool, (one,) = await world.lead(), world.pool, await conditions(world)
    test = partial(world.driver.test_pool, epoch, one["condition_id"], pool)
    left = [await test(cpu_m) for cpu_m in (0, 1000, 1001)]
    await world.api.cordon_worker(world.caller, "w", pool, reason="")
    gone = await test(0)

    assert [one.passed for one in left] == [True, True, False]
    assert left[2].message == f"no active worker of pool {pool} has 1.001 free cores"
    assert (gone.passed, gone.message) == (False, f"pool {pool} has no active worker")


async def test_few_go_at_first_then_twice_as_many(world: World, worker: Worker) -> None:
    batch = await world.submit(75)
    await block(worker, *await worker.claim())
    released = []
    for in_s in (11, 72, 133):
        at = soon(in_s)
        assert len(await look(world, at, jobs=7)) == 1
        released.append((await world.counts(batch)).get("ready", 0))
        assert await look(world, at) == []  # not before the next date
    (one,) = await conditions(world)

    assert released == [10, 30, 70]
    assert (one["n_jobs"], one["n_next"]) == (5, 80)


async def test_job_that_comes_back_stops_the_others(world: World, worker: Worker) -> None:
    """What let them go was wrong: nobody goes before the date of the one that came back."""
    batch = await world.submit(40)
    await block(worker, *await worker.claim())
    await look(world, soon(11))
    await look(world, soon(72))
    back, *others = await worker.claim()
    await worker.end(*others)
    await block(worker, back)
    (one,) = await conditions(world)
    next_at = await world.admin.fetchval(
        "SELECT next_at FROM weft.blocked_job WHERE batch_id = $1 AND job_id = $2",
        batch,
        back.job_id,
    )
    await look(world, soon(11))

    assert (one["n_jobs"], one["n_next"]) == (11, 10)
    assert datetime.fromisoformat(one["next_test_at"]) == next_at
    assert await world.counts(batch) == {"ready": 10, "blocked": 1, "succeeded": 29}


async def test_job_that_comes_back_during_a_release_stops_it(world: World, worker: Worker) -> None:
    batch = await world.submit(10)
    await block(worker, *await worker.claim())
    epoch, at = await world.lead(), soon(11)
    (one,) = await due(world, at)
    await record(world, [one], at, passed=True)
    await world.call("release_conditions", epoch=epoch, limit_jobs=3, at=at)
    await block(worker, *await worker.claim(1))
    while (await world.call("release_conditions", epoch=epoch, limit_jobs=3, at=at))[0][0]:
        pass

    assert await world.counts(batch) == {"ready": 2, "blocked": 8}


async def test_condition_is_over_when_no_job_waits(world: World, worker: Worker) -> None:
    """The same incident goes on if a job comes back at once."""
    batch = await world.submit(2)
    await block(worker, *await worker.claim())
    (before,) = await conditions(world)
    await look(world, soon(11))
    (kept,) = await conditions(world)
    one, two = await worker.claim()
    await worker.end(one)
    await block(worker, two)
    (same,) = await conditions(world)
    await look(world, soon(11))
    await worker.run()
    await due(world, soon(100))

    assert kept["n_jobs"] == 0
    assert same["condition_id"] == before["condition_id"]
    assert same["n_jobs"] == 1
    assert await conditions(world) == []
    assert await world.states(batch) == "ss"
    assert (await world.job(batch, 2))["attempt"] == 3


async def test_blocked_attempts_do_not_count(world: World, worker: Worker) -> None:
    batch = await world.submit(1)
    for _ in range(3):
        await block(worker, *await worker.claim())
        await look(world, soon(100))
    await worker.run(reason=Reason.EXIT)

    job = await world.job(batch)
    assert await world.states(batch) == "f"
    assert (job["attempt"], job["n_uncounted"], job["max_attempts"]) == (4, 3, 1)


async def test_job_that_waits_too_long_is_given_up(world: World) -> None:
    """48 hours after the first external error, whatever was tested since."""
    batch, worker, (first, *others) = await world.submit_and_claim(3)
    await block(worker, first)
    await let_attempts_age(world, batch)
    await block(worker, *others)
    await look(world, soon(11), passed=False)
    job = await world.api.get_job(world.caller, batch, 1)
    (one,) = await conditions(world)

    assert await world.states(batch) == "ebb"
    assert (job["state"], job["reason"], job["exit_code"]) == ("error", "blocked", 75)
    assert one["n_jobs"] == 2


async def test_cancel_that_is_under_way_wins_over_a_release(world: World, worker: Worker) -> None:
    """Whichever began first."""
    batch = await world.submit(3)
    await block(worker, *await worker.claim())
    async with world.during_request("cancel_jobs", batch, job_ids=[1], actor="x"):
        await look(world, soon(11))
        released = await world.states(batch)
    await block(worker, *await worker.claim())
    (one,) = await conditions(world)
    await world.api.release_condition(world.caller, one["condition_id"], 9)
    async with world.during(
        "admin", "release_conditions", epoch=await world.lead(), limit_jobs=1, at=datetime.now(UTC)
    ):
        cancelling = await world.start_waiting(world.api.cancel_jobs(world.caller, batch, [2, 3]))
    answer = await cancelling

    assert released == "brr"
    assert answer == {2: "cancelled", 3: "cancelled"}
    assert await world.states(batch) == "ccc"
    assert await worker.claim() == []


async def test_cancelled_group_is_not_released(world: World, worker: Worker) -> None:
    batch = await world.submit(retried(3, group=[0, 1, 0]), groups=tree("a"))
    await block(worker, *await worker.claim())
    await world.api.cancel_group(world.caller, batch, 1, force=False)
    await look(world, soon(61))

    assert await world.states(batch) == "rcr"


async def test_batch_with_jobs_at_a_condition_is_deleted(world: World) -> None:
    batch, worker, (one, two) = await world.submit_and_claim(2)
    await block(worker, one)
    assert await worker.store.ask_block(worker.id, AttemptKey(batch, 2, two.attempt), ASK)
    await worker.end(two)
    await remove(world, await delete(world, batch))
    left = await world.admin.fetchval(
        "SELECT (SELECT count(*) FROM weft.blocked_job WHERE batch_id = $1) + "
        "(SELECT count(*) FROM weft.block_request WHERE batch_id = $1)",
        batch,
    )
    (empty,) = await conditions(world)

    assert (left, empty["n_jobs"]) == (0, 0)


@pytest.mark.parametrize("asked", ["blocked", "released", "failed", "tested"])
async def test_notice_tells_the_driver(world: World, asked: str) -> None:
    _, worker, (first, second) = await world.submit_and_claim(2)
    await block(worker, first)
    number = (await conditions(world))[0]["condition_id"]
    listener = await ear(world, "driver")
    await {
        "blocked": lambda: block(worker, second),
        "released": lambda: world.api.release_condition(world.caller, number, 1),
        "failed": lambda: world.api.fail_condition(world.caller, number),
        "tested": lambda: world.api.test_condition(world.caller, number),
    }[asked]()

    await listener.until("conditions")


async def test_events_tell_when_an_incident_begins_and_ends(world: World) -> None:
    """Once each, and with no batch, to those who see one of the batches."""
    start = await world.api.events_now()
    batch, worker, (first, *others) = await world.submit_and_claim(3)
    await block(worker, first)
    await block(worker, *others)
    (one,) = await conditions(world)
    await world.api.cancel_group(world.caller, batch, 0, force=False)
    await world.driver.sweep("sweep_cancelled", await world.lead(), limit_jobs=10)
    await due(world, soon(11))
    told, _ = await world.api.list_events(world.caller, after=start, batch_id=None, limit=100)
    of_batch, _ = await world.api.list_events(world.caller, after=start, batch_id=batch, limit=100)
    rows = [row for row in told if row["kind"].startswith("condition.")]

    assert [(row["kind"], row["batch_id"]) for row in rows] == [
        ("condition.opened", 0),
        ("condition.closed", 0),
    ]
    opened, closed = [row["detail"] for row in rows]
    assert (opened["condition_id"], opened["n_jobs"]) == (one["condition_id"], 1)
    assert (opened["since"], opened["parameters"]) == (one["since"], ASK.parameters)
    assert opened["next_test_at"] == one["next_test_at"]
    assert closed["condition_id"] == one["condition_id"]
    assert "condition.opened" not in {row["kind"] for row in of_batch}


async def test_why_of_a_batch_names_the_incident(world: World, worker: Worker) -> None:
    batch = await world.submit(3)
    await block(worker, *await worker.claim())
    facts = await world.api.why_group(world.caller, batch, 0)

    assert [(one.job_id, one.state) for one in facts.ready] == [(1, "blocked")]
    assert facts.ready[0].blocked is not None
    assert facts.ready[0].blocked.condition is not None
    assert facts.ready[0].blocked.condition.n_jobs == 3


async def ask_http(world: World, port: int, path: str, n: int) -> None:
    """Let conditions be due, each of one job, whose tests ask this server."""
    _, worker, claimed = await world.submit_and_claim(n)
    for number, one in enumerate(claimed):
        url = {"url": f"http://127.0.0.1:{port}{path}?{number}"}
        await block(worker, one, ask=Ask("quota", "http", url))
    tenant = world.caller.tenant_id
    past = "UPDATE weft.condition SET next_test_at = now() - interval '1 s' WHERE tenant_id = $1"
    await world.admin.execute(past, tenant)


async def test_tenant_whose_server_is_silent_leaves_half_of_the_tests(
    own_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "TESTS_MAX", 4)
    settings = Settings(tester_timeout_s=300, tester_private_hosts="*")
    tests, store, epoch = ConditionTests(settings), own_world.driver, await own_world.lead()
    asked, bell = asyncio.Queue[bytes](), Bell()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.put_nowait((await reader.readuntil(b"\r\n\r\n")).split()[1][:7])
        await reader.read()
        writer.close()

    async with (
        AsyncExitStack() as stack,
        asyncio.timeout(60),
        await asyncio.start_server(serve, "127.0.0.1", 0) as server,
    ):
        stack.push_async_callback(tests.close)
        port = server.sockets[0].getsockname()[1]
        await ask_http(own_world, port, "/greedy", 6)
        busy = [one.condition_id for one in await store.due_conditions(epoch, (), limit=4)]
        assert len(busy) == 2
        assert await store.loop_due(epoch, "conditions", busy[:1], limit=4) is not None
        assert await store.loop_due(epoch, "conditions", busy, limit=4) is None
        context = LoopContext(
            store,
            epoch,
            settings,
            bell,
            DueDate(),
            lambda: None,
            lambda _: None,
            adapters=Adapters(loop.ConditionTester(tests.test)),
        )
        _ = await stack.enter_async_context(beside(loop.LOOP.run(context)))
        held = [await asked.get() for _ in busy]
        modest = await stack.enter_async_context(open_world(own_world.backend))
        await ask_http(modest, port, "/modest", 1)
        bell.ring()
        assert [*held, await asked.get()] == [b"/greedy", b"/greedy", b"/modest"]
