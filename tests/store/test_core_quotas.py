"""How many cores the running jobs of a user and of a tenant may have."""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from builders import array_rows, job_rows, with_fields
from store.barriers import set_of_tenant, set_quota, visit
from store.test_resubmissions import copy
from store.test_retry_with import end
from store.world import Worker, World
from weft.core.errors import QuotaExceeded
from weft.core.states import Reason
from weft.core.why import causes_of_wait
from weft.ports.store import Caller, Claimed, JobRows, Shape
from weft.submission.translation.gates import SENTENCES
from weft.submission.translation.retries import ASKS_MORE, CURABLE

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
    others, worker, claimed = await world.submit_and_claim(asking(world, 3000, 3000), caller=bob)

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
    _, worker, claimed = await world.submit_and_claim(asking(world, 1000), batch=hers, caller=bob)

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
    family, worker, first = await world.submit_and_claim(job_rows(2, parents={2: [1]}))
    await worker.end(*first)
    second = await worker.claim()

    assert ids(first) == [(array, n) for n in range(1, 5)]
    assert ids(second) == [(array, 5), (family, 1)]
    await worker.end(*second)
    assert ids(await worker.claim()) == [(family, 2)]


async def test_large_job_is_not_passed_by_small_ones_of_its_user(world: World) -> None:
    """Others of the tenant pass it while its user has no room, also those who run more."""
    bob = await world.user("bob")
    await set_of_tenant(world, cores=8)
    await set_quota(world, "ada", cores=4)
    his = await world.submit(asking(world, *[1000] * 4), caller=bob)
    hers, worker, first = await world.submit_and_claim(asking(world, 1000, 4000, 1000))
    await world.fold()
    more = await world.submit(asking(world, *[1000] * 3), caller=bob)
    second = await worker.claim()

    assert {*ids(first)} == {*[(his, n) for n in range(1, 5)], (hers, 1)}
    assert ids(second) == [(more, n) for n in range(1, 4)]
    await worker.end(*first, *second)
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
    batch, worker, running = await world.submit_and_claim(asking(world, *[1000] * 9))
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
    await world.submit(asking(world, 1000))
    await set_quota(world, None, cores=0)
    await visit(world)
    assert await worker.claim() == []


async def test_lowered_quota_takes_back_no_more_than_is_too_much(world: World) -> None:
    """Places are mCPU here: one core is a thousand places, and yet one job."""
    await set_quota(world, "ada", cores=4)
    batch = await world.submit(asking(world, *[1000] * 4))
    before = await admitted(world, batch)
    await set_quota(world, "ada", cores=3)
    await visit(world)

    assert sorted(before) == [1, 2, 3, 4]
    assert await admitted(world, batch) == {job: before[job] for job in (1, 2, 3)}


async def admitted(world: World, batch: int) -> dict[int, datetime]:
    """Return when each job got its places."""
    rows = await world.admin.fetch(
        "SELECT job_id, admitted_at FROM weft.place WHERE batch_id = $1", batch
    )
    return {row["job_id"]: row["admitted_at"] for row in rows}


async def test_submission_and_a_changed_quota_wait_for_each_other(world: World) -> None:
    """Otherwise it would make the gate of its user with the number that was."""
    await set_quota(world, None, cores=4)
    async with world.transaction() as other:
        await other.execute(
            "SELECT weft.set_quota($1, NULL, '{\"cores\": 1}')", world.caller.tenant_id
        )
        waiting = await world.start_waiting(world.submit(asking(world, 1000, 1000)))
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
    batch, worker = await world.submit_and_run(asking(world, 1000, 1000))
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
    key = f"t{world.caller.tenant_id}/{world.caller.user_id}"
    found = await world.findings_after(change, key)

    assert "cores_are_counted" in found


class Model:
    """What two users have: the size of each job, which wait, and which run."""

    def __init__(self, world: World, users: Sequence[Caller], rng: random.Random) -> None:
        self.world = world
        self.users = users
        self.rng = rng
        self.most = [3000, 4000]
        self.size: dict[tuple[int, int], tuple[int, int]] = {}
        self.waiting: set[tuple[int, int]] = set()
        self.running: dict[tuple[int, int], Claimed] = {}

    def used(self, user: int) -> int:
        """Return how many mCPU the running jobs of a user have."""
        return sum(self.size[key][1] for key in self.running if self.size[key][0] == user)

    async def submit(self, user: int) -> None:
        asked = [self.rng.choice(SIZES) for _ in range(self.rng.randint(1, 4))]
        if max(asked) > self.most[user]:
            with pytest.raises(QuotaExceeded):
                await self.world.submit(asking(self.world, *asked), caller=self.users[user])
            return
        batch = await self.world.submit(asking(self.world, *asked), caller=self.users[user])
        new = {(batch, n): (user, one) for n, one in enumerate(asked, 1)}
        self.size |= new
        self.waiting |= new.keys()

    async def claim(self, worker: Worker, limit: int) -> None:
        before = [self.used(user) for user in (0, 1)]
        claimed = await worker.claim(limit)
        self.running |= {(one.batch_id, one.job_id): one for one in claimed}
        self.waiting -= self.running.keys()
        for user in (0, 1):
            assert self.used(user) <= max(self.most[user], before[user])
        assert self.used(0) + self.used(1) <= 6000

    async def end(self, worker: Worker, reason: Reason | None) -> None:
        key = self.rng.choice([*self.running])
        await worker.end(self.running.pop(key), reason=reason)
        if reason == Reason.LOST:
            self.waiting.add(key)

    async def cancel(self) -> None:
        batch, job = key = self.rng.choice([*self.waiting])
        await self.world.api.cancel_jobs(self.world.caller, batch, [job])
        self.waiting.discard(key)

    async def set(self, user: int, most: int) -> None:
        self.most[user] = most
        await set_quota(self.world, self.users[user].user_name, cores=most / 1000)
        await visit(self.world)

    async def do(self, step: str, worker: Worker, least: int) -> None:
        """Do a step that is called so, if it can be done."""
        if step == "submit":
            await self.submit(self.rng.randrange(2))
        elif step == "claim":
            await self.claim(worker, self.rng.randint(1, 5))
        elif step == "end" and self.running:
            await self.end(worker, self.rng.choice([None, Reason.EXIT, Reason.LOST]))
        elif step == "cancel" and self.waiting:
            await self.cancel()
        elif step == "fold":
            await self.world.fold()
        elif step == "set":
            await self.set(self.rng.randrange(2), self.rng.choice([least, 3000, 4500]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_quotas_of_cores_hold_at_every_moment(world: World, seed: int) -> None:
    """Against a model: submissions of all sizes, ends, losses, cancels, folds, other quotas."""
    rng = random.Random(seed)  # noqa: S311 (a test)
    worker = await world.worker()
    model = Model(world, [world.caller, await world.user("bob")], rng)
    await set_of_tenant(world, cores=6)
    for user in (0, 1):
        await model.set(user, model.most[user])
    for _ in range(STEPS):
        step = rng.choice(["submit", "submit", "claim", "end", "end", "cancel", "fold", "set"])
        await model.do(step, worker, 2000)
        for user, caller in enumerate(model.users):
            assert await cores(world, caller) * 1000 == model.used(user)
    # All that fits is offered: each job gets its turn.
    for user in (0, 1):
        await model.set(user, 3000)
    while model.running:
        await model.end(worker, None)
    for _ in range(len(model.waiting)):
        await visit(world)  # an end may leave its places to the driver
        await model.claim(worker, 100)
        while model.running:
            await model.end(worker, None)
    assert not model.waiting
