"""A soft limit is at most the limit, whichever of the two is changed, and by whom at a time."""

from typing import Any

import pytest

from store.world import World
from weft.core.billing.spending import Measure
from weft.core.errors import SoftLimitAboveLimit
from weft.ports.store.queries import Limited
from weft.store.database import call_on

BELOW = "amount_max", "amount_soft_max"


async def set_limit(world: World, of: Limited, **patch: float | None) -> dict[str, Any]:
    return dict(await world.api.set_limit(world.caller, of, Measure.CPU, patch))


@pytest.mark.parametrize("kind", ["project", "user", "batch", "group"])
async def test_soft_limit_above_the_limit_is_refused(world: World, kind: str) -> None:
    batch = await world.submit(1)
    of = {
        "project": Limited("project", "default"),
        "user": Limited("user", world.caller.user_name),
        "batch": Limited("group", None, batch),
        "group": Limited("group", None, batch, 0),
    }[kind]
    with pytest.raises(SoftLimitAboveLimit, match=r"the soft limit 8\.5 is above the limit 5"):
        await set_limit(world, of, amount_max=5.0, amount_soft_max=8.5)
    assert await world.api.list_limits(world.caller, None, after=0, limit=9) == []
    made = await set_limit(world, of, amount_max=8, amount_soft_max=8)
    for field, amount in (("amount_soft_max", 9), ("amount_max", 7), ("amount_max", 0)):
        with pytest.raises(SoftLimitAboveLimit) as refused:
            await set_limit(world, of, **{field: amount})
        assert "one change may set both" in refused.value.hint
    assert await set_limit(world, of) == made
    for patch in (
        {"amount_max": 5, "amount_soft_max": 4}, {"amount_max": None}, {"amount_soft_max": 9},
        {"amount_soft_max": None}, {"amount_max": 1},
    ):  # fmt: skip
        changed = await set_limit(world, of, **patch)
        assert {name: changed[name] for name in patch} == patch
        made |= changed
    # Of another measure it is another limit.
    other = await world.api.set_limit(world.caller, of, Measure.GPU, {"amount_soft_max": 99})
    assert other["amount_soft_max"] == 99


async def test_limits_of_a_project_that_was_made_with_one(world: World) -> None:
    await world.api.create_project(world.caller, "lab", cost_max=5)
    with pytest.raises(SoftLimitAboveLimit):
        await world.api.change_project(world.caller, "lab", {"cost_soft_max": 6, "closed": True})
    (project,) = await world.api.list_projects(world.caller, "lab")

    assert (project["cost_max"], project["cost_soft_max"], project["closed"]) == (5, None, False)


@pytest.mark.parametrize("is_stored", [False, True])
async def test_of_two_changes_at_once_the_second_sees_the_first(
    own_world: World, *, is_stored: bool
) -> None:
    """Also if nothing was stored before."""
    world, of = own_world, Limited("user", own_world.caller.user_name)
    if is_stored:
        await set_limit(world, of, amount_max=9)
    first = await world.connect("weft_api")
    transaction = first.transaction()
    await transaction.start()
    await call_on(
        first, "set_limit", caller=world.caller, kind=of.kind, of_name=of.name, of_batch_id=None,
        group_id=None, path=None, measure="cpu", patch={"amount_max": 5},
    )  # fmt: skip
    second = await world.start_waiting(set_limit(world, of, amount_soft_max=8))
    await transaction.commit()
    with pytest.raises(SoftLimitAboveLimit, match="8 is above the limit 5"):
        await second
    (found,) = await world.api.list_limits(world.caller, None, after=0, limit=9)

    assert [found[name] for name in BELOW] == [5, None]
