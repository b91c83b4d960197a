"""Workers and their incarnations: registration, heartbeats, loss, leaving."""

import asyncio
import re
from datetime import datetime, timedelta

import asyncpg
import pytest

from builders import end_report, job_rows
from cases import cases
from plans.table_reads import reads
from store.world import Worker, World
from weft.core import errors
from weft.core.scheduling.lease import Budget
from weft.core.states import Reason
from weft.ports.store import Claimed, ClaimRequest
from weft.store.database import call_on

GRACE_S = 30.0


async def beat_at(world: World, worker: Worker, at: datetime, *claimed: object) -> None:
    await world.call(
        "_heartbeat", incarnation_id=worker.id, at=at, draining=False, **columns(*claimed)
    )


def columns(*claimed: object) -> dict[str, list[int]]:
    names = ("batch_id", "job_id", "attempt")
    return {f"{name}s": [getattr(one, name) for one in claimed] for name in names}


async def claim_two(connection: asyncpg.Connection, worker: Worker) -> None:
    """Claim in a transaction that is open."""
    await call_on(
        connection,
        "claim_jobs",
        incarnation_id=worker.id,
        budget_cpu_m=9999,
        budget_memory_mib=9999,
        limit_jobs=2,
    )


async def was_silent(world: World, worker: Worker, seconds: float) -> None:
    await world.age("worker_incarnation", "heartbeat_at", by_s=seconds, incarnation_id=worker.id)


async def lose(world: World) -> list[dict[str, object]]:
    rows = await world.driver.lose_workers(await world.lead(), GRACE_S)
    return [dict(row) for row in rows if str(row["worker"]).startswith(world.pool)]


async def test_registration_may_be_repeated_and_gives_what_is_live(world: World) -> None:
    batch, worker, (one, two, three) = await world.submit_and_claim(3)
    await worker.start(two)
    await worker.end(three)
    again = await worker.store.register_worker(**worker.facts)

    assert again.incarnation_id == worker.id
    assert again.worker_id == worker.registered.worker_id
    assert again.live == [one, two]
    assert await world.states(batch) == "RRs"


async def test_name_is_taken_while_its_worker_is_heard_of(world: World, worker: Worker) -> None:

    for more in ({"host": "there"}, {"host": "there", "gone": True}, {}):
        with pytest.raises(errors.WorkerAlive, match="already running"):
            await world.worker(**more)
    await was_silent(world, worker, GRACE_S + 1)
    assert (await world.worker(host="there")).id != worker.id


async def test_the_first_of_several_dates_of_a_loop_counts(world: World) -> None:
    epoch = await world.lead()
    undone = world.admin.transaction()
    await undone.start()
    await world.admin.execute(
        "CREATE OR REPLACE FUNCTION weft._loops_due(grace_s double precision, busy bigint[], "
        "limit_rows int) RETURNS TABLE (loop text, due_in interval) LANGUAGE sql STABLE AS $$ "
        "VALUES ('gates', interval '9 s'), ('gates', '2 s'), ('gates', NULL), ('gates', '5 s') $$"
    )
    (row,) = await world.admin.fetch("SELECT * FROM weft.beat_driver($1, 30)", epoch)
    await undone.rollback()

    assert (row["loops"], row["due_in"]) == (["gates"], [timedelta(seconds=2)])


async def test_the_driver_locks_a_silent_worker_in_the_order_of_the_worker_itself(
    world: World, worker: Worker
) -> None:
    """Otherwise one of them waits for the number, the other for the row."""
    await was_silent(world, worker, GRACE_S + 1)
    waiting = "SELECT count(*) FROM pg_locks WHERE classid = 7703 AND objid = $1 AND NOT granted"
    async with world.transaction() as other:
        await other.execute("SELECT pg_advisory_xact_lock(7703, $1)", worker.id)
        losing = asyncio.create_task(lose(world))
        async with asyncio.timeout(60):
            while not await world.admin.fetchval(waiting, worker.id):
                assert not losing.done()
        await other.execute(
            "SELECT FROM weft.worker_incarnation WHERE incarnation_id = $1 FOR UPDATE NOWAIT",
            worker.id,
        )
        await other.execute(
            "UPDATE weft.worker_incarnation SET heartbeat_at = clock_timestamp() "
            "WHERE incarnation_id = $1",
            worker.id,
        )

    assert await losing == []
    assert (await worker.beat()).alive


