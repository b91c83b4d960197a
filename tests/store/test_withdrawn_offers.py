"""What keeps a ready job from being claimed withdraws the offer of a queued one."""

from uuid import uuid4

import pytest

from builders import job_rows
from store.barriers import limit, park, visit
from store.test_fair_shares import new_user
from store.test_licences import asking, other_world, used
from store.test_moves import move
from store.test_priorities import LIMITS, prioritize, prioritize_job
from store.test_transports import Rabbit, claims, messages_of, open_rabbit, rabbit, words
from store.world import Worker, World
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.ports.store import Caller

__all__ = ["other_world", "rabbit"]


async def is_as_ready(rabbit: Rabbit, worker: Worker, batch: int, states: str) -> None:
    """Check that the jobs are in these states, the messages of ready ones are worthless, and the
    audit finds nothing.
    """
    world = rabbit.world
    assert await world.states(batch) == states
    assert await rabbit.offers(batch) == states.count("q") + states.count("R")
    assert await world.findings() == {}
    for message in messages_of(rabbit.sent):
        if message[0] == batch and states[message[1] - 1] == "r":
            assert words(await rabbit.take(worker, [message])) == "settled"


async def test_a_lower_max_running_withdraws_the_last_offers(rabbit: Rabbit) -> None:
    """Ready jobs go back first; what runs keeps its place."""
    world = rabbit.world
    batch = await world.submit(job_rows(9, shapes=[rabbit.shape]), max_running=7)
    worker = await rabbit.consumer(cpu_m=3000)
    messages = messages_of(await rabbit.round())
    assert await world.states(batch) == "qqqqqqrrr"
    await rabbit.take(worker, messages[:1])
    await limit(world, batch, 3)
    await is_as_ready(rabbit, worker, batch, "Rqqrrrrrr")
    assert await rabbit.round() == []
    await limit(world, batch, 5)

    assert [one.job_id for one in await rabbit.round()] == [4, 5]


async def test_a_lower_limit_of_the_queue_and_of_its_users_withdraws(world: World) -> None:
    rabbit = await open_rabbit(world, max_running=6, max_running_per_user=4)
    bob = await world.user("bob")
    mine, his = await rabbit.submit(5), await rabbit.submit(5, caller=bob)
    worker = await rabbit.consumer(cpu_m=16_000)
    await rabbit.round()
    before = (await world.states(mine) + await world.states(his)).count("q")
    await open_rabbit(world, max_running=3, max_running_per_user=2)
    await visit(world)
    await rabbit.round()
    left = [await world.states(mine), await world.states(his)]

    assert before == 6
    assert sum(one.count("q") for one in left) == 3
    assert max(one.count("q") for one in left) == 2
    await is_as_ready(rabbit, worker, mine, left[0])
    await is_as_ready(rabbit, worker, his, left[1])


async def test_fewer_licences_withdraw(rabbit: Rabbit) -> None:
    world, name = rabbit.world, f"l{uuid4().hex}"
    await world.api.set_licence(world.caller, name, 3)
    rows = asking(*[{name: 1}] * 4)
    rows.shapes = [rabbit.shape]
    batch = await world.submit(rows)
    worker = await rabbit.consumer()
    await rabbit.round()
    assert await used(world, name) == 3
    await world.api.set_licence(world.caller, name, 1)
    await visit(world)
    await is_as_ready(rabbit, worker, batch, "qrrr")

    assert await used(world, name) == 1


async def test_a_priority_withdraws_and_orders_anew(rabbit: Rabbit) -> None:
    """So does that of a group; what is not changed stays offered."""
    world = rabbit.world
    batch = await rabbit.submit(4)
    worker = await rabbit.consumer(cpu_m=2000)
    await rabbit.round()
    assert await prioritize_job(world, batch, 2, -5)
    await is_as_ready(rabbit, worker, batch, "qrqq")
    assert await prioritize_job(world, batch, 2, -5) is False
    other = await world.submit(job_rows(1, shapes=[rabbit.shape], priority=[1]))
    assert [one.batch_id for one in await rabbit.round()] == [other]
    await prioritize(world, batch, 0, 3)
    await is_as_ready(rabbit, worker, batch, "rrrr")

    assert [one.job_id for one in await rabbit.round()] == [1, 2, 3]


async def test_the_history_of_a_queued_job_says_that_a_priority_withdraws_its_offer(
    rabbit: Rabbit,
) -> None:
    world = rabbit.world
    batch = await rabbit.submit(1)
    await rabbit.consumer()
    await rabbit.round()
    patch = {"name": "new", "priority": -5}
    assert await world.api.edit_job(world.caller, batch, 1, patch=patch, limits=LIMITS)
    history = await world.api.job_history(world.caller, batch, 1)

    assert [(one["subtype"], one["from"], one["to"]) for one in history[1:]] == [
        ("edited", "queued", "queued"),
        ("prioritized", "queued", "ready"),
    ]


async def test_a_lower_stock_and_fewer_consumers_withdraw_the_last_offers(rabbit: Rabbit) -> None:
    """A driver that leads anew and knows of no stock yet withdraws nothing."""
    world = rabbit.world
    worker, other = await rabbit.consumer(cpu_m=2000), await rabbit.consumer("other", cpu_m=2000)
    batch = await rabbit.submit(9)
    messages = messages_of(await rabbit.round())
    assert await world.states(batch) == "qqqqqqqqr"
    await rabbit.take(worker, messages[:1])
    await rabbit.round(stock=4)
    assert await world.states(batch) == "Rqqqqqqqr"
    await other.beat(draining=True)
    assert await rabbit.round() == []
    assert await world.states(batch) == "Rqqqqqqqr"
    assert await rabbit.round(stock=2) == []
    await is_as_ready(rabbit, worker, batch, "Rqqqrrrrr")

    assert [one.job_id for one in await rabbit.round(stock=3)] == [5]


