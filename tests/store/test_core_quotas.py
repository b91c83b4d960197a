"""How many cores the running jobs of a user and of a tenant may have."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from store.test_arrays import array_rows
from store.test_gates import visit
from store.test_quotas import set_of_tenant, set_quota
from store.test_rare_fields import with_fields
from store.test_resubmissions import copy
from store.test_retry_with import end
from store.world import World
from weft.api.translation.gates import SENTENCES
from weft.api.translation.retries import ASKS_MORE, CURABLE
from weft.core.errors import QuotaExceeded
from weft.core.states import Reason
from weft.core.why import causes_of_wait
from weft.ports.store import Caller, Claimed, JobRows, Shape
from weft.testing.builders import job_rows

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
STEPS = 60
SIZES = (500, 1000, 3000)


def asking(world: World, *cpu_ms: int) -> JobRows:
    """Return a job for each of these numbers of mCPU."""
    words = (("pool", world.pool),)
    shapes = [Shape(cpu_m=one, words=words) for one in sorted({*cpu_ms})]
    index = [sorted({*cpu_ms}).index(one) for one in cpu_ms]
    return job_rows(len(cpu_ms), shapes=shapes, shape_index=index)


def ids(claimed: Sequence[Claimed]) -> list[tuple[int, int]]:
    return [(one.batch_id, one.job_id) for one in claimed]


async def cores(world: World, caller: Caller) -> float:
    """Return how many cores the running jobs of a user have."""
    (row,) = [x for x in await world.api.list_quotas(caller) if x["name"] == caller.user_name]
    n_cores: float = row["n_cores"]
    return n_cores


async def why(world: World, batch: int, job: int) -> list[str]:
    (facts,) = await world.api.why_jobs(world.caller, batch, [job])
    return [one.text for one in causes_of_wait(facts, SENTENCES, NOW)][:1]


async def test_running_jobs_of_a_user_have_no_more_cores_than_their_quota(world: World) -> None:
    """Batches of all sizes count together, those of others do not; ends need no driver."""
    bob = await world.user("bob")
    await set_quota(world, "ada", cores=4.5)
    first = await world.submit(asking(world, 3000, 1000, 1000))
    second = await world.submit(asking(world, 500))
    others = await world.submit(asking(world, 3000, 3000), caller=bob)
    worker = await world.worker()
    claimed = await worker.claim()

    assert {*ids(claimed)} == {(first, 1), (first, 2), (others, 1), (others, 2)}
    assert (await cores(world, world.caller), await cores(world, bob)) == (4, 6)
    await worker.end(*[one for one in claimed if ids([one]) == [(first, 2)]])
    assert ids(await worker.claim()) == [(first, 3), (second, 1)]
    assert await cores(world, world.caller) == 4.5


async def test_quota_of_a_tenant_counts_all_its_users(world: World) -> None:
    """Beside those of users; a bob adds to the batch of ada for her."""
    bob = await world.user("bob")
    await set_of_tenant(world, cores=3)
    await set_quota(world, None, cores=2)
    hers = await world.submit(asking(world, *[1000] * 3))
    his = await world.submit(asking(world, *[1000] * 3), caller=bob)
    await world.submit(asking(world, 1000), batch=hers, caller=bob)
    worker = await world.worker()
    claimed = await worker.claim()

    n_of = Counter(one.batch_id for one in claimed)
    assert sorted(n_of.values()) == [1, 2]
    assert await cores(world, world.caller) + await cores(world, bob) == 3
    await set_quota(world, "ada", cores=0)
    await worker.end(*claimed)
    await visit(world)
    assert {one.batch_id for one in await worker.claim()} == {his}


async def test_an_array_is_admitted_by_cores_and_so_are_children(world: World) -> None:
    await set_quota(world, None, cores=2)
    words = (("pool", world.pool),)
    array = await world.submit(array_rows(5, shapes=[Shape(cpu_m=500, words=words)]))
    family = await world.submit(job_rows(2, parents={2: [1]}))
    worker = await world.worker()
    first = await worker.claim()
    await worker.end(*first)
    second = await worker.claim()

    assert ids(first) == [(array, n) for n in range(1, 5)]
    assert ids(second) == [(array, 5), (family, 1)]
    await worker.end(*second)
    assert ids(await worker.claim()) == [(family, 2)]


async def test_large_job_is_not_passed_by_small_ones_of_its_user(world: World) -> None:
    """Others of the tenant pass it while its user has no room."""
    bob = await world.user("bob")
    await set_of_tenant(world, cores=7)
    await set_quota(world, "ada", cores=4)
    hers = await world.submit(asking(world, 1000, 4000, 1000))
    worker = await world.worker()
    first = await worker.claim()
    his = await world.submit(asking(world, 2000, 2000, 2000), caller=bob)
    second = await worker.claim()

    assert ids(first) == [(hers, 1)]
    assert ids(second) == [(his, 1), (his, 2), (his, 3)]
    await worker.end(*first)
    await worker.end(*second)
    assert ids(await worker.claim()) == [(hers, 2)]


async def test_job_that_asks_for_more_than_the_quota_is_refused(world: World) -> None:
    """One that is there already waits, and says why."""
    await set_quota(world, None, cores=2)
    batch = await world.submit(asking(world, 2000, 2000))
    with pytest.raises(QuotaExceeded) as of_user:
        await world.submit(asking(world, 500, 2500))
    await set_of_tenant(world, cores=1)
    with pytest.raises(QuotaExceeded) as of_tenant:
        await world.submit(asking(world, 1500))
    worker = await world.worker()

    assert ids(await worker.claim()) == [(batch, 1)]
    assert str(of_user.value).startswith(
        'user "ada" may not run a job of 2.5 cores\n'
        "  Jobs that run at the same time may have 2 cores in all."
    )
    assert 'tenant "' in str(of_tenant.value)
    assert await why(world, batch, 2) == ["waits: ada runs 2 of 2 cores that the quota allows"]
    await set_quota(world, None, cores=1)
    await visit(world)
    assert await why(world, batch, 2) == ["needs 2 cores, and the quota of ada is 1"]


async def test_quotas_change_and_go_while_jobs_wait(world: World) -> None:
    """A lower one stops nobody; one of a user's own goes before that of each."""
    await set_quota(world, None, cores=1)
    batch = await world.submit(asking(world, *[1000] * 9))
    worker = await world.worker()
    running = await worker.claim()
    told = await why(world, batch, 2)
    await set_quota(world, "ada", cores=4)
    await visit(world)
    running += await worker.claim()
    await set_quota(world, "ada", cores=2)
    await visit(world)
    await worker.end(*running[:2])
    nobody = await worker.claim()
    await worker.end(running[2])
    fifth = await worker.claim()
    await set_quota(world, "ada", cores=None)
    await visit(world)
    await worker.end(running[3], *fifth)
    sixth = await worker.claim()
    await set_quota(world, None, cores=None)
    await visit(world)

    assert told == ["waits: ada runs 1 of 1 cores that the quota allows"]
    assert (len(running), nobody, len(fifth), len(sixth)) == (4, [], 1, 1)
    assert ids(await worker.claim()) == [(batch, 7), (batch, 8), (batch, 9)]
    before = await world.submit(asking(world, 1000))
    await set_quota(world, None, cores=0)
    assert ids(await worker.claim()) == [(before, 1)]