async def test_proof_about_one_home_says_nothing_about_another(world: World) -> None:
    """Two machines may have the same host name, and so do two homes of one machine."""
    facts = {"log_place": "one home", "log_directory": "/one/logs"}
    old = await world.worker()
    await old.store.register_worker(**{**old.facts, **facts})
    other = {**old.facts, "incarnation": f"new {old.id}", "same_host_proved_gone": True}

    with pytest.raises(errors.WorkerAlive) as refused:
        await old.store.register_worker(**{**other, **facts, "log_place": "another home"})
    assert "on host here in /one/logs" in refused.value.detail
    assert (await old.beat()).alive
    assert (await old.store.register_worker(**{**other, **facts})).incarnation_id != old.id
    assert not (await old.beat()).alive


async def test_same_host_takes_over_at_once_when_the_processes_are_gone(world: World) -> None:
    batch, old, (one, two, three) = await world.submit_and_claim(3)
    await old.start(one)
    await old.end(three)
    new = await world.worker(gone=True)
    attempts = await world.attempts(batch, 1)

    assert new.registered.live == []
    assert await world.states(batch) == "rrs"
    assert attempts[0]["reason"] == Reason.LOST
    # Its end is dated back; the message says both dates.
    assert re.fullmatch(
        r"its worker was lost, last heard of at \d\d:\d\d:\d\d, "
        r"noticed at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC",
        attempts[0]["message"],
    )
    assert (await world.attempts(batch, 2))[0]["started_at"] is None
    assert await old.end(two) == ["stale"]
    with pytest.raises(errors.IncarnationEnded):
        await old.store.register_worker(**old.facts)
    assert not (await old.beat()).alive
    assert await old.claim() == []
    assert await old.waits()


async def test_pool_must_exist(world: World, worker: Worker) -> None:

    with pytest.raises(errors.PoolNotFound):
        await worker.store.register_worker(**{**worker.facts, "pool": "nowhere"})


async def test_workers_see_the_jobs_of_their_pool_only(world: World, worker: Worker) -> None:
    await world.submit(2)
    stranger = world.backend.worker_store()
    there = await stranger.register_worker(
        **{**worker.facts, "pool": "default", "incarnation": world.pool}
    )

    much = ClaimRequest(budget_cpu_m=10**6, budget_memory_mib=10**6, limit_jobs=9)
    assert await stranger.claim_jobs(there.incarnation_id, much) == []
    await stranger.leave(there.incarnation_id)


async def test_offers_are_not_those_of_workers_that_ended_in_order(own_world: World) -> None:
    """Those of a lost one are: it may come back. If all have ended, their offers are known."""

    async def sizes() -> list[int]:
        offers = await own_world.api.pool_offers()
        return [offer["memory_mib"] for offer in offers]

    large = await own_world.worker("large", memory_mib=64_000)
    await large.store.leave(large.id)
    assert await sizes() == [64_000]

    large = await own_world.worker("large", memory_mib=64_000)
    lost = await own_world.worker("lost", memory_mib=16_000)
    small = await own_world.worker("small", memory_mib=4_000)
    assert await sizes() == [64_000, 16_000, 4_000]

    await large.store.leave(large.id)
    await was_silent(own_world, lost, GRACE_S + 1)
    await lose(own_world)
    assert await sizes() == [16_000, 4_000]

    await small.store.leave(small.id)
    assert await sizes() == [16_000]


async def test_silent_worker_loses_its_attempts(world: World) -> None:
    batch = await world.submit(job_rows(4, max_attempts=1))
    silent = await world.worker(f"{world.pool}-silent")
    lively = await world.worker(f"{world.pool}-lively")
    one, two, three = await silent.claim(3)
    await lively.claim()
    await silent.start(one)
    await silent.end(three)
    nobody = await lose(world)
    await was_silent(world, silent, GRACE_S + 1)
    lost = await lose(world)

    assert nobody == []
    assert [(row["worker"], row["n_attempts"]) for row in lost] == [(f"{world.pool}-silent", 2)]
    assert await world.states(batch) == "rrsR"
    assert await lose(world) == []
    assert [one.attempt for one in await lively.claim()] == [2, 2]
    assert await silent.end(one, two) == ["stale", "stale"]