async def test_a_name_withdraws_nothing(rabbit: Rabbit) -> None:
    """Messages do not tell it."""
    world = rabbit.world
    batch = await rabbit.submit(1)
    worker = await rabbit.consumer()
    messages = messages_of(await rabbit.round())
    await world.api.edit_job(world.caller, batch, 1, patch={"name": "new"}, limits=LIMITS)

    assert words(await rabbit.take(worker, messages)) == "yours"


@pytest.mark.parametrize("queue", ["plain", "default"])
async def test_queued_jobs_move_to_another_queue(rabbit: Rabbit, queue: str) -> None:
    world = rabbit.world
    batch = await rabbit.submit(3)
    worker = await rabbit.consumer(cpu_m=3000)
    messages = messages_of(await rabbit.round())
    await rabbit.take(worker, messages[:1])
    waiting = await world.api.list_waiting(world.caller, after=(batch - 1, 0), limit=9)
    assert waiting is not None
    assert (waiting.batch_id, [one["job_id"] for one in waiting.jobs]) == (batch, [2, 3])
    assert await move(world, batch, [1, 2, 3], queue) == 2
    await is_as_ready(rabbit, worker, batch, "Rrr")
    await rabbit.round()

    assert [one.job_id for one in await (await world.worker("plain")).claim()] == [2, 3]


async def test_a_closed_queue_lets_what_waits_there_run_and_loses_no_retry(rabbit: Rabbit) -> None:
    """As with claims: jobs that wait in it still run. A withdrawn one waits there, and does not go
    back into it.
    """
    world = rabbit.world
    batch = await rabbit.submit(1, max_attempts=2)
    worker = await rabbit.consumer()
    taken = claims(await rabbit.take(worker, messages_of(await rabbit.round())))
    await worker.start(*taken)
    await worker.end(*taken, reason=Reason.EXIT)
    messages = messages_of(await rabbit.round())
    await open_rabbit(world, state="closed")
    await world.api.hold_group(world.caller, batch, 0)
    await rabbit.round()
    await is_as_ready(rabbit, worker, batch, "r")
    await park(world)
    await world.api.release_group(world.caller, batch, 0)
    await park(world)
    found = claims(await rabbit.take(worker, messages + messages_of(await rabbit.round())))

    assert [one.attempt for one in found] == [2]


async def weigh(world: World, caller: Caller, weight: float) -> None:
    """Let a user have another weight, as beyond a soft limit."""
    await world.admin.execute(
        "UPDATE weft.user_share SET weight = $2, load = running_m / $2::float8 WHERE user_id = $1",
        caller.user_id,
        weight,
    )


async def test_a_lower_share_withdraws_what_is_beyond_it(rabbit: Rabbit) -> None:
    world = rabbit.world
    bob = await new_user(world, "bob")
    mine, his = await rabbit.submit(50), await rabbit.submit(50, caller=bob)
    await world.fold()
    worker = await rabbit.consumer(cpu_m=15_000)
    await rabbit.round()
    assert (await world.states(mine)).count("q") == 15
    await weigh(world, world.caller, 0.5)
    await world.driver.withdraw_offers(rabbit.epoch, rabbit.names)
    await is_as_ready(rabbit, worker, mine, "r" * 50)
    await world.fold()
    await rabbit.round()
    assert (await world.states(mine)).count("q") == 10 == 30 - (await world.states(his)).count("q")
    before = await rabbit.offers(mine)
    await world.driver.withdraw_offers(rabbit.epoch, rabbit.names)

    assert await rabbit.offers(mine) == before


async def test_who_is_alone_keeps_offers_with_a_lower_share(rabbit: Rabbit) -> None:
    world = rabbit.world
    batch = await rabbit.submit(9)
    await rabbit.consumer(cpu_m=2000)
    await rabbit.round()
    await world.fold()
    await weigh(world, world.caller, 0.5)
    await rabbit.round()

    assert await world.states(batch) == "qqqqrrrrr"


async def test_numbers_of_consumers_are_those_of_the_tenant(
    rabbit: Rabbit, other_world: World
) -> None:
    """Both have a queue of this name over the transport, in the same pool."""
    world = rabbit.world
    worker = await rabbit.consumer(cpu_m=4000)
    theirs = Rabbit(other_world, rabbit.epoch)
    theirs.names = rabbit.names
    theirs.pool = world.pool
    queue = Queue(name="q", priority=1, pools=(world.pool,), transport=rabbit.names[0])
    await other_world.api.save_queues(other_world.caller, [queue])
    batch = await rabbit.submit(1)
    await theirs.submit(3)
    sent = await rabbit.round()
    mine = [one for one in sent if one.tenant == world.pool]
    await rabbit.take(
        worker,
        messages_of([one for one in sent if one.tenant != world.pool])[:2],
        tenant=other_world.pool,
    )
    why = await world.api.why_job(world.caller, batch, 1)
    assert why.travels is not None
    assert (why.travels.slots, why.travels.busy, why.travels.offered) == (4, 0, 1)
    await rabbit.take(worker, messages_of(mine))
    their = await other_world.api.why_job(other_world.caller, batch + 1, 3)
    assert their.travels is not None
    assert (their.travels.slots, their.travels.busy, their.travels.offered) == (4, 2, 1)
