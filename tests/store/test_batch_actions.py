"""Operations on many batches: each that matches and that their user may change is changed once."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from builders import job_rows
from store.batch_steps import delete
from store.grants import grant, leave
from store.retries import end_all
from store.world import Worker, World
from weft.core.access.rights import Permission, UserRole
from weft.core.errors import (
    IdempotencyConflict,
    OperationNotCancellable,
    OperationNotFound,
    RightMissing,
)
from weft.driver.operations import advance_operation, batch_action
from weft.ports.store import Caller, Origin
from weft.sql import text_of

CHECK = "operations_on_batches_are_recorded"
NOTHING: Mapping[str, Any] = {"n_changed": 0, "n_idle": 0, "n_skipped": 0, "skipped": {}}


async def begin(
    world: World,
    action: str,
    query: str | None = "",
    *batches: int,
    key: str | None = None,
    caller: Caller | None = None,
) -> int:
    """Ask for an action on what a query finds, or on these batches; return the operation."""
    which = {"batches": list(batches)} if batches else {"query": query}
    return await world.api.begin_batch_action(
        caller or world.caller,
        {"action": action, **which},
        Origin(key=key, digest=repr(which).encode(), trace_id=""),
    )


async def step(world: World, operation_id: int, driver: Any = None) -> bool:  # noqa: ANN401 (a store)
    """Do one step; return whether the operation goes on."""
    running = await world.driver.running_operations(await world.lead(), operation_id - 1)
    if not running or running[0].operation_id != operation_id:
        return False
    return await advance_operation(driver or world.driver, await world.lead(), running[0])


async def finish(world: World, operation_id: int) -> Mapping[str, Any]:
    """Do all steps; return what was counted."""
    while await step(world, operation_id):
        pass
    found = await look(world, operation_id)
    assert found["state"] == "success", found
    assert found["done"] == found["total"]
    return counted(found)


async def look(world: World, operation_id: int) -> Mapping[str, Any]:
    """Return its document as an operator sees it."""
    operator = replace(world.caller, role=UserRole.OPERATOR)
    return await world.api.get_operation(operator, operation_id)


def counted(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: document["result"][name] for name in NOTHING}


class Killed(BaseException):
    """The driver is gone."""


class Dying:
    """A driver's store whose process is killed at one of its calls: before it, or when the
    database has done it and nobody hears so.
    """

    def __init__(self, store: object, n_calls: int, *, is_done: bool) -> None:
        self._store, self._left, self._is_done = store, n_calls, is_done

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)

        async def call(*args: object, **more: object) -> object:
            self._left -= 1
            if self._left == 0 and not self._is_done:
                raise Killed
            answer = await method(*args, **more)
            if self._left == 0:
                raise Killed
            return answer

        return call


async def changes(world: World) -> dict[int, int]:
    """Return how often each batch was held or released."""
    rows = await world.admin.fetch(
        "SELECT batch_id, count(*) AS n FROM weft.group_change WHERE kind IN ('held', 'released') "
        "AND tenant_id = $1 GROUP BY batch_id",
        world.caller.tenant_id,
    )
    return {row["batch_id"]: row["n"] for row in rows}


@pytest.mark.parametrize("by", ["query", "list"])
async def test_killed_anywhere_each_batch_is_changed_once(
    world: World, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(batch_action, "STEP_BATCHES", 2)
    bob = await world.user("bob")
    mine = [await world.submit(1, caller=bob) for _ in range(3)]
    complete = await world.submit(0, caller=bob)
    hidden, seen, shared = [await world.submit(1) for _ in range(3)]
    last = await world.submit(1, caller=bob)
    await leave(world, bob)
    changed = {*mine, shared, last}
    listed = [*changed, complete, seen] if by == "list" else []
    expected = {
        "hold": {
            "n_changed": 5,
            "n_idle": 1,
            "n_skipped": 1,
            "skipped": {"API.PERMISSION_MISSING": 1},
        },
        "release": {**NOTHING, "n_changed": 5, "n_idle": 2},
    }
    n_killed, was_killed, before = 0, True, await changes(world)
    while was_killed:
        was_killed = False
        n_killed += 1
        for is_done, action in ((False, "hold"), (True, "release")):
            for batch in (seen, shared):
                await grant(world, bob, batch, Permission.ALL)
            operation = await begin(world, action, "", *listed, caller=bob)
            await grant(world, bob, seen, Permission.READ)
            await grant(world, bob, shared, Permission.EXECUTE)
            dying = Dying(world.driver, n_killed, is_done=is_done)
            try:
                while await step(world, operation, dying):
                    pass
            except Killed:
                was_killed = True
            assert await finish(world, operation) == expected[action]
            after = await changes(world)
            assert {one for one in after if after[one] != before.get(one, 0)} == changed
            assert all(after[one] == before.get(one, 0) + 1 for one in changed)
            before = after
    assert n_killed > 12
    assert hidden not in before
    assert not await world.findings()


async def test_retry_and_cancel_do_what_their_requests_do(world: World, worker: Worker) -> None:
    failed, fine = await world.submit(2), await world.submit(1)
    await end_all(worker, 2)
    waits, cancelled = await world.submit(job_rows(1), name="x"), await world.submit(1)
    await world.api.cancel_group(world.caller, cancelled, 0, force=False)
    gone = await world.submit(1)
    operation = await begin(world, "retry")
    await delete(world, gone)
    assert await finish(world, operation) == {**NOTHING, "n_changed": 1, "n_idle": 3}
    (retry,) = await world.api.list_operations(world.caller, before=None, limit=9, batch_id=failed)
    assert retry["kind"] == "retry"
    made_later = await begin(world, "cancel", "state = running")
    later = await world.submit(1)
    assert await finish(world, made_later) == {**NOTHING, "n_changed": 1, "n_idle": 1}
    assert (await world.api.get_batch(world.caller, waits))["cancelled"]
    for batch in (failed, fine, later):
        assert not (await world.api.get_batch(world.caller, batch))["cancelled"]
    await step(world, retry["id"])
    assert await finish(world, await begin(world, "cancel", "name = nobody")) == NOTHING
    assert not await world.findings()


async def test_what_became_impossible_is_skipped_with_its_reason(world: World) -> None:
    """It is not the end of the others."""
    batches = [await world.submit(1) for _ in range(3)]

    class Late(Dying):
        async def act_on_batch(self, *args: Any, **more: Any) -> bool:  # noqa: ANN401 (as the port)
            if args[3] == batches[1]:
                await delete(world, batches[1])
            return await world.driver.act_on_batch(*args, **more)

    operation = await begin(world, "hold", "", *batches)
    while await step(world, operation, Late(world.driver, 0, is_done=False)):
        pass
    found = await finish(world, operation)
    assert found == {
        **NOTHING,
        "n_changed": 2,
        "n_skipped": 1,
        "skipped": {"API.BATCH_NOT_FOUND": 1},
    }


async def test_rights_are_those_of_the_moment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is an operator no longer changes only their own, and so does who has become one since;
    a viewer changes nothing.
    """
    monkeypatch.setattr(batch_action, "STEP_BATCHES", 1)
    bob = await world.user("bob")

    async def turn(role: UserRole) -> None:
        await world.admin.execute(
            "UPDATE weft.tenant_user SET role = $2 WHERE user_id = $1", bob.user_id, role.value
        )

    mine = await world.submit(1, caller=bob)
    hers, newest = await world.submit(1), await world.submit(1)
    await leave(world, bob)
    await turn(UserRole.OPERATOR)
    operator = replace(bob, role=UserRole.OPERATOR, needs=Permission.EXECUTE)
    operation = await begin(world, "hold", caller=operator)
    assert await step(world, operation)

    class Demoted(Dying):
        async def act_on_batch(self, *args: Any, **more: Any) -> bool:  # noqa: ANN401 (as the port)
            await turn(UserRole.USER)
            return await world.driver.act_on_batch(*args, **more)

    assert await step(world, operation, Demoted(world.driver, 0, is_done=False))
    assert await finish(world, operation) == {**NOTHING, "n_changed": 2}
    assert set(await changes(world)) == {mine, newest}
    assert hers

    operation = await begin(world, "release", caller=bob)
    await turn(UserRole.OPERATOR)
    assert await finish(world, operation) == {**NOTHING, "n_changed": 1}
    assert (await changes(world))[newest] == 1

    operation = await begin(world, "release", caller=bob)
    await turn(UserRole.VIEWER)
    with pytest.raises(RightMissing):
        await step(world, operation)
    await turn(UserRole.USER)
    await world.admin.execute(
        "UPDATE weft.tenant_user SET removed_at = clock_timestamp() WHERE user_id = $1",
        bob.user_id,
    )
    with pytest.raises(RightMissing):
        await step(world, operation)
    await world.driver.fail_operation(await world.lead(), operation, {"code": "API.RIGHT_MISSING"})
    document = await look(world, operation)
    assert (document["state"], counted(document)) == ("failed", NOTHING)


