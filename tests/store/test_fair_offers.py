"""Offers go out in the order and shares of claims, and queued jobs count as claimed ones."""

from collections import Counter
from collections.abc import Sequence

import pytest

from builders import job_rows
from store.barriers import set_quota, visit
from store.test_core_quotas import cores
from store.test_fair_shares import new_user
from store.test_transports import Rabbit, claims, messages_of, rabbit
from store.world import World
from weft.ports.store import DueOffer

__all__ = ["rabbit"]


def by_batch(offers: Sequence[DueOffer]) -> Counter[int]:
    """Count offers by their batch."""
    return Counter(one.batch_id for one in offers)


async def loads(world: World) -> dict[str, int]:
    """Return what users are said to run in the pool."""
    rows = await world.api.list_shares(world.caller, world.pool, limit=100)
    return {row["user"]: row["running_m"] for row in rows}


async def test_queued_jobs_count_in_the_load_of_their_user(rabbit: Rabbit) -> None:
    """Folded or not, until they end or are ready again."""
    world = rabbit.world
    worker = await rabbit.consumer(cpu_m=2000)
    batch = await rabbit.submit(2)
    messages = messages_of(await rabbit.round())
    assert await world.findings() == {}
    await world.fold()
    assert await loads(world) == {"ada": 2000}
    await worker.start(*claims(await rabbit.take(worker, messages[:1])))
    await world.fold()
    assert await loads(world) == {"ada": 2000}
    await world.api.hold_group(world.caller, batch, 0)
    await rabbit.round()
    await world.fold()

    assert await world.states(batch) == "Rr"
    assert await loads(world) == {"ada": 1000}


@pytest.mark.parametrize("weight", [1, 3])
async def test_users_get_offers_by_their_weights(rabbit: Rabbit, weight: int) -> None:
    """Also what is ahead, and each part of it: long jobs wait there for hours."""
    world = rabbit.world
    bob = await new_user(world, "bob", weight)
    mine, his = await rabbit.submit(100), await rabbit.submit(100, caller=bob)
    await world.fold()
    await rabbit.consumer(cpu_m=24_000)
    offers = await rabbit.round()
    share = 24 * weight // (1 + weight)

    assert by_batch(offers[:24]) == {mine: 24 - share, his: share}
    assert by_batch(offers[24:]) == {mine: 24 - share, his: share}


async def test_who_comes_later_gets_the_next_offers(rabbit: Rabbit) -> None:
    world = rabbit.world
    bob = await world.user("bob")
    worker = await rabbit.consumer(cpu_m=8000)
    await rabbit.submit(100)
    first = messages_of(await rabbit.round())
    assert len(first) == 16
    his = await rabbit.submit(100, caller=bob)
    await world.fold()
    taken = claims(await rabbit.take(worker, first[:8]))
    await worker.end(*taken)
    assert by_batch(await rabbit.round()) == {his: 8}


async def test_what_users_run_elsewhere_in_the_pool_counts(rabbit: Rabbit) -> None:
    """A user with jobs in other queues only takes no share here."""
    world = rabbit.world
    bob, eve = await world.user("bob"), await world.user("eve")
    plain = await world.worker("plain", cpu_m=8000)
    await world.submit(8)
    assert len(await plain.claim()) == 8
    await world.submit(500, caller=eve)
    mine, his = await rabbit.submit(50), await rabbit.submit(50, caller=bob)
    await world.fold()
    await rabbit.consumer(cpu_m=10_000)

    assert by_batch(await rabbit.round()) == {mine: 6, his: 14}


async def test_slots_are_shared_by_what_jobs_ask_for(rabbit: Rabbit) -> None:
    world = rabbit.world
    bob = await world.user("bob")
    small, large = await rabbit.submit(500), await rabbit.submit(500, caller=bob, cpu_m=4000)
    await world.fold()
    await world.worker("w", cpu_m=64_000, consumes=rabbit.names, slots=50)

    assert by_batch(await rabbit.round()) == {small: 80, large: 20}


async def test_nothing_is_left_while_anybody_has_work(rabbit: Rabbit) -> None:
    """Users of whom there is little, and one who may not start, leave theirs to the others."""
    world = rabbit.world
    bob, eve = await world.user("bob"), await world.user("eve")
    few, held = await rabbit.submit(1, caller=bob), await rabbit.submit(50, caller=eve)
    many = await rabbit.submit(500)
    await world.fold()
    await world.api.hold_group(eve, held, 0)
    await rabbit.consumer(cpu_m=32_000)

    assert by_batch(await rabbit.round()) == {few: 1, many: 63}


async def test_offers_follow_priorities(rabbit: Rabbit) -> None:
    world = rabbit.world
    rows = job_rows(20, shapes=[rabbit.shape], priority=[0] * 18 + [7, 9])
    batch = await world.submit(rows)
    await rabbit.consumer(cpu_m=2000)
    offers = await rabbit.round()

    assert [(one.batch_id, one.job_id) for one in offers] == [
        (batch, 20),
        (batch, 19),
        (batch, 1),
        (batch, 2),
    ]


async def test_a_quota_of_cores_counts_queued_jobs(rabbit: Rabbit) -> None:
    world = rabbit.world
    await set_quota(world, "ada", cores=2)
    await visit(world)
    batch = await rabbit.submit(3)
    plain = await world.submit(3)
    worker, other = await rabbit.consumer(), await world.worker("plain")
    messages = messages_of(await rabbit.round())
    assert await world.states(batch) == "qqr"
    assert await cores(world, world.caller) == 2
    assert await other.claim() == []
    await worker.end(*claims(await rabbit.take(worker, messages)))
    await visit(world)

    assert len(await rabbit.round()) + len(await other.claim()) == 2
    assert await cores(world, world.caller) == 2
    assert (await world.states(batch))[:2] + await world.states(plain) == "ssRrr"
