"""Deliveries: one for each completion, picked fairly, tried until delivered or given up."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from builders import job_rows
from store.world import World, open_world
from weft.core.errors import CallbackDelivered, CallbackNotFound
from weft.core.states import Reason
from weft.ports.store import UNKEYED, DeliveryReport, DueCallback, NewGroup, NewSet
from weft.store.database import call_on

HOOK = "https://hook.example/batch?key=1"
GROUP_HOOK = "https://Other.example:8443/group"
TREE = [
    NewGroup(group_id=1, parent_id=0, name="a", callback=GROUP_HOOK),
    NewGroup(group_id=2, parent_id=1, name="b"),
]
LIMITS = {"limit_all": 32, "limit_tenant": 16, "limit_host": 4}


async def due(world: World, *busy: int, **limits: int) -> Sequence[DueCallback]:
    """Return what is due of this world."""
    found = await world.driver.due_callbacks(await world.lead(), busy, **{**LIMITS, **limits})
    return [one for one in found if one.tenant_id == world.caller.tenant_id]


async def report(world: World, *ids: int, delivered: bool = False, **more: Any) -> None:  # noqa: ANN401 (fields)
    facts = {"status": 500, "error": None, "retry_in_s": 3600.0, **more}
    reports = [DeliveryReport(delivery_id=one, delivered=delivered, **facts) for one in ids]
    await world.driver.record_deliveries(await world.lead(), reports)


async def listed(world: World, batch: int) -> list[dict[str, Any]]:
    return [
        dict(one)
        for one in await world.api.list_callbacks(world.caller, batch, after=0, limit=100)
    ]


async def complete(world: World, count: int = 1, **new: Any) -> int:  # noqa: ANN401 (as submit)
    """Return a batch whose jobs have ended, and which is folded."""
    batch = await world.submit(count, **new)
    await run(world)
    return batch


async def run(world: World) -> None:
    """Run all jobs that are ready, and fold."""
    worker = await world.worker(uuid4().hex)
    while await worker.run():
        pass
    await world.fold()


async def test_each_completion_has_one_delivery_with_the_document_of_that_moment(
    world: World,
) -> None:
    batch, worker, (one, two, three) = await world.submit_and_claim(
        job_rows(3, group=[0, 1, 2]), groups=TREE, callback=HOOK, name="told"
    )
    await worker.end(three, two, reason=Reason.EXIT)
    await world.fold()
    first = await due(world)
    await worker.end(one)
    await world.fold()
    await world.fold()
    both = await due(world)

    assert [(c.group_id, c.url, c.n_attempts) for c in first] == [(1, GROUP_HOOK, 0)]
    assert {(c.group_id, c.url) for c in both} == {(0, HOOK), (1, GROUP_HOOK)}
    documents = {c.group_id: json.loads(c.body) for c in both}
    group = await world.api.get_group(world.caller, batch, 1)
    whole = await world.api.get_batch(world.caller, batch)
    assert documents == {0: json.loads(json.dumps(whole)), 1: json.loads(json.dumps(group))}
    assert documents[0]["completed_at"] is not None
    assert (documents[1]["state"], documents[1]["n_failed"]) == ("failure", 2)


async def test_batch_that_grows_and_completes_again_is_told_again(world: World) -> None:
    batch = await complete(world, callback=HOOK)
    (first,) = await due(world)
    await report(world, first.delivery_id, delivered=True, status=200, retry_in_s=None)
    await world.submit(2, batch=batch)
    await world.fold()
    between = await due(world)
    await run(world)
    (second,) = await due(world)
    rows = await listed(world, batch)

    assert between == []
    assert second.name != first.name
    assert [json.loads(c.body)["n_jobs"] for c in (first, second)] == [1, 3]
    assert [(row["completion"], row["state"]) for row in rows] == [
        (1, "delivered"),
        (2, "pending"),
    ]


async def test_document_holds_nothing_that_was_committed_after_the_completion(
    own_world: World,
) -> None:
    """Jobs may be added while the fold that sees the end is at work."""
    await complete(own_world)
    batch = await own_world.submit(1, callback=HOOK)
    await (await own_world.worker()).run()
    async with own_world.transaction() as other:
        await other.execute("SELECT FROM weft.project_usage FOR UPDATE")  # the fold waits here
        folding = await own_world.start_waiting(own_world.fold())
        await own_world.submit(5, batch=batch)
    await folding
    (one,) = await due(own_world)
    body = json.loads(one.body)

    assert (body["complete"], body["n_jobs"], body["n_succeeded"]) == (True, 1, 1)
    assert not (await own_world.api.get_batch(own_world.caller, batch))["complete"]


async def test_every_attempt_is_written_down(world: World) -> None:
    batch = await complete(world, callback=HOOK)
    (one,) = await due(world)
    (before,) = await listed(world, batch)
    await report(world, one.delivery_id, error="no answer", status=None)
    (tried,) = await listed(world, batch)
    later = await due(world)
    await report(world, one.delivery_id, delivered=True, status=204, retry_in_s=None)
    (after,) = await listed(world, batch)
    await report(world, one.delivery_id, status=500)
    (again,) = await listed(world, batch)

    assert before == {
        "delivery_id": one.delivery_id,
        "delivery": one.name,
        "batch_id": batch,
        "group_id": 0,
        "completion": 1,
        "url": HOOK,
        "state": "pending",
        "n_attempts": 0,
        "last_status": None,
        "last_error": None,
        "created_at": before["created_at"],
        "tried_at": None,
        "next_at": before["created_at"],
        "delivered_at": None,
        "event": None,
    }
    assert (tried["state"], tried["n_attempts"], tried["last_error"]) == (
        "pending",
        1,
        "no answer",
    )
    assert tried["next_at"] > tried["tried_at"]
    assert later == []
    assert (after["state"], after["n_attempts"], after["last_status"]) == ("delivered", 2, 204)
    assert (after["last_error"], after["next_at"]) == (None, None)
    assert after["delivered_at"] == after["tried_at"]
    assert again == after


async def test_what_is_given_up_stays_to_be_read(world: World) -> None:
    batch = await complete(world, callback=HOOK)
    (one,) = await due(world)
    await report(world, one.delivery_id, retry_in_s=None, error="x" * 5000)
    (row,) = await listed(world, batch)

    assert (row["state"], row["next_at"], row["delivered_at"]) == ("given_up", None, None)
    assert len(row["last_error"]) == 1024
    assert await due(world) == []


@pytest.mark.parametrize("by_name", [False, True])
async def test_what_was_given_up_is_tried_again_when_somebody_asks(
    world: World, *, by_name: bool
) -> None:
    batch = await complete(world, callback=HOOK)
    (one,) = await due(world)
    await report(world, one.delivery_id, status=410, retry_in_s=None)
    given_up = await due(world)
    ask = partial(
        world.api.redeliver_callback,
        world.caller,
        batch,
        UUID(one.name) if by_name else one.delivery_id,
    )
    told = await ask()
    (again,) = await due(world)
    repeated = await ask()
    (change,) = await world.api.group_history(world.caller, batch, 0, before=None, limit=9)
    await report(world, one.delivery_id, delivered=True, status=200, retry_in_s=None)

    assert given_up == []
    assert (told["state"], told["n_attempts"]) == ("pending", 1)
    assert (again.delivery_id, again.name, again.body) == (one.delivery_id, one.name, one.body)
    assert repeated == told
    assert (change["kind"], change["actor"]) == ("redelivered", "user ada")
    with pytest.raises(CallbackDelivered, match="was delivered"):
        await ask()
    assert await due(world) == []


async def test_redelivery_does_not_wait_for_the_next_date(world: World) -> None:
    batch = await complete(world, callback=HOOK)
    (one,) = await due(world)
    await report(world, one.delivery_id, retry_in_s=3600.0)
    waiting = await due(world)
    await world.api.redeliver_callback(world.caller, batch, one.delivery_id)

    assert waiting == []
    assert [c.n_attempts for c in await due(world)] == [1]


async def test_redelivery_of_what_is_on_its_way_changes_nothing(world: World) -> None:
    """Its end is written down, and decides when it is tried again."""
    batch = await complete(world, callback=HOOK)
    (one,) = await due(world)
    before = await listed(world, batch)
    await world.api.redeliver_callback(world.caller, batch, one.delivery_id)

    assert await listed(world, batch) == before
    assert await world.api.group_history(world.caller, batch, 0, before=None, limit=9) == []


async def test_delivery_of_another_batch_is_not_found(world: World) -> None:
    await complete(world, callback=HOOK)
    (one,) = await due(world)
    other = await world.submit(1)
    for wrong in (one.delivery_id, UUID(one.name), uuid4(), 10**17):
        with pytest.raises(CallbackNotFound):
            await world.api.redeliver_callback(world.caller, other, wrong)


async def test_next_date_is_that_of_the_soonest(own_world: World) -> None:
    epoch = await own_world.lead()
    nothing = await own_world.driver.next_callback(epoch)
    for _ in range(2):
        await complete(own_world, callback=HOOK)
    first, second = await due(own_world)
    now_due = await own_world.driver.next_callback(epoch)
    await report(own_world, first.delivery_id, retry_in_s=500.0)
    await report(own_world, second.delivery_id, retry_in_s=100.0)
    soonest = await own_world.driver.next_callback(epoch)
    (row,) = await own_world.call(
        "due_callbacks",
        epoch=epoch,
        busy=[],
        **LIMITS,
        at=await own_world.admin.fetchval("SELECT clock_timestamp()") + timedelta(seconds=200),
    )

    assert (nothing, now_due) == (None, None)
    assert soonest is not None
    assert 90 < soonest <= 100
    assert row["delivery_id"] == second.delivery_id
    assert row["age"] > timedelta(seconds=200)


async def test_host_that_hangs_and_tenant_with_many_hosts_hold_up_nobody(own_world: World) -> None:
    for number in range(12):
        await complete(own_world, callback=f"http://many-{number}.example/")
        await complete(own_world, callback=HOOK)
    async with open_world(own_world.backend) as other:
        late = await complete(other, callback=HOOK)
        epoch = await own_world.lead()
        limits = {"limit_all": 6, "limit_tenant": 4, "limit_host": 2}
        found = await own_world.driver.due_callbacks(epoch, [], **limits)
        busy = [one.delivery_id for one in found]
        more = await own_world.driver.due_callbacks(epoch, busy[:3], **limits)
        full = await own_world.driver.due_callbacks(epoch, busy, **limits)
        hook = [one.delivery_id for one in found if one.url == HOOK and one.batch_id != late]
        hung = await own_world.driver.due_callbacks(epoch, hook, **{**limits, "limit_all": 100})

        tenants = [one.tenant_id for one in found]
        assert tenants.count(own_world.caller.tenant_id) == 4
        assert late in [one.batch_id for one in found]
        assert len([one for one in found if one.url == HOOK]) <= 3
        assert len(more) == 2
        assert not {one.delivery_id for one in more} & set(busy[:3])
        assert len(full) == 0
        assert len(hook) == 2
        assert late in [one.batch_id for one in hung]


async def test_audit_misses_a_delivery_that_was_forgotten(own_world: World) -> None:
    batch = await complete(own_world, callback=HOOK)
    for change in (
        "UPDATE weft.callback_delivery SET next_at = NULL",
        "UPDATE weft.callback_delivery SET url = 'http://x/'",
        "DELETE FROM weft.callback_delivery",
    ):
        (found,) = (await own_world.findings_after(change))["callbacks_are_recorded"]
        assert found["batch_id"] == batch, change


async def fill(world: World, batch: int, **new: Any) -> tuple[int, int]:  # noqa: ANN401 (fields of NewSet)
    """Begin a set by query; return its operation and its number."""
    operation = await world.api.create_query_set(
        world.caller, batch, NewSet(**new), UNKEYED, query=""
    )
    group = await world.admin.fetchval(
        "SELECT (arguments ->> 'group_id')::int FROM weft.operation WHERE operation_id = $1",
        operation,
    )
    return operation, group


async def step(world: World, operation: int, jobs: list[int], upto: int) -> None:
    """Add what a step of the query found."""
    await world.call(
        "fill_set",
        epoch=await world.lead(),
        of_operation_id=operation,
        job_ids=jobs,
        looked_upto=upto,
        sets_max=8,
    )


@pytest.mark.parametrize("folded", [True, False], ids=["folded before", "folded after"])
@pytest.mark.parametrize("last", [[], [4]], ids=["nothing more", "one more"])
async def test_set_by_query_is_told_of_when_it_is_whole(
    world: World, last: list[int], *, folded: bool
) -> None:
    batch = await complete(world, 5)
    operation, group = await fill(world, batch, name="x", callback=HOOK)
    await step(world, operation, [1, 2], 3)
    if folded:
        await world.fold()
    hidden = await due(world)
    await step(world, operation, last, 5)
    await world.fold()
    await world.fold()
    told = await due(world)
    events = await world.admin.fetchval(
        "SELECT count(*) FROM weft.event WHERE batch_id = $1 AND groups = ARRAY[$2::int] "
        "AND kind = 'group.complete'",
        batch,
        group,
    )

    assert hidden == []
    assert [(one.group_id, json.loads(one.body)["n_jobs"]) for one in told] == [
        (group, 2 + len(last))
    ]
    assert events == 1


async def test_set_that_is_shown_while_a_fold_counts_it_is_told_of_once(own_world: World) -> None:
    """The fold has read that it is hidden, and the one who shows it, that it is not complete."""
    batch = await complete(own_world, 5)
    operation, group = await fill(own_world, batch, name="x", callback=HOOK)
    await step(own_world, operation, [1, 2], 3)
    fold = await own_world.connect("weft_driver")
    transaction = fold.transaction()
    await transaction.start()
    await call_on(fold, "fold_deltas", epoch=await own_world.lead())
    shown = asyncio.create_task(step(own_world, operation, [], 5))
    other = await own_world.connect()
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    async with asyncio.timeout(30):
        while not await other.fetchval(waits):
            await asyncio.sleep(0)
    await transaction.commit()
    await shown
    await own_world.fold()

    assert [one.group_id for one in await due(own_world)] == [group]


async def test_set_that_was_filled_by_hand_is_told_of_whenever_it_is_complete(
    world: World,
) -> None:
    batch = await complete(world, 3)
    group = (await world.api.create_set(world.caller, batch, NewSet(name="x", callback=HOOK)))[0]
    empty = await due(world)
    for job in (1, 2):
        await world.api.add_members(world.caller, batch, group, [job])
        await world.fold()
    told = await due(world)

    assert empty == []
    assert [json.loads(one.body)["n_jobs"] for one in told] == [1, 2]
    assert {json.loads(one.body)["name"] for one in told} == {"x"}