async def test_lost_attempt_costs_what_it_was_known_to_run(world: World) -> None:
    """A night for which everything was off is not billed."""
    batch = await world.submit()
    worker = await world.worker(f"{world.pool}-w")
    (claimed,) = await worker.claim_and_start()
    started_at = (await world.job(batch))["started_at"]
    await beat_at(world, worker, started_at + timedelta(seconds=10), claimed)
    at = started_at + timedelta(hours=8)
    await world.call("lose_workers", epoch=await world.lead(), grace_s=GRACE_S, at=at)
    (attempt,) = await world.attempts(batch)

    assert attempt["ended_at"] == started_at + timedelta(seconds=10)
    document = await world.api.get_batch(world.caller, batch)
    assert document["cost_by_resource"][0]["usage"] == 10_000 * 1000
    assert await usage_ms(world, batch) == 10_000


async def test_ends_of_a_dead_worker_are_told_and_are_no_sign_of_life(world: World) -> None:
    """What it ran when it died ends at its last heartbeat."""
    batch, worker, (one, _two) = await world.submit_and_start(2)
    await was_silent(world, worker, 5)
    again = await worker.store.register_worker(**worker.facts, is_over=True)
    await worker.end(one)
    await world.worker(gone=True)
    attempt = (await world.attempts(batch, 2))[0]

    assert (again.incarnation_id, await world.states(batch)) == (worker.id, "sr")
    assert (again.silent_s >= 5, attempt["ended_at"]) == (True, attempt["started_at"])
    with pytest.raises(errors.IncarnationEnded):
        await worker.store.register_worker(**{**worker.facts, "incarnation": "x"}, is_over=True)


async def test_attempt_that_is_lost_before_its_first_heartbeat_costs_nothing(world: World) -> None:
    batch = await world.submit()
    worker = await world.worker(f"{world.pool}-w")
    (_claimed,) = await worker.claim_and_start()
    await was_silent(world, worker, GRACE_S + 1)
    await lose(world)
    (attempt,) = await world.attempts(batch)

    assert attempt["ended_at"] == attempt["started_at"]
    assert await usage_ms(world, batch) == 0


async def test_reaper_is_due_when_the_first_worker_is_lost(world: World, worker: Worker) -> None:
    await was_silent(world, worker, 3600)
    due_s = await world.driver.loop_due(await world.lead(), "reaper", grace_s=GRACE_S)

    assert due_s is not None
    assert due_s < -3500
    await worker.store.leave(worker.id)


async def test_usage_is_rolled_up_while_a_job_runs(world: World) -> None:
    """Exact to the millisecond, also if the end came before the last heartbeat."""
    batch, worker, (one, two) = await world.submit_and_start(2)
    started = (await world.job(batch))["started_at"]
    usages = []
    for seconds in (10, 25, 20):
        await beat_at(world, worker, started + timedelta(seconds=seconds), one, two)
        usages.append(await usage_ms(world, batch))
        await world.fold()
        usages.append(await usage_ms(world, batch))
    await world.age("job", "claimed_at", "started_at", by_s=60, batch_id=batch)
    await worker.end(one, end_age_us=20_000_000)
    await worker.end(two)
    attempts = [(await world.attempts(batch, job))[0] for job in (1, 2)]
    ran = [round((one["ended_at"] - one["started_at"]).total_seconds() * 1000) for one in attempts]

    assert usages == pytest.approx([20_000, 20_000, 50_000, 50_000, 50_000, 50_000], abs=20)
    assert await usage_ms(world, batch) == sum(ran)
    await world.fold()
    assert await usage_ms(world, batch) == sum(ran)


async def usage_ms(world: World, batch: int) -> int:
    """Return the milliseconds that the jobs of a batch used, each of one core."""
    document = await world.api.get_batch(world.caller, batch)
    usage = {one["resource"]: one["usage"] for one in document["cost_by_resource"]}
    assert usage.get("memory", 0) == usage.get("cpu", 0) // 1000 * 512
    return int(usage.get("cpu", 0)) // 1000


async def test_heartbeat_tells_what_must_stop_and_that_there_is_work(world: World) -> None:
    batch = await world.submit(3)
    worker, other = await world.worker("w"), await world.worker("x")
    one, two = await worker.claim(2)
    await worker.end(two)
    await world.api.cancel_jobs(world.caller, batch, [1])
    answer = await worker.beat(one, two)
    await other.claim()

    assert answer.alive
    assert answer.has_work
    # What has ended is not to be run either.
    assert set(answer.to_stop) == {(batch, 1, 1), (batch, 2, 1)}
    assert not (await worker.beat(one)).has_work


