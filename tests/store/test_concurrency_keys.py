"""Keys of jobs and batches that count together: concurrency, and one at a time; one service of a
name, also when two transactions want it at once. Admission while others end, cancel, hold, delete
and limit jobs: nobody waits for a gate, and no place is lost.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import pytest

from builders import end_report, job_rows, with_fields
from store.barriers import change_limit, hold, licence, numbers, park, places, release, visit
from store.batch_steps import delete, open_update, remove
from store.test_waiting import ear
from store.world import Worker, World
from weft.core.errors import IdempotencyConflict, ServiceRuns
from weft.ports.store import Caller, Gate, JobRows, NewBatch, Origin
from weft.store.database import call_on
from weft.store.end_columns import end_columns
from weft.submission.translation.gates import JOB_GATES, licence_gates
from weft.wire.documents.jobs import ConcurrencyKey
from weft.wire.keys import Unique


def rows_with(key: str, n: int, n_jobs: int) -> JobRows:
    """Return jobs with this key."""
    limit = ConcurrencyKey(key, n)
    gates = msgspec.to_builtins([JOB_GATES["concurrency_key"].gate(limit)])
    return with_fields(
        job_rows(n_jobs), **{f"j{j}": {"gates": gates} for j in range(1, n_jobs + 1)}
    )


async def test_users_of_a_tenant_share_a_key_and_the_driver_is_not_needed(world: World) -> None:
    grace = await world.user("grace")
    await world.submit(rows_with("db", 1, 2))
    await world.submit(rows_with("db", 1, 2), caller=grace)
    await world.submit(rows_with("other", 1, 1))
    worker = await world.worker()

    assert [len(await worker.run()) for _ in range(5)] == [2, 1, 1, 1, 0]


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1)])
async def test_last_number_that_is_given_counts_for_all(
    world: World, before: int, after: int
) -> None:
    _, worker, running = await world.submit_and_claim(rows_with("db", before, 9))
    await world.submit(rows_with("db", after, 1))
    await visit(world)
    more = await worker.claim()
    await worker.end(*running, *more)

    assert len(running) == before
    assert len(more) == max(after - before, 0)
    assert len(await worker.claim()) == after


async def test_of_two_numbers_in_one_request_the_smaller_counts(world: World) -> None:
    rows = rows_with("db", 3, 4)
    rows.rare_fields[2] = rows_with("db", 2, 1).rare_fields[0]
    await world.submit(rows)
    await world.submit(rows)
    await visit(world)

    assert len(await (await world.worker()).claim()) == 2


async def test_audit_looks_at_the_times_of_attempts(own_world: World) -> None:
    await own_world.submit(rows_with("db", 2, 3))
    await (await own_world.worker()).claim()
    broken = await own_world.findings_after("UPDATE weft.gate SET max_ever = 1")

    assert await own_world.findings() == {}
    assert list(broken) == ["gates_hold_at_all_times"]


async def submit(
    world: World,
    *,
    token: str | None = None,
    caller: Caller | None = None,
    digest: bytes = b"",
    empty: bool = False,
    key: str = "k",
    **unique: Any,  # noqa: ANN401 (fields of Unique)
) -> tuple[int, bool, Any]:
    """Submit with a key; return the batch, whether it is new, and what became of the key."""
    caller = caller or world.caller
    new = NewBatch(unique=Unique(key=key, **unique))
    if empty:
        batch, is_new = await world.api.create_batch(
            caller, new, Origin(key=token, digest=digest, trace_id="")
        )
    else:
        batch, _, added_at = await world.api.submit(
            caller, new, [], job_rows(1), Origin(key=token, digest=digest, trace_id="")
        )
        is_new = added_at is not None
    return batch, is_new, await world.api.get_key_answer(caller, batch, token, is_new=is_new)


async def test_while_a_batch_is_alive_the_answer_is_that_batch(world: World) -> None:
    first, is_new, answer = await submit(world)
    assert (is_new, answer) == (True, {})
    assert await submit(world) == (first, False, {"skipped": True})
    assert (await submit(world, key="other"))[0] > first
    bob = await world.user("bob")
    assert (await submit(world, caller=bob))[1]
    await world.api.cancel_jobs(world.caller, first, [1])
    await world.sweep()
    second, is_new, answer = await submit(world)
    assert (second > first, is_new, answer) == (True, True, {})


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("how", ["skip", "replace"])
async def test_of_two_at_once_one_has_the_key(world: World, how: str, *, empty: bool) -> None:
    ends = await asyncio.gather(*(submit(world, on_conflict=how, empty=empty) for _ in range(8)))
    made = {batch for batch, is_new, _ in ends if is_new}
    if how == "skip":
        assert {batch for batch, *_ in ends} == made
        assert len(made) == 1
        return
    replaced = {answer["replaced"] for *_, answer in ends if answer}
    assert len(made) == len(ends)
    assert made - replaced == {max(made)}
    seen = await asyncio.gather(*(world.api.get_batch(world.caller, one) for one in made))
    assert {one["id"] for one in seen if one["cancelled"]} == replaced


async def test_a_batch_that_is_being_started_is_not_replaced(world: World, worker: Worker) -> None:
    first, *_ = await submit(world, while_="waiting")
    async with world.claiming(worker, 1):
        replacing = await world.start_waiting(
            submit(world, while_="waiting", on_conflict="replace")
        )
    second, is_new, answer = await replacing

    assert (second > first, is_new, answer) == (True, True, {})
    assert not (await world.api.get_batch(world.caller, first))["cancelled"]


async def test_waiting_within_and_cancelled(world: World, worker: Worker) -> None:
    first, *_ = await submit(world, while_="waiting")
    assert (await submit(world, while_="waiting"))[0] == first
    await worker.claim()
    second, *_ = await submit(world, while_="waiting", within_s=3600)
    assert second == first
    second, is_new, _ = await submit(world, while_="waiting")
    assert is_new
    await world.age("batch", "created_at", by_s=3600, batch_id=second)
    await worker.claim()
    third, is_new, _ = await submit(world, while_="waiting", within_s=3600)
    assert is_new
    await world.api.cancel_group(world.caller, third, 0, force=False)
    fourth, is_new, _ = await submit(world, while_="waiting", within_s=3600)
    assert is_new
    await worker.claim()
    extend = partial(submit, world, while_="waiting", within_s=3600, on_conflict="extend")
    for _ in range(2):
        await world.age("batch", "created_at", by_s=3000, batch_id=fourth)
        await world.age("batch", "extended_at", by_s=3000, batch_id=fourth)
        assert await extend() == (fourth, False, {"skipped": True})
    await world.age("batch", "extended_at", by_s=3600, batch_id=fourth)
    assert (await extend())[1]


async def test_a_repeat_has_the_same_answer(world: World) -> None:
    first, *_ = await submit(world, token="a")
    skipped = await submit(world, token="b")
    assert skipped == (first, False, {"skipped": True})
    second, _, answer = await submit(world, token="c", on_conflict="replace")
    assert answer == {"replaced": first}
    assert await submit(world, token="a") == (first, False, {})
    assert await submit(world, token="b") == skipped
    assert await submit(world, token="c", on_conflict="replace") == (second, False, answer)
    with pytest.raises(IdempotencyConflict):
        await submit(world, token="b", digest=b"other")


def service() -> JobRows:
    return with_fields(job_rows(1, names={1: "x"}), j1={"service": {"restart": "always"}})


async def test_a_retry_that_takes_the_name_first_is_seen_by_a_submission(world: World) -> None:
    old = await world.submit(service())
    with pytest.raises(ServiceRuns):
        await world.submit(service())
    await world.api.cancel_jobs(world.caller, old, [1])
    await world.sweep()
    other = await world.connect()
    retrying = other.transaction()
    await retrying.start()
    await other.execute("SELECT weft._before_retry($1, $2)", world.caller.tenant_id, old)
    assert await other.fetchval(
        "SELECT weft._retry($1, '{1}', 'user ada', clock_timestamp())", old
    )
    submission = await world.start_waiting(world.submit(service()))
    await retrying.commit()
    with pytest.raises(ServiceRuns):
        await submission
    assert await world.states(old) == "r"


def ending(worker: Worker, *claimed: Any) -> dict[str, Any]:  # noqa: ANN401 (claims)
    """Return the arguments of complete_attempts."""
    return {"incarnation_id": worker.id, **end_columns([end_report(one) for one in claimed])}


async def test_end_does_not_wait_for_a_busy_gate_and_rings_the_driver(world: World) -> None:
    batch, worker, claimed = await world.submit_and_claim(3, max_running=1)
    listener = await ear(world, "driver")
    async with world.transaction() as connection:
        await connection.execute("SELECT FROM weft.gate WHERE batch_id = $1 FOR UPDATE", batch)
        async with asyncio.timeout(60):
            await worker.end(*claimed)
        heard = [await listener.hears()]
        while heard[-1] != ("driver", "gates"):
            heard.append(await listener.hears())
        while_busy = await worker.claim()
    findings = await world.findings()
    moved = await visit(world)

    assert (while_busy, findings, moved) == ([], {}, 1)
    assert numbers(await worker.claim()) == [2]


@pytest.mark.parametrize("change", ["hold", "cancel", "cancel job", "limit", "delete"])
async def test_change_of_a_batch_while_the_end_of_a_job_admits_the_next(
    world: World, change: str
) -> None:
    """The end is not committed yet: the change waits for it, or passes by."""
    batch, worker, claimed = await world.submit_and_claim(6, max_running=1)
    connection, editor = await world.connect("weft_worker"), await world.connect()
    epoch = await world.lead()
    changes: dict[str, Callable[[], Any]] = {
        "hold": lambda: hold(world, batch),
        "cancel": lambda: world.api.cancel_group(world.caller, batch, 0, force=False),
        "cancel job": lambda: world.api.cancel_jobs(world.caller, batch, [2]),
        "limit": lambda: call_on(editor, "pass_gates", epoch=epoch, limit_jobs=100),
        "delete": lambda: delete(world, batch),
    }
    if change == "limit":
        await change_limit(world.admin, batch, 3)
    async with connection.transaction():
        await call_on(connection, "complete_attempts", **ending(worker, *claimed))
        changing = await world.start_waiting(changes[change]())
        assert await world.findings() == {}
    async with asyncio.timeout(60):
        result = await changing
    assert await world.findings() == {}
    after = numbers(await worker.claim())
    await park(world)
    await world.sweep()
    await visit(world)

    match change:
        case "hold":
            assert after == []
            assert await places(world, batch) == []
            await release(world, batch)
            assert numbers(await worker.claim()) == [2]
        case "cancel":
            assert after == []
            assert await places(world, batch) == []
        case "cancel job":
            assert after == []
            assert numbers(await worker.claim()) == [3]
        case "limit":
            assert after == [2, 3, 4]
        case _:
            assert after == []
            await remove(world, result)


async def test_batch_that_is_being_held_admits_nobody(world: World) -> None:
    """An end finds the batch locked by a hold: the place stays free, and the driver is rung."""
    batch, worker, claimed = await world.submit_and_claim(3, max_running=1)
    async with world.during_request("hold_group", batch, group_id=0, actor="x"):
        async with asyncio.timeout(60):
            await worker.end(*claimed)
        assert await places(world, batch) == []
        assert await world.findings() == {}
    await visit(world)

    assert await places(world, batch) == []
    await release(world, batch)
    assert numbers(await worker.claim()) == [2]


async def test_jobs_that_come_while_the_gate_opens_are_admitted(world: World) -> None:
    """Their commit found the gate closed, and the driver opens it before it can see them."""
    batch = await world.submit(0)
    opens_at = datetime.now(UTC) + timedelta(hours=1)
    await licence(world, None, batch, opens_at=opens_at)
    await visit(world)
    update = await open_update(world, batch, 2)
    await world.api.add_jobs(world.caller, batch, update.update_id, job_rows(2))
    connection, driver = await world.connect("weft_api"), await world.connect()
    async with connection.transaction():
        await call_on(
            connection,
            "commit_update",
            tenant_id=world.caller.tenant_id,
            batch_id=batch,
            of_update_id=update.update_id,
        )
        later = opens_at + timedelta(seconds=1)
        opening = await world.start_waiting(
            call_on(driver, "pass_gates", epoch=await world.lead(), limit_jobs=100, at=later)
        )
    async with asyncio.timeout(60):
        await opening
    await visit(world)

    assert len(await (await world.worker()).claim()) == 2


async def test_job_that_is_being_claimed_is_not_overtaken(world: World) -> None:
    batch = await world.submit(2, max_running=1)
    worker, other = await world.worker(), await world.worker("other")
    async with world.claiming(worker, 5) as rows:
        async with asyncio.timeout(60):
            await world.submit(job_rows(1, priority=9), batch=batch)
        assert await other.claim() == []
    assert [row["job_id"] for row in rows] == [1]
    assert await other.claim() == []
    assert await places(world, batch) == [1]


async def test_two_batches_race_for_two_places(world: World) -> None:
    first, second = [await world.submit(0) for _ in range(2)]
    await licence(world, 2, first, second)
    for batch in (first, second):
        await world.submit(40, batch=batch)
    workers = [await world.worker(f"w{number}") for number in range(3)]
    epoch = await world.lead()
    running = most = done = 0

    async def work(worker: Worker) -> None:
        nonlocal running, most, done
        while done < 80:
            claimed = await worker.claim(3)
            running += len(claimed)
            most = max(most, running)
            await asyncio.sleep(0)
            running -= len(claimed)
            await worker.end(*claimed)
            done += len(claimed)
            await world.driver.sweep("pass_gates", epoch, limit_jobs=10)

    async with asyncio.timeout(60):
        await asyncio.gather(*map(work, workers))

    assert (done, most) == (80, 2)


async def test_a_gate_that_another_one_needs_loses_no_place(world: World) -> None:
    """Its place became free while it was busy. A job that needs several gates cannot start yet;
    whoever looks for it leaves what is free to the others.
    """
    name = f"l-{world.pool}"
    await world.api.set_licence(world.caller, name, 2)
    key, one, two = key_gate(1), licence_gates({name: 1}), licence_gates({name: 2})
    batch, worker, (first, _second, third) = await world.submit_and_claim(
        with_gates(one, one, key, [*two, *key], key)
    )
    async with world.transaction() as connection:
        await connection.execute(
            "SELECT FROM weft.gate g WHERE EXISTS (SELECT FROM weft.place p WHERE "
            "p.gate_id = g.gate_id AND p.batch_id = $1 AND p.job_id = 3) FOR UPDATE",
            batch,
        )
        await worker.end(third)
    await worker.end(first)
    await visit(world)

    assert await world.findings() == {}
    assert numbers(await worker.claim()) == [5]


async def test_a_place_is_taken_back_with_all_others_of_its_job(world: World) -> None:
    """The licence is lowered: the job that had one also had the only place of the key."""
    name = f"l-{world.pool}"
    await world.api.set_licence(world.caller, name, 1)
    key, one = key_gate(1), licence_gates({name: 1})
    batch = await world.submit(with_gates([*one, *key], [*one, *key], key))
    before = await places(world, batch)
    await world.api.set_licence(world.caller, name, 0)
    for _ in range(2):  # the first visit rings the driver for the key
        await visit(world)

    assert set(before) == {1}
    assert await world.findings() == {}
    assert numbers(await (await world.worker()).claim()) == [3]


async def test_who_steps_back_in_vain_is_admitted_again(world: World) -> None:
    """For a job that comes first and waits for something else besides."""
    name = f"l-{world.pool}"
    await world.api.set_licence(world.caller, name, 0)
    key, other = key_gate(1), [*key_gate(1), *licence_gates({name: 1})]
    batch = await world.submit(with_gates(key))
    await world.submit(with_gates(other, priority=9))
    await visit(world)

    assert await places(world, batch) == [1]


@pytest.mark.parametrize("what", ["job", "group"])
async def test_job_that_is_released_before_it_was_parked_is_admitted(
    world: World, what: str
) -> None:
    """Its gate had a free place only while it was held, when nobody admits it."""
    batch, worker, (first,) = await world.submit_and_claim(with_gates(key_gate(1), key_gate(1)))
    api = world.api
    ways: dict[str, tuple[Any, Any, Any]] = {
        "job": (api.hold_jobs, api.release_jobs, [2]),
        "group": (api.hold_group, api.release_group, 0),
    }
    hold, release, part = ways[what]
    await hold(world.caller, batch, part)
    await worker.end(first)
    await visit(world)
    await release(world.caller, batch, part)
    await park(world)
    await visit(world)

    assert await world.findings() == {}
    assert numbers(await worker.claim()) == [2]


async def test_job_that_became_ready_while_it_was_held_is_admitted(world: World) -> None:
    """The driver has visited its gate, and has not parked it yet."""
    batch, worker, (first,) = await world.submit_and_claim(
        with_gates(key_gate(1), key_gate(1), parents={2: [1]})
    )
    await world.api.hold_jobs(world.caller, batch, [2])
    await worker.end(first)
    await visit(world)
    await world.api.release_jobs(world.caller, batch, [2])
    await park(world)
    await visit(world)

    assert await world.findings() == {}
    assert numbers(await worker.claim()) == [2]


def key_gate(n: int) -> list[Gate]:
    return [JOB_GATES["concurrency_key"].gate(ConcurrencyKey("database", n))]


def with_gates(*gates_of: list[Gate], **more: Any) -> JobRows:  # noqa: ANN401 (as job_rows)
    """Return a job for each of these lists of gates."""
    fields = {
        f"j{number}": {"gates": msgspec.to_builtins(gates)}
        for number, gates in enumerate(gates_of, 1)
    }
    return with_fields(job_rows(len(gates_of), **more), **fields)
