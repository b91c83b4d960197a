"""Keys of jobs and batches that count together: concurrency, and one at a time; one service of a
name, also when two transactions want it at once.
"""

import asyncio
from typing import Any

import msgspec
import pytest

from builders import job_rows, with_fields
from store.barriers import visit
from store.world import Worker, World
from weft.core.errors import IdempotencyConflict, ServiceRuns
from weft.ports.store import Caller, JobRows, NewBatch, Origin
from weft.submission.translation.gates import JOB_GATES
from weft.wire.documents.batches import ConcurrencyKey
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
    world: World, *, token: str | None = None, caller: Caller | None = None, digest: bytes = b"",
    empty: bool = False, key: str = "k", **unique: Any,  # noqa: ANN401 (fields of Unique)
) -> tuple[int, bool, Any]:  # fmt: skip
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
    assert (await submit(world, while_="waiting", within_s=3600))[1]


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