async def test_heartbeat_shortens_what_was_claimed(world: World, worker: Worker) -> None:
    batch = await world.submit(30)
    claims = [await worker.claim(10) for _ in range(3)]
    for claim in claims:
        await worker.end(*claim[1:])
    await worker.beat(*[claim[0] for claim in claims])
    rows = await world.admin.fetch(
        "SELECT jobs FROM weft.claim WHERE incarnation_id = $1", worker.id
    )

    assert [sorted(row["jobs"]) for row in rows] == [[1, 11, 21]]
    for _ in range(2):
        await worker.store.leave(worker.id)
    assert (await world.counts(batch))["ready"] == 3
    assert not (await worker.beat()).alive


async def test_heartbeat_keeps_what_lies_far_apart(world: World) -> None:
    """Jobs with a priority are claimed one by one, and the live ones may have any numbers."""
    rows = job_rows(200, priority=[int(number % 40 == 0) for number in range(200)])
    batch, worker, claimed = await world.submit_and_claim(rows, limit=7)
    await worker.end(*claimed[5:])
    await worker.beat(*claimed[:5])
    await worker.end(*claimed[:2])
    await worker.beat(*claimed[2:5])
    row = await world.admin.fetchrow(
        "SELECT jobs FROM weft.claim WHERE incarnation_id = $1", worker.id
    )

    assert [one.job_id for one in claimed] == [1, 41, 81, 121, 161, 2, 3]
    assert row is not None
    assert sorted(row["jobs"]) == [81, 121, 161]
    await worker.store.leave(worker.id)
    assert (await world.counts(batch))["ready"] == 196


async def test_claim_under_way_during_a_heartbeat_is_not_forgotten(world: World) -> None:
    """It got its number before the heartbeat and commits after it."""
    batch, worker = await world.submit_to_worker(4)
    async with world.transaction("weft_worker") as connection:
        await claim_two(connection, worker)
        later = await worker.claim(2)
        await worker.beat(*later)
    await worker.beat(*later)
    await worker.store.leave(worker.id)

    assert await world.states(batch) == "rrrr"


@cases("is_succeeded", [False, True])
async def test_who_ends_a_worker_waits_for_its_claim_and_sees_what_it_took(
    world: World, *, is_succeeded: bool
) -> None:
    batch, worker = await world.submit_to_worker(4)
    async with world.transaction("weft_worker") as connection:
        await claim_two(connection, worker)
        ending = world.worker(gone=True) if is_succeeded else worker.store.leave(worker.id)
        task = await world.start_waiting(ending)
    await task

    assert await world.states(batch) == "rrrr"
    assert await worker.claim() == []


async def test_claim_of_a_worker_that_slept_waits_for_nobody(world: World) -> None:
    """It may hold rows of reports, for which its own heartbeat waits with the worker's row."""
    batch, worker, (first,) = await world.submit_and_claim(3, limit=1)
    await worker.store.wait_for_work(worker.id)
    connection = await world.connect("admin")
    async with connection.transaction(), asyncio.timeout(60):
        await connection.execute(
            "SELECT FROM weft.worker_incarnation WHERE incarnation_id = $1 FOR NO KEY UPDATE",
            worker.id,
        )
        verdicts, claimed = await worker.end_and_claim([end_report(first)], 1)

    assert (verdicts, [one.job_id for one in claimed]) == (["ok"], [2])
    assert await world.states(batch) == "sRr"


async def test_leases_of_a_lost_reply_come_back(world: World) -> None:
    """A claim was committed, its reply lost: after 5 s the next heartbeat hands them back."""
    batch, worker, (known, lost, started, ended) = await world.submit_and_claim(4)
    await worker.start(started)
    await worker.end(ended)
    claimed_at = (await world.job(batch))["claimed_at"]
    await beat_at(world, worker, claimed_at + timedelta(seconds=4), known)
    early = await world.states(batch)
    await beat_at(world, worker, claimed_at + timedelta(seconds=6), known)

    assert (early, await world.states(batch)) == ("RRRs", "RrRs")
    (attempt,) = await world.attempts(batch, 2)
    assert (attempt["reason"], attempt["started_at"]) == (Reason.PREEMPTED, None)
    assert await worker.end(lost) == ["stale"]
    (again,) = await worker.claim()
    assert (again.job_id, again.attempt) == (2, 2)
    assert await world.counts(batch) == {"running": 3, "succeeded": 1}


