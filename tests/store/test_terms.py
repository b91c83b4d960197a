"""Limits and weights of users that end at a date."""

from datetime import UTC, datetime, timedelta

import pytest

from store.site import Site
from store.test_spending import look
from store.test_waiting import ear
from store.world import World
from weft.core.billing.spending import Measure, Stage
from weft.core.errors import UserNotFound
from weft.ports.store.queries import Limited

SOON, LATER_S = timedelta(hours=1), 7200


async def end_terms(world: World) -> timedelta:
    """Sweep as the driver does; return when it has to look again."""
    epoch = await world.lead()
    while await world.driver.sweep("end_terms", epoch, limit_jobs=1):
        pass
    return timedelta(seconds=await world.driver.loop_due(epoch, "terms") or 0)


async def weights(world: World) -> list[float]:
    shares = await world.api.list_shares(world.caller, world.pool, limit=9)
    return [share["weight"] for share in shares]


async def test_weight_holds_in_all_pools_until_its_date(world: World) -> None:
    """Also of work that came before."""
    name, until = world.caller.user_name, datetime.now(UTC) + SOON
    await world.submit_and_claim(2, limit=1)
    user = await world.api.set_user_weight(world.caller, name, 3, until)
    assert user["weight"] == 3
    await world.fold()
    assert timedelta() < await end_terms(world) <= SOON
    assert await weights(world) == [3]

    await world.age("tenant_user", "weight_until", by_s=LATER_S, user_id=world.caller.user_id)
    await end_terms(world)
    assert await weights(world) == [1]
    (user,) = [
        one
        for one in await world.api.list_users(world.caller, after=0, limit=99)
        if one["name"] == name
    ]
    assert (user["weight"], user["weight_until"]) == (1, None)
    assert await world.findings() == {}


async def test_limit_ends_at_its_date(world: World) -> None:
    """The driver hears of it. What it paused goes on. An amount that comes later has no end."""
    batch, listener = await world.submit(2), await ear(world, "driver")
    of, until = Limited("group", None, batch), datetime.now(UTC) + SOON
    patch = {"amount_max": 0, "until": until.isoformat()}
    await world.api.set_limit(world.caller, of, Measure.COST, patch)
    await listener.until("terms")
    await end_terms(world)
    assert await look(world) == [Stage.REACHED]
    worker, claimed = await world.claim()
    assert not claimed

    await world.age("spend_limit", "until", by_s=LATER_S, batch_id=batch)
    await end_terms(world)
    assert await look(world) == [Stage.BELOW]
    assert len(await worker.claim()) == 2
    found = await world.api.set_limit(world.caller, of, Measure.COST, {"amount_max": 7})
    assert (found["amount_max"], found["until"]) == (7, None)


async def test_weight_is_of_a_user_of_the_tenant(site: Site) -> None:
    stranger = site.stranger.user_name
    with pytest.raises(UserNotFound):
        await site.api.set_user_weight(site.caller, f"{stranger}-who-is-not", 3, None)
