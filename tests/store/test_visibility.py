"""Which batches a caller sees: the same ones by every way of asking."""

import random
from dataclasses import replace
from itertools import product

import pytest

from store.batch_steps import delete, remove, settle, step
from store.grants import grant, join, leave, project_of
from store.test_concurrency_keys import rows_with
from store.test_resubmissions import ask
from store.world import World
from weft.core import errors
from weft.core.access.rights import Permission, UserRole
from weft.core.batch_order import BatchOrder, BatchSort
from weft.core.billing.spending import Measure
from weft.core.states import Reason
from weft.ports.store import UNKEYED, BatchQuery, Caller, QueryLimits
from weft.ports.store.queries import Limited

LIMITS = QueryLimits(timeout_s=60, scan_jobs_max=10)
CHECK = "owners_are_noted"
_SCHEDULE = """
    INSERT INTO weft.schedule (tenant_id, user_id, billing_project, cron, time_zone, missed,
        document, next_at, created_at, digest, project_id)
    SELECT $1, $2, 'DEFAULT', '* * * * *', 'UTC', 'skip', '{}', now(), now(), '', project_id
    FROM weft.billing_project WHERE tenant_id = $1 AND name = 'default'
"""


async def get(world: World, caller: Caller, batch: int) -> bool:
    try:
        await world.api.get_batch(caller, batch)
    except errors.BatchNotFound:
        return False
    return True


async def pages(world: World, caller: Caller, name: str | None = None) -> list[int]:
    """Return all that is listed, two a page."""
    found: list[int] = []
    while True:
        rows = await world.api.list_batches(
            caller, before=found[-1] if found else None, limit=2, name=name
        )
        if not rows:
            return found
        found += [row["id"] for row in rows]


async def by_query(world: World, caller: Caller) -> list[int]:
    wanted = BatchQuery(limit=100, limits=LIMITS)
    return [row["id"] for row in await world.api.query_batches(caller, wanted)]


async def by_order(world: World, caller: Caller, order: BatchOrder) -> list[int]:
    """Return all batches that are listed in an order, three a page."""
    found: list[int] = []
    after = None
    while True:
        wanted = BatchQuery(limit=3, limits=LIMITS, order=order, after=after, hidden=True)
        rows, after = await world.api.sort_batches(caller, wanted)
        found += [row["id"] for row in rows]
        if after is None:
            return found


async def operations_of(world: World, caller: Caller) -> list[int]:
    """Return all operations that are listed, two a page."""
    found: list[int] = []
    while True:
        before = found[-1] if found else None
        rows = await world.api.list_operations(caller, before=before, limit=2, batch_id=None)
        if not rows:
            return found
        found += [row["id"] for row in rows]


async def sees_operation(world: World, caller: Caller, operation: int) -> bool:
    try:
        await world.api.get_operation(caller, operation)
    except errors.OperationNotFound:
        return False
    return True


async def by_events(world: World, caller: Caller, position: tuple[int, int]) -> set[int]:
    found: set[int] = set()
    while True:
        rows, position = await world.api.list_events(
            caller, after=position, batch_id=None, limit=50
        )
        found |= {row["batch_id"] for row in rows}
        if not rows:
            return found


async def operate(
    world: World, chance: random.Random, callers: list[Caller], batches: list[int], removed: int
) -> list[int]:
    """Return operations that callers have asked for, some on no batch, and one that has removed a
    batch.
    """
    found = [
        await world.admin.fetchval(
            "INSERT INTO weft.operation (tenant_id, user_id, batch_id, kind, state, created_at) "
            "VALUES ($1, $2, $3, 'retry', 'failed', now()) RETURNING operation_id",
            world.caller.tenant_id,
            chance.choice(callers).user_id,
            batch,
        )
        for batch in [*batches, *batches, None, None, None]
    ]
    admin = replace(chance.choice(callers), role=UserRole.OPERATOR)
    found.append(await world.api.delete_batch(admin, removed, UNKEYED))
    while (await world.api.get_operation(admin, found[-1]))["state"] == "running":
        if not await step(world, found[-1]):
            await settle(world)
    return found