async def test_submission_and_a_changed_quota_wait_for_each_other(world: World) -> None:
    """Otherwise it would make the gate of its user with the number that was."""
    await set_quota(world, None, cores=4)
    other = await world.connect()
    async with other.transaction():
        await other.execute(
            "SELECT weft.set_quota($1, NULL, '{\"cores\": 1}')", world.caller.tenant_id
        )
        waiting = asyncio.create_task(world.submit(asking(world, 1000, 1000)))
        await world.until_somebody_waits()
    batch = await waiting

    assert ids(await (await world.worker()).claim()) == [(batch, 1)]


async def test_retry_that_asks_for_more_cores_takes_them_of_the_quota(world: World) -> None:
    await set_quota(world, "ada", cores=4)
    rule = {"after": 1, "reasons": [int(Reason.OOM)], "size": "cpu_m", "values": [1000, 3000]}
    words = (("pool", world.pool),)
    shapes = [Shape(cpu_m=one, words=words) for one in (1000, 3000)]
    rows = job_rows(1, max_attempts=3, retry_on=CURABLE, shapes=shapes)
    rows.retry_on = [rows.retry_on[0] | ASKS_MORE]
    worker = await world.worker()
    batch = await world.submit(with_fields(rows, j1={"more": [rule]}))
    await end(worker, Reason.OOM)
    more = await world.submit(asking(world, 1000, 1000))

    assert ids(await worker.claim()) == [(batch, 1), (more, 1)]
    assert await cores(world, world.caller) == 4


