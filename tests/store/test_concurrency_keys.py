"""Concurrency keys: how many jobs of a tenant run with one key, whoever submits them."""

import msgspec
import pytest

from builders import job_rows
from store.test_gates import visit
from store.test_rare_fields import with_fields
from store.world import World
from weft.ports.store import JobRows
from weft.submission.translation.gates import JOB_GATES
from weft.wire.documents.batches import ConcurrencyKey


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
