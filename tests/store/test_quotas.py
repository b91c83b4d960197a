"""How much a user and a tenant may have that has not ended."""

import asyncio
import random

import pytest

from builders import job_rows
from store.barriers import quotas_locked, set_of_tenant, set_quota, used
from store.batch_steps import add, new_batch, open_update
from store.world import Worker, World
from weft.core.errors import QuotaExceeded
from weft.core.states import Reason

STEPS = 60


async def test_submission_that_would_exceed_a_quota_creates_nothing(world: World) -> None:
    """It says what is used; what has ended makes room, folded or not."""
    bob = await world.user("bob")
    await set_quota(world, "ADA", jobs=3, batches=2)
    first = await world.submit(2)
    with pytest.raises(QuotaExceeded) as of_jobs:
        await world.submit(2)
    await world.submit(1)
    with pytest.raises(QuotaExceeded):
        await world.submit(1, batch=first)
    await set_quota(world, "ada", jobs=None)
    await world.submit(1, batch=first)
    with pytest.raises(QuotaExceeded) as of_batches:
        await world.submit(1)
    await world.submit(9, caller=bob)
    assert await used(world, world.caller) == (4, 2)
    worker = await world.worker()
    await worker.run()
    assert await used(world, world.caller) == (0, 0)
    await world.submit(1)

    assert (of_jobs.value.code, of_jobs.value.status) == ("API.QUOTA_EXCEEDED", 429)
    assert str(of_jobs.value).startswith(
        'user "ada" would have more jobs than the quota allows\n'
        "  2 jobs have not ended and 2 would come; at most 3 are allowed."
    )
    assert "2 batches have jobs that have not ended, or none yet, and 1 would come" in str(
        of_batches.value
    )


async def test_bob_adds_to_adas_batch_and_her_quota_counts(world: World) -> None:
    bob = await world.user("bob")
    batch = await world.submit(1)
    await set_quota(world, "ada", jobs=2)
    await world.submit(1, batch=batch, caller=bob)

    with pytest.raises(QuotaExceeded):
        await world.submit(1, batch=batch, caller=bob)
    assert await used(world, world.caller) == (2, 1)


async def test_update_is_counted_when_it_is_committed(world: World, worker: Worker) -> None:
    """Refused, it stays open and may be committed later; a repeat counts once."""
    await set_quota(world, None, jobs=2)
    batch = await new_batch(world)
    update = await open_update(world, batch, 2)
    await add(world, batch, update, job_rows(2))
    await world.submit(1)
    with pytest.raises(QuotaExceeded):
        await world.api.commit_update(world.caller, batch, update.update_id)
    await worker.run()
    for _ in range(2):
        done = await world.api.commit_update(world.caller, batch, update.update_id)
        assert done.committed
    assert await used(world, world.caller) == (2, 1)


async def test_own_quota_goes_before_that_of_each_user(world: World) -> None:
    bob = await world.user("bob")
    await set_quota(world, None, jobs=1, batches=1)
    await set_quota(world, "bob", jobs=5)
    await world.submit(4, caller=bob)
    for refused in (world.submit(2), world.submit(1, caller=bob)):
        with pytest.raises(QuotaExceeded):
            await refused
    await set_quota(world, "bob", jobs=None)
    with pytest.raises(QuotaExceeded):
        await world.submit(1, caller=bob)
    await set_quota(world, None, jobs=None, batches=None)
    await world.submit(100, caller=bob)

    assert await world.admin.fetchval(
        "SELECT count(*) FROM weft.quota WHERE tenant_id = $1", world.caller.tenant_id
    ) == 0  # fmt: skip


@pytest.mark.parametrize("of_tenant", [False, True])
async def test_submissions_at_once_do_not_exceed_a_quota(world: World, of_tenant: bool) -> None:  # noqa: FBT001 (a parameter)
    """New batches, batches that grow, and commits; those of all users count for the tenant."""
    users = [world.caller, await world.user("bob") if of_tenant else world.caller]
    open_one = await world.submit(1)
    staged = await new_batch(world)
    update = await open_update(world, staged, 2)
    await add(world, staged, update, job_rows(2))
    await (set_of_tenant(world, jobs=6) if of_tenant else set_quota(world, "ada", jobs=6))
    answers = await asyncio.gather(
        *[world.submit(2, caller=users[n % 2]) for n in range(4)],
        *[world.submit(2, batch=open_one) for _ in range(2)],
        world.api.commit_update(world.caller, staged, update.update_id),
        return_exceptions=True,
    )

    refused = [one for one in answers if isinstance(one, BaseException)]
    assert {type(one) for one in refused} == {QuotaExceeded}
    assert len(answers) - len(refused) == 2
    rows = await world.api.list_quotas(world.caller)
    assert sum(row["n_jobs"] or 0 for row in rows if row["kind"] == "user") <= 5
    n_jobs = await world.admin.fetchval(
        "SELECT sum(n_jobs) FROM weft._open_work($1)", world.caller.tenant_id
    )
    assert n_jobs == 5


async def test_without_a_quota_nobody_waits_for_another(world: World) -> None:
    """The rows that submissions with a quota lock are free for all others."""
    bob = await world.user("bob")
    await set_quota(world, "bob", jobs=9)
    async with quotas_locked(world):
        async with asyncio.timeout(60):
            batch = await world.submit(1)
            await world.submit(1, batch=batch)
        waiting = await world.start_waiting(world.submit(1, caller=bob))
        assert not waiting.done()
    await waiting


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_quotas_count_what_has_not_ended(world: World, worker: Worker, seed: int) -> None:
    """Against a model, at every moment: submissions, ends, losses, cancels, folds."""
    rng = random.Random(seed)  # noqa: S311 (a test)
    states: dict[tuple[int, int], str] = {}
    n_refused = 0
    for _ in range(STEPS):
        most = rng.choice([None, 3, 6, 9])
        await set_quota(world, "ada", jobs=most)
        open_jobs = [key for key, state in states.items() if state == "open"]
        step = rng.choice(["submit", "submit", "run", "cancel", "fold"])
        if step == "submit":
            count = rng.randint(1, 4)
            if most is not None and len(open_jobs) + count > most:
                n_refused += 1
                with pytest.raises(QuotaExceeded):
                    await world.submit(count)
            else:
                batch = await world.submit(count)
                states |= {(batch, number): "open" for number in range(1, count + 1)}
        elif step == "run":
            reason = rng.choice([None, Reason.EXIT, Reason.LOST])
            for one in await worker.claim(2):
                await worker.end(one, reason=reason)
                if reason != Reason.LOST:
                    states[one.batch_id, one.job_id] = "failed" if reason else "over"
        elif step == "cancel" and open_jobs:
            batch, job = rng.choice(open_jobs)
            await world.api.cancel_jobs(world.caller, batch, [job])
            states[batch, job] = "over"
        elif step == "fold":
            await world.fold()
        assert await used(world, world.caller) == (
            sum(state == "open" for state in states.values()),
            len({batch for (batch, _), state in states.items() if state == "open"}),
        )
    assert n_refused
