"""How many bytes may be stored for a user and for a tenant. Quotas of batches count those that
have no jobs yet, as long as they may get some.
"""

import asyncio
import hashlib

import msgspec
import pytest

from builders import end_report, job_rows, tree
from store.barriers import quotas_locked, set_of_tenant, set_quota, used
from store.batch_steps import NEW, add, delete, new_batch, open_update, remove, settle, step
from store.test_monitor import look, running
from store.test_resubmissions import copy
from store.world import Worker, World
from weft.core.errors import QuotaExceeded
from weft.core.notes import Note
from weft.core.states import Reason
from weft.ports.store import UNKEYED, Caller, Claimed, JobRows, Origin
from weft.store.database import call_on
from weft.store.end_columns import end_columns
from weft.wire.payload import PART_BYTES, bytes_of_part, parts_of

FORGET = (
    (
        "DELETE FROM weft.user_storage WHERE tenant_id = "
        "(SELECT tenant_id FROM weft.batch_storage WHERE batch_id = $1)"
    ),
    "DELETE FROM weft.batch_storage WHERE batch_id = $1",
    "UPDATE weft.batch SET bytes_counted = false WHERE batch_id = $1",
)
KEPT_MAX = 64 * 2**20


def specs(rows: JobRows) -> int:
    """Return how much the specs of these jobs take."""
    return sum(map(len, rows.chunk_body))


ONE = specs(job_rows(1))


async def stored(world: World, caller: Caller | None = None) -> int:
    """Return how many bytes are stored for a user."""
    caller = caller or world.caller
    (row,) = [x for x in await world.api.list_quotas(caller) if x["name"] == caller.user_name]
    n_bytes: int = row["n_bytes"]
    return n_bytes


async def wrote(
    worker: Worker,
    one: Claimed,
    stdout: int,
    stderr: int = 0,
    *,
    truncated: bool = False,
    reason: Reason | None = None,
) -> None:
    """Report the end of an attempt that has written this much."""
    report = msgspec.structs.replace(
        end_report(one, reason), stdout_bytes=stdout, stderr_bytes=stderr, truncated=truncated
    )
    await worker.store.complete_attempts(worker.id, [report])


async def add_payload(world: World, batch: int, data: bytes) -> None:
    digest = hashlib.sha256(data).digest()
    await world.api.add_payload_part(world.caller, batch, digest, 1, data, n_bytes=len(data))


async def forget(world: World) -> None:
    """Remove all updates that are not committed, as if their time were over."""
    while await world.driver.remove_old(await world.lead(), events_keep_s=1e6, updates_keep_s=0):
        pass


async def test_output_specs_and_payloads_are_stored_until_their_batch_is_removed(
    world: World, worker: Worker
) -> None:
    """What is repeated counts once, and of output that was cut what is kept."""
    batch = await new_batch(world)
    for _ in range(2):
        await add_payload(world, batch, b"x" * 1000)
    update = await open_update(world, batch, 2)
    rows = job_rows(2, max_attempts=2, retry_on=[Reason.EXIT])
    await add(world, batch, update, rows)
    before = await stored(world)
    for _ in range(2):
        await world.api.commit_update(world.caller, batch, update.update_id)
    committed = await stored(world)
    first, second = await worker.claim()
    for _ in range(2):
        await wrote(worker, first, 100, 20)
    await wrote(worker, second, 10, reason=Reason.EXIT)
    (again,) = await worker.claim()
    await wrote(worker, again, KEPT_MAX * 3, 7, truncated=True)
    n_all = 1000 + specs(rows) + 120 + 10 + KEPT_MAX + 7

    assert before == committed == 1000 + specs(rows)
    assert await stored(world) == n_all
    await world.fold()
    assert await stored(world) == n_all
    other = await world.submit(1)
    await remove(world, await delete(world, batch), audited=True)
    assert await stored(world) == ONE
    await remove(world, await delete(world, other))
    assert await stored(world) == 0


async def test_nothing_more_is_stored_beyond_a_quota(world: World, worker: Worker) -> None:
    """Output may exceed it; what is removed makes room."""
    bob = await world.user("bob")
    await set_quota(world, "ada", bytes=500 + ONE)
    batch = await world.submit(1)
    (one,) = await worker.claim()
    await wrote(worker, one, 500)
    with pytest.raises(QuotaExceeded) as refused:
        await world.submit(1)
    with pytest.raises(QuotaExceeded):
        await world.submit(1, batch=batch, caller=bob)
    with pytest.raises(QuotaExceeded):
        await add_payload(world, batch, b"y")
    await world.submit(1, caller=bob)
    await remove(world, await delete(world, batch))
    await world.submit(1)

    assert str(refused.value).startswith(
        'user "ada" would have more bytes stored than the quota allows\n'
        f"  {500 + ONE} bytes are stored and {ONE} would come; at most {500 + ONE} are allowed."
    )
    await set_quota(world, "ada", bytes=None)
    await set_quota(world, None, bytes=2 * ONE)
    await world.submit(1)
    await set_of_tenant(world, bytes=3 * ONE)
    with pytest.raises(QuotaExceeded) as of_tenant:
        await world.submit(1, caller=bob)
    assert 'tenant "' in str(of_tenant.value)