@pytest.mark.parametrize("seed", range(3))
async def test_all_ways_of_asking_show_the_same_batches(world: World, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (a test)
    start = await world.api.events_now()
    members = [world.caller, *[await world.user(name) for name in ("bob", "cyd")]]
    projects = [await project_of(world, name, *members) for name in "pq"]
    batches = [
        await world.submit(
            caller=chance.choice(members),
            name=chance.choice(["a", "b"]),
            billing_project=chance.choice(["p", "q"]),
        )
        for _ in range(12)
    ]
    await (await world.worker()).run(len(batches))
    await world.fold()
    callers = [await leave(world, one) for one in members]
    for one in callers[1:]:
        if chance.random() < 0.5:
            await join(world, one, chance.choice(projects))
        for batch in chance.sample(batches, 3):
            await grant(world, one, batch, chance.choice(list(Permission)))
    hidden, deleted = chance.sample(batches, 2)
    admin = replace(world.caller, role=UserRole.OPERATOR)
    removed = chance.choice([one for one in batches if one not in {hidden, deleted}])
    operations = await operate(world, chance, callers, batches, removed)
    batches.remove(removed)
    await world.api.hide_batch(admin, hidden, hidden=True)
    operations.append(await world.api.delete_batch(admin, deleted, UNKEYED))
    for one in [*callers, admin]:
        seen = [batch for batch in reversed(batches) if await get(world, one, batch)]
        shown = [batch for batch in seen if batch != hidden]
        named = [
            row["id"]
            for row in await world.api.list_batches(one, before=None, limit=100, name="a")
        ]

        assert await pages(world, one) == shown
        assert await by_query(world, one) == shown
        assert await pages(world, one, "a") == named
        assert set(named) <= set(shown)
        for sort, reverse in product(BatchSort, (False, True)):
            found = await by_order(world, one, BatchOrder(sort, reverse))
            assert sorted(found, reverse=True) == seen, (sort, reverse)
        assert await operations_of(world, one) == [
            number for number in reversed(operations) if await sees_operation(world, one, number)
        ]
        assert await by_events(world, one, start) - {deleted, removed} == set(seen)
        assert deleted not in seen
    assert await pages(world, admin) == [
        b for b in reversed(batches) if b not in (hidden, deleted)
    ]


@pytest.mark.parametrize("permission", list(Permission))
@pytest.mark.parametrize("needs", list(Permission))
async def test_permission_includes_those_before_it(
    world: World, permission: Permission, needs: Permission
) -> None:
    batch = await world.submit()
    bob = replace(await leave(world, await world.user("bob")), needs=needs)
    with pytest.raises(errors.BatchNotFound):
        await world.api.get_batch(bob, batch)
    await grant(world, bob, batch, permission)
    if permission >= needs:
        assert (await world.api.get_batch(bob, batch))["id"] == batch
        return
    with pytest.raises(errors.PermissionMissing, match="may not do this") as refused:
        await world.api.get_batch(bob, batch)

    assert refused.value.detail == (
        f'Your permission is "{permission.word}"; this needs "{needs.word}".'
    )


async def test_removed_batches_and_users_take_their_grants_and_keys_along(world: World) -> None:
    batch, other = await world.submit(), await world.submit()
    bob = await leave(world, await world.user("bob"))
    for one in (batch, other):
        await grant(world, bob, one, Permission.READ)
    await remove(world, await delete(world, batch))
    first = {"tenant_id": bob.tenant_id, "user_id": bob.user_id, "repeat_key": "k", "digest": b"d"}
    await world.call("first_answer", **first, answer={"n": 1})
    keys = "SELECT count(*) FROM weft.answered_request WHERE user_id = $1"
    count = "SELECT count(*) FROM weft.batch_grant WHERE user_id = $1"
    after_removal = await world.admin.fetchval(count, bob.user_id)
    n_keys = await world.admin.fetchval(keys, bob.user_id)
    await world.admin.execute(
        "UPDATE weft.tenant_user SET role = 'admin' WHERE user_id = $1", world.caller.user_id
    )
    admin = replace(world.caller, role=UserRole.ADMIN)
    await world.api.remove_user(admin, "bob", may_give=list(UserRole))

    assert (after_removal, n_keys) == (1, 1)
    for rest in (count, keys):
        assert await world.admin.fetchval(rest, bob.user_id) == 0


async def test_jobs_of_others_are_left_out_where_others_are_named(world: World) -> None:
    """A key and a worker name jobs; those that one may not see are not among them."""
    bob = await leave(world, await world.user("bob"))
    await project_of(world, "b", bob)
    worker = await world.worker()
    holder = await world.submit(rows_with("db", 1, 1))
    await worker.start(*await worker.claim())
    rows = rows_with("db", 1, 1)
    rows.rare_fields[0] = {**rows.rare_fields[0], "concurrency_key": {"key": "db", "n": 1}}
    waiting = await world.submit(rows, caller=bob, billing_project="b")
    operator = replace(world.caller, role=UserRole.OPERATOR)

    async def named(caller: Caller) -> dict[str, list[int]]:
        job = await world.api.get_job(caller, waiting, 1)
        facts = await world.api.why_job(caller, waiting, 1)
        workers = (await world.api.overview(caller))["workers"]
        return {
            "key": [one["batch_id"] for one in job.get("key_holders") or ()],
            "why": [one.batch_id for gate in facts.gates for one in gate.holders],
            "worker": [one["batch_id"] for shown in workers for one in shown["jobs"]],
        }

    everything = {"key": [holder], "why": [holder], "worker": [holder]}
    assert await named(operator) == everything
    assert await named(bob) == {name: [] for name in everything}


async def test_audit_sees_rows_that_note_a_wrong_owner(own_world: World) -> None:
    """But for the operation that removed a batch, which forgets them."""
    gone, batch = await own_world.submit(), await own_world.submit()
    await (await own_world.worker()).run()
    await own_world.fold()
    await remove(own_world, await delete(own_world, gone))
    await ask(own_world, batch)
    await own_world.submit(batch=batch)
    await (await own_world.worker("failing")).run(reason=Reason.EXIT)
    while await own_world.driver.sweep("fold_failures", await own_world.lead(), limit_jobs=1000):
        pass
    of = Limited("group", batch_id=batch)
    await own_world.api.set_limit(own_world.caller, of, Measure.COST, {"amount_max": 5})
    await own_world.admin.execute(_SCHEDULE, own_world.caller.tenant_id, own_world.caller.user_id)
    assert CHECK not in await own_world.findings()
    for change in (
        "UPDATE weft.failure_cause SET owner_id = NULL WHERE batch_id = $1",
        "UPDATE weft.failure_cause SET project_id = NULL WHERE batch_id = $1",
        "UPDATE weft.spend_limit SET owner_id = NULL WHERE batch_id = $1",
        "UPDATE weft.spend_limit SET shared_project_id = NULL WHERE batch_id = $1",
        "UPDATE weft.schedule SET project_id = NULL WHERE $1::bigint > 0",
        "UPDATE weft.operation SET owner_id = NULL WHERE batch_id = $1",
        "UPDATE weft.operation SET project_id = NULL WHERE batch_id = $1",
        "UPDATE weft.group_completion SET owner_id = NULL WHERE batch_id = $1",
        "UPDATE weft.group_completion SET project_id = NULL WHERE batch_id = $1",
    ):
        assert len((await own_world.findings_after(change, batch))[CHECK]) == 1, change
    left = await own_world.admin.execute(
        "UPDATE weft.operation SET owner_id = $2 WHERE batch_id = $1",
        gone,
        own_world.caller.user_id,
    )
    assert left == "UPDATE 1"
    assert CHECK not in await own_world.findings()