async def test_operation_belongs_to_its_user_and_can_be_cancelled(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_action, "STEP_BATCHES", 1)
    ann, bob = await world.user("ann"), await world.user("bob")
    operator = replace(bob, role=UserRole.OPERATOR)
    batches = [await world.submit(1, caller=ann) for _ in range(2)]
    await leave(world, ann)
    await leave(world, bob)
    since = await world.api.events_now()
    operation = await begin(world, "hold", caller=ann, key="k")
    assert await begin(world, "hold", caller=ann, key="k") == operation
    with pytest.raises(IdempotencyConflict):
        await begin(world, "hold", "b1", caller=ann, key="k")
    await step(world, operation)

    for call in (world.api.get_operation, world.api.cancel_operation):
        with pytest.raises(OperationNotFound):
            await call(bob, operation)
    for caller, ids in ((bob, []), (ann, [operation]), (operator, [operation])):
        rows = await world.api.list_operations(caller, before=None, limit=9, batch_id=None)
        assert [row["id"] for row in rows] == ids
        events, _ = await world.api.list_events(caller, after=since, batch_id=None, limit=50)
        assert [one["detail"] for one in events if one["kind"].startswith("operation.")] == [
            {"operation": one} for one in ids
        ]
    cancelled = await world.api.cancel_operation(operator, operation)
    assert (cancelled["state"], cancelled["batch_id"]) == ("cancelled", None)
    assert counted(cancelled) == {**NOTHING, "n_changed": 1}
    assert await world.api.cancel_operation(ann, operation) == cancelled
    epoch = await world.lead()
    assert not await world.driver.act_on_batch(ann, epoch, operation, batches[0], n_idle=0)
    assert await changes(world) == {batches[1]: 1}
    world.caller = ann
    other = await delete(world, batches[0])
    with pytest.raises(OperationNotCancellable):
        await world.api.cancel_operation(ann, other)