@pytest.mark.parametrize("of_tenant", [False, True])
async def test_notes_are_stored_bytes_and_none_is_kept_beyond_a_quota(
    world: World, worker: Worker, of_tenant: bool
) -> None:
    """One in the place of another counts by what is more; a 17th takes the place of the oldest."""
    batch = await world.submit(1)
    (one,) = await worker.claim_and_start()

    async def left(title: int, n_bytes: int) -> int:
        """Leave a note; return how much more is stored than the specs."""
        note = Note(str(title), "text", b"x" * n_bytes)
        assert await worker.store.record_note(worker.id, one.key, note)
        return await stored(world) - ONE

    async def allow(n_bytes: int) -> None:
        if of_tenant:
            await set_of_tenant(world, bytes=ONE + n_bytes)
        else:
            await set_quota(world, "ada", bytes=ONE + n_bytes)

    assert [await left(title, 100) for title in range(17)] == [*range(100, 1700, 100), 1600]
    assert await left(16, 30) == 1530
    await allow(1560)
    assert await left(16, 60) == 1560
    assert await left(16, 61) == 1560
    assert await left(17, 1) == 1560
    with pytest.raises(QuotaExceeded):
        await world.submit(1)
    assert await left(16, 10) == 1510
    await worker.end(one)
    await world.fold()
    assert await stored(world) - ONE == 1510
    await remove(world, await delete(world, batch), audited=True)
    assert await stored(world) == 0


async def test_submissions_at_once_do_not_exceed_a_quota(world: World) -> None:
    batch = await new_batch(world)
    await set_quota(world, "ada", bytes=3 * PART_BYTES + ONE)
    answers = await asyncio.gather(
        *[add_payload(world, batch, bytes([n]) * PART_BYTES) for n in range(5)],
        world.submit(1),
        return_exceptions=True,
    )

    refused = [one for one in answers if isinstance(one, BaseException)]
    assert {type(one) for one in refused} == {QuotaExceeded}
    assert len(refused) == 2
    assert await stored(world) == 3 * PART_BYTES + ONE


async def test_copies_are_stored_too(world: World) -> None:
    batch = await world.submit(1)
    await add_payload(world, batch, b"z" * 300)
    await (await world.worker()).run()
    await copy(world, batch)

    assert await stored(world) >= 2 * 300 + 2 * ONE


async def test_batch_that_is_older_than_the_sums_is_not_missed(world: World) -> None:
    """What is added to it counts, and goes with it."""
    worker = await world.worker()
    batch = await world.submit(2)
    await world.fold()
    for statement in FORGET:
        await world.admin.execute(statement, batch)
    for one in await worker.claim():
        await wrote(worker, one, 50)

    assert await stored(world) == 100
    await remove(world, await delete(world, batch), audited=True)
    assert await stored(world) == 0


async def test_late_end_beside_the_removal_of_its_batch_leaves_no_bytes(world: World) -> None:
    """Committed after the look for what is not added up, and folded before the batch is marked."""
    batch, worker, one = await running(world, executing_s=60)
    await look(world, in_s=90)
    operation = await delete(world, batch)
    await step(world, operation)
    await settle(world)
    report = msgspec.structs.replace(end_report(one), stdout_bytes=100)
    late, removal = await world.connect(), await world.connect()
    arguments = {"epoch": await world.lead(), "of_operation_id": operation, "limit_rows": 100}
    async with removal.transaction():
        async with late.transaction():
            mine = {"incarnation_id": worker.id, **end_columns([report])}
            await call_on(late, "complete_attempts", **mine)
            await call_on(removal, "remove_batch", **arguments)
        folding = await world.start_waiting(world.fold())
    await folding

    assert await world.findings() == {}
    await remove(world, operation, audited=True)
    assert await stored(world) == 0


DATA = bytes(PART_BYTES) + b"end"
DIGEST = hashlib.sha256(DATA).digest()


async def add_part(world: World, batch: int, part: int) -> None:
    body = DATA[(part - 1) * PART_BYTES : part * PART_BYTES]
    await world.api.add_payload_part(world.caller, batch, DIGEST, part, body, n_bytes=len(DATA))


async def missing(world: World, batch: int) -> bool:
    other = hashlib.sha256(b"other").digest()
    found = await world.api.missing_payloads(world.caller, batch, [DIGEST, other])
    assert other in found
    return DIGEST in found


def test_all_parts_but_the_last_have_one_size() -> None:
    assert [parts_of(n) for n in (1, PART_BYTES, PART_BYTES + 1)] == [1, 1, 2]
    assert [bytes_of_part(part, len(DATA)) for part in (0, 1, 2, 3)] == [0, PART_BYTES, 3, 0]


async def test_a_payload_is_there_when_all_its_parts_are(world: World) -> None:
    batch, other = await new_batch(world), await new_batch(world)
    store = world.backend.worker_store()

    assert await missing(world, batch)
    await add_part(world, batch, 2)
    assert await missing(world, batch)
    for _ in range(2):
        await add_part(world, batch, 1)
    assert not await missing(world, batch)
    assert await missing(world, other)
    assert await store.get_payload_part(batch, DIGEST, 2) == (len(DATA), b"end")
    assert await store.get_payload_part(batch, DIGEST, 3) is None
    assert await store.get_payload_part(other, DIGEST, 2) is None


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
async def test_batches_made_at_once_do_not_exceed_a_quota(world: World, of_tenant: bool) -> None:
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
