"""How much a user and a tenant may have that has not ended. Quotas of stored bytes count what was
sent, from then on, whether it is committed or not; what is stored, against a model: the sums are
exact at every moment.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Awaitable
from typing import Any

import pytest

from builders import job_rows
from store.barriers import quotas_locked, set_of_tenant, set_quota, used
from store.batch_steps import add, delete, new_batch, open_update, remove
from store.test_byte_quotas import ONE, add_payload, forget, specs, stored, wrote
from store.test_resubmissions import advance, ask
from store.world import Worker, World
from weft.core.errors import QuotaExceeded, WeftError
from weft.core.notes import Note
from weft.core.problems import problem_document
from weft.core.states import Reason
from weft.driver.operations import resubmit
from weft.ports.store import Claimed
from weft.store.database import call_on
from weft.store.submission import _bunch

LARGE = b"p" * 300


async def send(world: World, batch: int, n_jobs: int = 1) -> int:
    """Send the jobs of a new update, which is not committed; return its number."""
    update = await open_update(world, batch, n_jobs)
    await add(world, batch, update, job_rows(n_jobs))
    return update.update_id


async def test_what_is_sent_is_stored_from_then_on(world: World) -> None:
    """Not once more when it is committed; what was refused is not there and may come later."""
    await set_quota(world, None, bytes=2 * ONE)
    batch = await new_batch(world)
    first = await send(world, batch)
    second = await open_update(world, batch, 1)
    other = await world.submit(1)
    with pytest.raises(QuotaExceeded) as refused:
        await add(world, batch, second, job_rows(1))
    with pytest.raises(QuotaExceeded):
        await world.submit(1)
    done = await world.api.commit_update(world.caller, batch, first)
    committed = await stored(world)
    await (await world.worker()).run()
    await remove(world, await delete(world, other))
    await add(world, batch, second, job_rows(1))
    await world.api.commit_update(world.caller, batch, second.update_id)

    assert done.committed
    assert (committed, await stored(world)) == (2 * ONE, 2 * ONE)
    assert f"{2 * ONE} bytes are stored and {ONE} would come; at most" in str(refused.value)
    assert "submissions that were broken off" in str(refused.value)


async def test_same_jobs_sent_again_are_taken_beyond_the_quota(world: World) -> None:
    """They are there already. Those of an older client count as well."""
    batch = await new_batch(world)
    update = await open_update(world, batch, 2)
    rows = job_rows(1)
    await set_quota(world, "ada", bytes=ONE)
    assert await add(world, batch, update, rows)
    assert not await add(world, batch, update, rows)
    arguments = {**_bunch(world.caller, batch, update.update_id, rows), "first_job": 2}
    api = await world.connect("weft_api")
    with pytest.raises(Exception, match="more bytes stored"):
        await call_on(api, "add_jobs", **arguments)

    assert await stored(world) == ONE


@pytest.mark.parametrize("folded", [False, True])
async def test_what_is_never_committed_makes_room_when_it_is_removed(
    world: World, *, folded: bool
) -> None:
    bob = await world.user("bob")
    batch = await world.submit(1)
    world.caller, ada = bob, world.caller
    await send(world, batch, 3)
    world.caller = ada
    other = await new_batch(world)
    await send(world, other)
    n_all = 2 * ONE + specs(job_rows(3))
    assert (await stored(world), await stored(world, bob)) == (n_all, 0)
    if folded:
        await world.fold()
    await forget(world)

    assert await stored(world) == ONE
    await world.fold()
    assert await stored(world) == ONE


async def test_deleted_batch_takes_along_what_was_sent_to_it(world: World) -> None:
    batch = await world.submit(1)
    await send(world, batch, 2)
    await (await world.worker()).run()
    operation = await delete(world, batch)
    await remove(world, operation, audited=True)
    await forget(world)
    await world.fold()

    assert await stored(world) == 0


@pytest.mark.parametrize("of_tenant", [False, True])
async def test_jobs_sent_at_once_do_not_exceed_a_quota(world: World, of_tenant: bool) -> None:
    """To one update, to others, with submissions and payloads beside them."""
    ada, bob = world.caller, await world.user("bob") if of_tenant else world.caller
    await (set_of_tenant if of_tenant else set_quota)(
        world, *([] if of_tenant else ["ada"]), bytes=4 * ONE
    )
    calls: list[Awaitable[Any]] = []
    for caller in (ada, bob):
        world.caller = caller
        batch = await new_batch(world)
        updates = [await open_update(world, batch, 1) for _ in range(4)]
        calls += [add(world, batch, update, job_rows(1)) for update in updates]
        calls += [world.submit(1, caller=caller), add_payload(world, batch, b"x" * ONE)]
    world.caller = ada
    answers = await asyncio.gather(*calls, return_exceptions=True)

    refused = [one for one in answers if isinstance(one, BaseException)]
    assert {type(one) for one in refused} == {QuotaExceeded}
    assert len(answers) - len(refused) == 4
    assert sum([await stored(world, one) for one in {ada, bob}]) == 4 * ONE


async def test_upload_waits_for_another_only_with_a_quota_of_bytes(world: World) -> None:
    """Other quotas do not count what is sent."""
    await set_quota(world, "ada", jobs=9, batches=9)
    batch = await new_batch(world)
    updates = [await open_update(world, batch, 1) for _ in range(2)]
    other = await world.connect()
    lock = "SELECT FROM weft.tenant_user WHERE user_id = $1 FOR NO KEY UPDATE"
    async with other.transaction():
        await other.execute(lock, world.caller.user_id)
        async with asyncio.timeout(60):
            await add(world, batch, updates[0], job_rows(1))
    await set_quota(world, "ada", bytes=9 * ONE)
    async with other.transaction():
        await other.execute(lock, world.caller.user_id)
        waiting = await world.start_waiting(add(world, batch, updates[1], job_rows(1)))
        assert not waiting.done()
    await waiting


async def copy(world: World, operation: int) -> None:
    while (await advance(world, operation))["state"] == "running":
        pass


async def copy_until_refused(world: World, operation: int) -> WeftError:
    """Do steps as the driver does, until one fails; end the operation with that."""
    with pytest.raises(QuotaExceeded) as refused:
        await copy(world, operation)
    await world.driver.fail_operation(
        await world.lead(), operation, problem_document(refused.value, "")
    )
    return refused.value


@pytest.mark.parametrize(
    ("payload", "more", "n_kept"), [(None, 2 * ONE - 1, ONE), (LARGE, len(LARGE) - 1, 0)]
)
async def test_copies_beyond_a_quota_are_refused_and_removed(
    world: World, monkeypatch: pytest.MonkeyPatch, payload: bytes | None, more: int, n_kept: int
) -> None:
    """Before all of them are there: specs, and payloads."""
    monkeypatch.setattr(resubmit, "STEP_JOBS", 1)
    batch = await world.submit(2)
    if payload is not None:
        await add_payload(world, batch, payload)
    await (await world.worker()).run()
    before = await stored(world)
    operation = await ask(world, batch)
    await set_quota(world, "ada", bytes=before + more)
    error = await copy_until_refused(world, operation)
    copied = await stored(world) - before
    for running in await world.driver.running_operations(await world.lead()):
        await remove(world, running.operation_id, audited=True)

    assert "more bytes stored" in error.message
    assert copied == n_kept
    assert await stored(world) == before


STEPS = 60
MOVES = ("submit", "send", "commit", "expire", "payload", "run", "fold", "remove")
WEIGHTS = (2, 2, 1, 1, 1, 1, 1, 1)


class Model:
    """What there must be, and what changes it."""

    def __init__(self, world: World, worker: Worker, seed: int) -> None:
        self.world = world
        self.worker = worker
        self.rng = random.Random(seed)  # noqa: S311 (a test)
        self.most: int | None = None
        self.stored: defaultdict[int, int] = defaultdict(int)
        """Bytes by batch."""
        self.sent: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        """By batch, updates that are not committed, and how much their specs take."""
        self.notes: defaultdict[tuple[int, int], dict[str, int]] = defaultdict(dict)
        """By job, how long the note of each title is."""
        self.n_refused = self.n_passed_over = 0

    def any_batch(self) -> int | None:
        """Return a batch that there is; None: a new one."""
        return self.rng.choice([None, *self.stored])

    async def take(self, n_bytes: int, call: Awaitable[Any]) -> bool:
        """Do what stores this; return whether it was taken, which must be as the quota says."""
        if self.most is None or sum(self.stored.values()) + n_bytes <= self.most:
            await call
            return True
        self.n_refused += 1
        with pytest.raises(QuotaExceeded):
            await call
        return False

    async def submit(self) -> None:
        rows, batch = job_rows(self.rng.randint(1, 4)), self.any_batch()
        batch = batch or await new_batch(self.world)
        if await self.take(specs(rows), self.world.submit(rows, batch=batch)):
            self.stored[batch] += specs(rows)

    async def send(self) -> None:
        rows, batch = job_rows(self.rng.randint(1, 4)), self.any_batch()
        batch = batch or await new_batch(self.world)
        update = await open_update(self.world, batch, rows.n_jobs)
        if await self.take(specs(rows), add(self.world, batch, update, rows)):
            self.stored[batch] += specs(rows)
            self.sent[batch].append((update.update_id, specs(rows)))

    async def commit(self) -> None:
        if batches := [one for one, updates in self.sent.items() if updates]:
            batch = self.rng.choice(batches)
            update_id, _ = self.sent[batch].pop()
            await self.world.api.commit_update(self.world.caller, batch, update_id)

    async def expire(self) -> None:
        await forget(self.world)
        for batch, updates in self.sent.items():
            self.stored[batch] -= sum(n_bytes for _, n_bytes in updates)
        self.sent.clear()

    async def payload(self) -> None:
        if batch := self.any_batch():
            data = self.rng.randbytes(self.rng.randint(1, 500))
            if await self.take(len(data), add_payload(self.world, batch, data)):
                self.stored[batch] += len(data)

    async def run(self) -> None:
        for one in await self.worker.claim(3):
            stdout, stderr = self.rng.randint(0, 500), self.rng.randint(0, 99)
            reason = self.rng.choice([None, Reason.EXIT, Reason.LOST])
            await self.say(one)
            await wrote(self.worker, one, stdout, stderr, reason=reason)
            self.stored[one.batch_id] += stdout + stderr

    async def say(self, one: Claimed) -> None:
        """Leave notes, longer and shorter ones in the place of others; those for which there is
        no room are passed over.
        """
        notes = self.notes[one.batch_id, one.job_id]
        for _ in range(self.rng.randint(0, 4)):
            title, body = self.rng.choice("abc"), self.rng.randbytes(self.rng.randint(0, 300))
            note = Note(title, "text", body)
            assert await self.worker.store.record_note(self.worker.id, one.key, note)
            more = len(body) - notes.get(title, 0)
            if more > 0 and self.most is not None and sum(self.stored.values()) + more > self.most:
                self.n_passed_over += 1
                continue
            notes[title] = len(body)
            self.stored[one.batch_id] += more

    async def fold(self) -> None:
        await self.world.fold()

    async def remove(self) -> None:
        if batch := self.any_batch():
            await remove(self.world, await delete(self.world, batch))
            self.stored.pop(batch)
            self.sent.pop(batch, None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_stored_bytes_are_exact_at_every_moment(world: World, seed: int) -> None:
    model = Model(world, await world.worker(), seed)
    for _ in range(STEPS):
        model.most = model.rng.choice([None, 1000, 3000])
        await set_quota(world, "ada", bytes=model.most)
        (move,) = model.rng.choices(MOVES, WEIGHTS)
        await getattr(model, move)()
        assert await stored(world) == sum(model.stored.values())
    assert model.n_refused
    assert model.n_passed_over


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

    assert (
        await world.admin.fetchval(
            "SELECT count(*) FROM weft.quota WHERE tenant_id = $1", world.caller.tenant_id
        )
        == 0
    )


@pytest.mark.parametrize("of_tenant", [False, True])
async def test_submissions_at_once_do_not_exceed_a_quota(world: World, of_tenant: bool) -> None:
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