async def test_resubmitted_jobs_count_too(world: World) -> None:
    batch = await world.submit(asking(world, 1000, 1000))
    worker = await world.worker()
    await worker.run()
    await set_quota(world, "ada", cores=1)
    again = await copy(world, batch)

    assert ids(await worker.claim()) == [(again, 1)]


@pytest.mark.parametrize("broken", ["cost", "limit"])
async def test_audit_finds_gates_that_differ_from_quotas(world: World, broken: str) -> None:
    await set_quota(world, "ada", cores=2)
    await world.submit(asking(world, 1000))
    change = {
        "cost": "UPDATE weft.gate_member m SET cost = 1001 FROM weft.gate g WHERE g.gate_id = m.gate_id AND g.key = $1",  # noqa: E501 (SQL)
        "limit": "UPDATE weft.gate g SET max_places = 3000 WHERE g.key = $1",
    }[broken]
    mend = change.replace("1001", "1000").replace("3000", "2000")
    key = f"t{world.caller.tenant_id}/{world.caller.user_id}"
    await world.admin.execute(change, key)
    found = await world.findings()
    await world.admin.execute(mend, key)

    assert "cores_are_counted" in found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_quotas_of_cores_hold_at_every_moment(world: World, seed: int) -> None:
    """Against a model: submissions of all sizes, ends, losses, cancels, folds, other quotas."""
    rng = random.Random(seed)  # noqa: S311 (a test)
    users = [world.caller, await world.user("bob")]
    worker = await world.worker()
    size: dict[tuple[int, int], tuple[int, int]] = {}
    waiting: set[tuple[int, int]] = set()
    running: dict[tuple[int, int], Claimed] = {}
    most = [3000, 4000]
    await set_of_tenant(world, cores=6)
    for user, one in zip(users, most, strict=True):
        await set_quota(world, user.user_name, cores=one / 1000)
    for _ in range(STEPS):
        step = rng.choice(["submit", "submit", "claim", "end", "end", "cancel", "fold", "set"])
        which = rng.randrange(2)
        if step == "submit":
            asked = [rng.choice(SIZES) for _ in range(rng.randint(1, 4))]
            if max(asked) > most[which]:
                with pytest.raises(QuotaExceeded):
                    await world.submit(asking(world, *asked), caller=users[which])
                continue
            batch = await world.submit(asking(world, *asked), caller=users[which])
            new = {(batch, n): (which, one) for n, one in enumerate(asked, 1)}
            size |= new
            waiting |= new.keys()
        elif step == "claim":
            before = [used(size, running, user) for user in (0, 1)]
            claimed = await worker.claim(rng.randint(1, 5))
            running |= {(one.batch_id, one.job_id): one for one in claimed}
            waiting -= running.keys()
            now = [used(size, running, user) for user in (0, 1)]
            for user in (0, 1):
                assert now[user] <= max(most[user], before[user])
            assert sum(now) <= 6000
        elif step == "end" and running:
            key = rng.choice([*running])
            reason = rng.choice([None, Reason.EXIT, Reason.LOST])
            await worker.end(running.pop(key), reason=reason)
            if reason == Reason.LOST:
                waiting.add(key)
        elif step == "cancel" and waiting:
            key = rng.choice([*waiting])
            await world.api.cancel_jobs(world.caller, key[0], [key[1]])
            waiting.discard(key)
        elif step == "fold":
            await world.fold()
        elif step == "set":
            most[which] = rng.choice([2000, 3000, 4500])
            await set_quota(world, users[which].user_name, cores=most[which] / 1000)
            await visit(world)
        for user in (0, 1):
            assert await cores(world, users[user]) * 1000 == used(size, running, user)
    # All that fits is offered: with everything ended, each job gets its turn.
    for user in users:
        await set_quota(world, user.user_name, cores=3)
    await worker.end(*running.values())
    for _ in range(len(waiting)):
        await visit(world)
        claimed = await worker.claim()
        await worker.end(*claimed)
        waiting -= {*ids(claimed)}
    assert not waiting


def used(
    size: dict[tuple[int, int], tuple[int, int]],
    running: dict[tuple[int, int], Claimed],
    user: int,
) -> int:
    """Return how many mCPU the running jobs of a user have."""
    return sum(size[key][1] for key in running if size[key][0] == user)
