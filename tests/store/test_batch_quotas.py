"""Quotas of batches count those that have no jobs yet, as long as they may get some."""

import asyncio

import pytest

from builders import job_rows, tree
from store.barriers import quotas_locked, set_of_tenant, set_quota, used
from store.batch_steps import NEW, add, delete, new_batch, open_update, remove
from store.test_byte_quotas import forget
from store.world import World
from weft.core.errors import QuotaExceeded
from weft.ports.store import UNKEYED, Origin


async def with_groups_only(world: World) -> int:
    """Make a batch that has a group and no jobs."""
    batch, _, _ = await world.api.submit(world.caller, NEW, tree("a"), None, UNKEYED)
    return batch


async def test_batch_without_jobs_counts_until_it_has_had_some(world: World) -> None:
    """Its first jobs are no further batch. When they have ended it does not count any more."""
    await set_quota(world, "ada", batches=2)
    first = await new_batch(world)
    second = await with_groups_only(world)
    at_first = await used(world, world.caller)
    with pytest.raises(QuotaExceeded) as refused:
        await new_batch(world)
    for submission in (with_groups_only(world), world.submit(1)):
        with pytest.raises(QuotaExceeded):
            await submission
    update = await open_update(world, first, 2)
    await add(world, first, update, job_rows(2))
    await world.api.commit_update(world.caller, first, update.update_id)
    await world.submit(1, batch=second)
    with_jobs = await used(world, world.caller)
    await world.fold()
    folded = await used(world, world.caller)
    worker = await world.worker()
    await worker.run()
    await new_batch(world)

    assert (at_first, with_jobs, folded) == ((0, 2), (3, 2), (3, 2))
    assert await used(world, world.caller) == (0, 1)
    assert "or none yet, and 1 would come; at most 2 are allowed" in str(refused.value)
    assert "cancel those that get no jobs" in str(refused.value)


async def test_batch_that_gets_no_jobs_locks_nobody_out(world: World) -> None:
    """It counts until it is cancelled or deleted, and never longer than an open update is kept."""
    await set_quota(world, None, batches=1)
    cancelled = await new_batch(world)
    with pytest.raises(QuotaExceeded):
        await new_batch(world)
    await world.api.cancel_group(world.caller, cancelled, 0, force=False)
    deleted = await new_batch(world)
    operation = await delete(world, deleted)
    forgotten = await new_batch(world)
    await remove(world, operation, audited=True)
    with pytest.raises(QuotaExceeded):
        await new_batch(world)
    await forget(world)
    await new_batch(world)
    await set_quota(world, None, batches=2)
    await world.submit(1, batch=forgotten)

    assert await used(world, world.caller) == (1, 2)


async def test_repeated_request_gives_its_batch_at_the_quota(world: World) -> None:
    await set_quota(world, None, batches=1)
    answers = [
        await world.api.create_batch(world.caller, NEW, Origin(key="k", trace_id=""))
        for _ in range(2)
    ]

    assert [is_new for _, is_new in answers] == [True, False]
    assert answers[0][0] == answers[1][0]
    assert await used(world, world.caller) == (0, 1)


@pytest.mark.parametrize("of_tenant", [False, True])
async def test_batches_made_at_once_do_not_exceed_a_quota(world: World, of_tenant: bool) -> None:  # noqa: FBT001 (a parameter)
    """Without jobs, with groups only, with jobs; the first jobs of one that counts come in."""
    bob = await world.user("bob") if of_tenant else world.caller
    empty = await new_batch(world)
    updates = [await open_update(world, empty, 1) for _ in range(2)]
    for update in updates:
        await add(world, empty, update, job_rows(1))
    await (set_of_tenant(world, batches=4) if of_tenant else set_quota(world, "ada", batches=4))
    answers = await asyncio.gather(
        *[
            world.api.create_batch(caller, NEW, UNKEYED)
            for caller in (world.caller, bob)
            for _ in range(3)
        ],
        with_groups_only(world),
        world.submit(1),
        world.submit(1, caller=bob),
        *[world.api.commit_update(world.caller, empty, one.update_id) for one in updates],
        return_exceptions=True,
    )

    refused = [one for one in answers if isinstance(one, BaseException)]
    assert {type(one) for one in refused} == {QuotaExceeded}
    assert len(answers) - len(refused) == 3 + len(updates)
    n_batches = await world.admin.fetchval(
        "SELECT count(*) FROM weft._open_work($1)", world.caller.tenant_id
    )
    assert n_batches == 4


async def test_without_a_quota_batches_are_made_beside_each_other(world: World) -> None:
    async with quotas_locked(world):
        async with asyncio.timeout(60):
            await new_batch(world)
            await with_groups_only(world)

    assert await used(world, world.caller) == (0, 2)


async def test_audit_finds_a_batch_with_jobs_among_those_without(world: World) -> None:
    batch = await world.submit(1)
    row = (batch, world.caller.tenant_id)
    found = await world.findings_after("INSERT INTO weft.empty_batch VALUES ($1, $2, now())", *row)

    assert set(found) == {"empty_batches_have_no_jobs"}