async def test_claim_that_came_twice_leaves_no_lease(world: World, worker: Worker) -> None:
    linked = "UPDATE weft.worker_incarnation SET token_id = 1 WHERE incarnation_id = $1"
    await world.admin.execute(linked, worker.id)
    claims: list[Claimed] = []
    batch = await world.submit(3)
    with worker.memory.asking(Budget(1000, 1000, 1)) as request:
        for _ in range(3):
            claims += await worker.store.claim_jobs(worker.id, request)
            worker.memory.note(request, claims[:1])
            await worker.beat(claims[0])
    await world.age("job", "claimed_at", by_s=6, batch_id=batch)
    await worker.beat(claims[0])

    assert await world.states(batch) == "Rrr"


async def test_lease_of_a_claim_whose_reply_is_under_way_stays(world: World) -> None:
    """The store knows that the agent's list lacks what a claim is taking now."""
    batch, worker, (claimed,) = await world.submit_and_claim(1)
    worker.memory.confirm(worker.memory.heard())
    await world.age("job", "claimed_at", by_s=60, batch_id=batch)
    with worker.memory.asking(Budget(1, 1, 1)):
        await worker.beat()
    during = await world.states(batch)
    await worker.beat(claimed)
    listed = await world.states(batch)
    await worker.beat()

    assert (during, listed, await world.states(batch)) == ("R", "R", "r")


async def test_new_term_waits_for_what_the_old_one_has_begun(own_world: World) -> None:
    epoch = await own_world.lead()
    await own_world.driver.stop_leading()
    old, new = [await own_world.connect("weft_driver") for _ in range(2)]
    await new.execute("SET lock_timeout = '100ms'")
    async with old.transaction():
        await old.execute("SELECT weft.fold_deltas($1)", epoch)
        with pytest.raises(asyncpg.LockNotAvailableError):
            await new.execute("SELECT weft.begin_term()")

    assert await new.fetchval("SELECT weft.begin_term()") == epoch + 1


@pytest.mark.parametrize(
    "has", ["nothing", "an attempt", "an unheard claim", "a claim under way", "a stop"]
)
async def test_heartbeat_sees_what_is_left_of_a_worker(world: World, has: str) -> None:
    """Only one who has nothing takes the short path (ADR 51)."""
    worker = await world.worker()
    batch = await world.submit(1)
    claimed = await worker.claim(1) if has in {"an attempt", "an unheard claim"} else []
    await world.admin.execute(
        "INSERT INTO weft.attempt_stop SELECT $1, 1, 1, $2, $3, false, false, clock_timestamp() "
        "WHERE $4",
        batch,
        world.caller.tenant_id,
        worker.id,
        has == "a stop",
    )
    async with world.transaction("weft_worker") as connection:
        (row,) = await call_on(
            connection,
            "heartbeat",
            incarnation_id=worker.id,
            draining=False,
            claiming=has == "a claim under way",
            **columns(*(claimed if has == "an attempt" else ())),
        )
    stops = await world.admin.fetch(
        "DELETE FROM weft.attempt_stop WHERE incarnation_id = $1 RETURNING gone", worker.id
    )

    assert (row["alive"], row["has_work"]) == (True, not claimed)
    assert all(stop["gone"] for stop in stops)


async def test_lists_of_a_tenant_are_told_as_they_are_now(world: World, worker: Worker) -> None:
    """By batch, read by key."""
    batches = [await world.submit(1) for _ in range(3)]
    name = await world.api.tenant_name(world.caller)
    change = {"allowed": {"image": ["docker://a/*"]}}
    await world.api.set_tenant(world.caller.tenant_id, name, change)
    told = await worker.store.list_choices([batches[0], batches[2], 1 << 40])
    connection = await world.connect("weft_worker")
    async with reads(connection, "batch", "tenant") as found:
        await call_on(connection, "list_choices", batch_ids=batches[:1])
    await world.api.set_tenant(world.caller.tenant_id, name, {"allowed": {"image": None}})

    assert told == {batch: {"image": ["docker://a/*"]} for batch in (batches[0], batches[2])}
    assert await worker.store.list_choices(batches) == {}
    assert found["batch"].rows_by_index == 1
    assert found["batch"].rows_scanned == 0