async def test_ended_operations_go_with_the_events_of_their_time(world: World) -> None:
    await world.submit(1)
    ended, running = await begin(world, "hold"), await begin(world, "release")
    await finish(world, ended)
    while await world.driver.remove_old(await world.lead(), events_keep_s=0, updates_keep_s=0):
        pass
    rows = await world.api.list_operations(world.caller, before=None, limit=9, batch_id=None)
    assert [row["id"] for row in rows] == [running]
    assert await finish(world, running) == {**NOTHING, "n_changed": 1}


async def test_audit_finds_what_is_not_in_the_trail_or_twice(world: World) -> None:
    batches = [await world.submit(1) for _ in range(2)]
    operation = await begin(world, "hold")
    await finish(world, operation)
    path, check = f"/v1/operations/{operation}", text_of("audit", CHECK)
    assert not await world.admin.fetch(check)
    changing = world.admin.transaction()
    await changing.start()
    for statement, found in (
        ("UPDATE weft.trail_unsealed SET batch_id = $2 WHERE path = $1", (2, 2, 1)),
        ("DELETE FROM weft.trail_unsealed WHERE path = $1 AND batch_id = $2", (2, 0, 0)),
    ):
        await world.admin.execute(statement, path, batches[0])
        (row,) = await world.admin.fetch(check)
        assert (row["n_changed"], row["n_entries"], row["n_batches"]) == found
    await changing.rollback()
