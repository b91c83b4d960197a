"""A transport that is away: one condition for each tenant whose jobs wait for it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from store.grants import leave
from store.test_conditions import operator
from store.test_transports import Rabbit, messages_of, rabbit
from store.world import World
from weft.core import errors
from weft.ports.store import Caller

__all__ = ["rabbit"]


async def look(rabbit: Rabbit, error: str | None) -> None:
    """Note what the driver saw, and let it forget conditions that are over."""
    await rabbit.world.driver.note_transport(rabbit.epoch, rabbit.names[0], error, [])
    await rabbit.world.driver.due_conditions(rabbit.epoch, [], limit=1000)


async def incidents(world: World, caller: Caller) -> list[Any]:
    """Return the conditions that a caller sees."""
    return list(await world.api.list_conditions(caller, after_id=0, limit=100))


async def test_it_is_one_for_those_whose_jobs_wait_until_it_is_back(rabbit: Rabbit) -> None:
    """Those that are offered and those that are not are counted; one that runs is not."""
    world = rabbit.world
    worker = await rabbit.consumer(cpu_m=1000)
    start = await world.api.events_now()
    batch = await rabbit.submit(5)
    await rabbit.take(worker, messages_of(await rabbit.round())[:1])
    stranger = await leave(world, await world.user("eve"))
    assert await incidents(world, world.caller) == []
    await look(rabbit, "no route")
    (mine,) = await incidents(world, world.caller)
    (of_operators,) = await incidents(world, operator(world))
    others = await rabbit.submit(2)
    await look(rabbit, "no answer")
    (again,) = await incidents(world, world.caller)
    findings = await world.findings()

    assert (mine["condition"], mine["n_jobs"], mine["message"]) == (
        "transport_unavailable", 4, "no route",
    )  # fmt: skip
    assert of_operators["n_jobs"] == 4
    assert (again["condition_id"], again["since"]) == (mine["condition_id"], mine["since"])
    assert (again["n_jobs"], again["message"]) == (6, "no answer")
    assert await incidents(world, stranger) == []
    with pytest.raises(errors.ConditionNotFound, match="does not exist"):
        await world.api.get_condition(stranger, mine["condition_id"], limit_jobs=9)
    for call in (
        world.api.test_condition(world.caller, mine["condition_id"]),
        world.api.release_condition(world.caller, mine["condition_id"], 1),
        world.api.fail_condition(world.caller, mine["condition_id"]),
    ):
        with pytest.raises(errors.ConditionNotFound, match="not one that jobs are blocked on"):
            await call
    assert (await world.api.get_condition(world.caller, mine["condition_id"], limit_jobs=9))[
        "n_jobs"
    ] == 6
    assert (await world.states(batch)).count("R") == 1
    assert await world.states(others) == "rr"
    assert not any(name.startswith("condition") for name in findings)
    await look(rabbit, None)
    assert await incidents(world, world.caller) == []
    kinds = await heard(world, world.caller, start)
    assert kinds == ["condition.opened", "condition.closed"]
    assert await heard(world, stranger, start) == []


async def test_it_is_over_when_no_job_waits_or_nobody_looks(rabbit: Rabbit) -> None:
    world = rabbit.world
    batch = await rabbit.submit(2)
    await look(rabbit, "no route")
    assert len(await incidents(world, world.caller)) == 1
    await world.cancel(batch)
    await look(rabbit, "no route")
    assert await incidents(world, world.caller) == []
    await rabbit.submit()
    await look(rabbit, "no route")
    assert len(await incidents(world, world.caller)) == 1
    await world.admin.execute(
        "UPDATE weft.condition SET next_test_at = $2 WHERE tenant_id = $1",
        world.caller.tenant_id, datetime(2020, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    await world.driver.due_conditions(rabbit.epoch, [], limit=1000)
    assert await incidents(world, world.caller) == []


async def heard(world: World, caller: Caller, start: tuple[int, int]) -> list[str]:
    """Return the kinds of the events about conditions that a caller is told."""
    rows, _ = await world.api.list_events(caller, after=start, batch_id=None, limit=1000)
    return [row["kind"] for row in rows if row["kind"].startswith("condition.")]
