"""Jobs that travel over a transport: offered, taken by the messages of consumers, withdrawn.
A transport that is away: one condition for each tenant whose jobs wait for it.
"""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio
from msgspec.structs import replace

from builders import job_rows
from store.barriers import set_quota, visit
from store.grants import leave
from store.test_conditions import operator
from store.test_core_quotas import cores
from store.test_first_core_quotas import sweep
from store.test_rates import rows_with
from store.world import Worker, World
from weft.core import errors
from weft.core.queues import Queue
from weft.core.scheduling.lease import Budget
from weft.core.states import Reason
from weft.ports.store import Caller, Claimed, DueOffer, OfferAnswer, Shape
from weft.wire.keys import Rate

MESSAGE = tuple[int, int, int]


class Rabbit:
    """A world in which the queue `q` travels over a transport; its messages are kept here."""

    def __init__(self, world: World, epoch: int) -> None:
        self.world = world
        self.epoch = epoch
        self.sent: list[DueOffer] = []
        self.pool = world.pool
        self.names = [f"rabbit-{world.pool}"]

    @property
    def shape(self) -> Shape:
        """Return what jobs of the queue ask for."""
        words = (("pool", self.pool), ("queue", "q"), ("transport", self.names[0]))
        return Shape(cpu_m=1000, memory_mib=512, words=words)

    async def submit(
        self,
        n_jobs: int = 1,
        *,
        max_attempts: int = 1,
        cpu_m: int | None = None,
        **more: Any,  # noqa: ANN401 (as `World.submit`)
    ) -> int:
        """Submit jobs of the queue."""
        shape = self.shape if cpu_m is None else replace(self.shape, cpu_m=cpu_m)
        rows = job_rows(n_jobs, shapes=[shape], max_attempts=max_attempts, retry_on=[Reason.EXIT])
        return await self.world.submit(rows, **more)

    async def offers(self, batch: int) -> int:
        """Return how many offers a batch has."""
        count: int = await self.world.admin.fetchval(
            "SELECT count(*) FROM weft.transport_offer WHERE batch_id = $1", batch
        )
        return count

    async def consumer(self, name: str = "w", *, cpu_m: int = 4000) -> Worker:
        """Register a worker that consumes."""
        return await self.world.worker(name, cpu_m=cpu_m, consumes=self.names)

    async def round(self, *, stock: int | None = None) -> list[DueOffer]:
        """Withdraw, offer and send as the driver does; return what was sent. `stock`: that of the
        queue, whose offers are no more young; None: of a driver that has just begun.
        """
        driver, stocks = self.world.driver, {}
        if stock is not None:
            pool = await self.world.admin.fetchval(
                "SELECT pool_id FROM weft.pool WHERE name = $1", self.pool
            )
            stocks = {f"{pool} {self.names[0]} q": stock}
            await self.let_age(2)
        await driver.withdraw_offers(self.epoch, self.names)
        await driver.offer_jobs(self.epoch, self.names, limit_jobs=1000, stocks=stocks)
        due = list(await driver.take_offers(self.epoch, self.names, again_s=5, limit_offers=1000))
        self.sent += due
        return due

    async def let_age(self, by_s: int) -> None:
        """Let it be so long ago that offers were made and answered."""
        await self.world.age(
            "transport_offer", "offered_at", "answered_at", by_s=by_s, transport=self.names[0]
        )

    async def take(
        self, worker: Worker, messages: Sequence[MESSAGE], *, tenant: str | None = None
    ) -> list[OfferAnswer]:
        """Let messages arrive at a worker."""
        with worker.memory.asking(Budget(worker.facts["cpu_m"], 10**6, len(messages))) as request:
            found = list(
                await worker.store.claim_offered(
                    worker.id, self.names[0], tenant or self.world.pool, "q", messages, request
                )
            )
        worker.memory.note(request, claims(found))
        return found


def messages_of(offers: Sequence[DueOffer]) -> list[MESSAGE]:
    """Return what the messages of offers say."""
    return [(one.batch_id, one.job_id, one.offer_id) for one in offers]


def claims(answers: Sequence[OfferAnswer]) -> list[Claimed]:
    """Return what was claimed."""
    return [one.claimed for one in answers if one.claimed is not None]


def words(answers: Sequence[OfferAnswer]) -> str:
    """Return the answers, in the order of the offers."""
    return " ".join(one.answer for one in sorted(answers, key=lambda one: one.offer_id))


async def open_rabbit(world: World, **terms: Any) -> Rabbit:  # noqa: ANN401 (fields of Queue)
    """Give a world with a queue that travels."""
    found = Rabbit(world, await world.lead())
    queue = Queue(name="q", priority=1, pools=(world.pool,), transport=found.names[0], **terms)
    other = Queue(name="plain", priority=2, pools=(world.pool,))
    await world.api.save_queues(world.caller, [queue, other])  # failed jobs go back into no other
    return found


@pytest_asyncio.fixture(loop_scope="session")
async def rabbit(world: World) -> Rabbit:
    """Give a world with a queue that travels."""
    return await open_rabbit(world)


async def test_a_job_goes_out_and_comes_back(rabbit: Rabbit) -> None:
    world = rabbit.world
    worker = await rabbit.consumer()
    batch = await rabbit.submit()
    assert await worker.claim() == []
    sent = await rabbit.round()
    assert await world.states(batch) == "q"
    assert [(one.batch_id, one.job_id, one.tenant, one.queue) for one in sent] == [
        (batch, 1, world.pool, "q")
    ]
    assert (await world.api.get_group(world.caller, batch, 0))["n_queued"] == 1
    why = await world.api.why_job(world.caller, batch, 1)
    assert why.travels is not None
    assert (why.travels.transport, why.travels.confirmed) == (rabbit.names[0], False)
    await world.driver.confirm_offers(rabbit.epoch, [sent[0].offer_id])
    assert await worker.claim() == []
    found = await rabbit.take(worker, messages_of(sent))
    assert words(found) == "yours"
    assert await world.states(batch) == "R"
    await worker.start(*claims(found))
    await worker.end(*claims(found))
    await rabbit.round()

    assert await world.states(batch) == "s"
    assert await rabbit.offers(batch) == 0
    assert words(await rabbit.take(worker, messages_of(sent))) == "settled"


async def test_a_job_that_was_taken_counts_as_a_start_at_its_rate(rabbit: Rabbit) -> None:
    rows = rows_with(Rate("queued", 1, 60), 2)
    rows.shapes = [rabbit.shape]
    batch = await rabbit.world.submit(rows)
    worker = await rabbit.consumer()
    taken = claims(await rabbit.take(worker, messages_of(await rabbit.round())))
    await worker.end(*taken)
    await visit(rabbit.world, in_s=59)

    assert [one.job_id for one in taken] == [1]
    assert await rabbit.round() == []
    assert await rabbit.world.states(batch) == "sr"


async def test_repeated_shuffled_and_forged_messages_start_nothing_twice(rabbit: Rabbit) -> None:
    one, other = await rabbit.consumer("w1", cpu_m=8000), await rabbit.consumer("w2", cpu_m=8000)
    batch = await rabbit.submit(10)
    messages = messages_of(await rabbit.round())
    assert len(messages) == 10
    storm = messages * 5 + [(b, j, o + 1) for b, j, o in messages] + [(batch, 10**6, 1), (1, 1, 1)]
    random.Random(3).shuffle(storm)  # noqa: S311 (an order)
    got = []
    for first in range(0, len(storm), 7):
        for worker in (one, other):
            got += claims(await rabbit.take(worker, storm[first : first + 7]))

    assert sorted(claimed.job_id for claimed in got) == list(range(1, 11))
    assert {claimed.attempt for claimed in got} == {1}
    assert await rabbit.world.states(batch) == "R" * 10


async def test_whose_job_runs_elsewhere_hears_so_until_it_ends(rabbit: Rabbit) -> None:
    one, other = await rabbit.consumer("w1"), await rabbit.consumer("w2")
    await rabbit.submit()
    messages = messages_of(await rabbit.round())
    claimed = claims(await rabbit.take(one, messages))
    before = await rabbit.take(other, messages)
    await one.start(*claimed)
    await one.end(*claimed)

    assert words(before) == "elsewhere"
    assert before[0].attempt == 1
    assert words(await rabbit.take(other, messages)) == "settled"


async def test_a_message_counts_only_where_it_was_sent(rabbit: Rabbit) -> None:
    worker, plain = await rabbit.consumer("w1"), await rabbit.world.worker("w2")
    batch = await rabbit.submit()
    messages = messages_of(await rabbit.round())

    assert words(await rabbit.take(worker, messages, tenant="another")) == "settled"
    assert words(await rabbit.take(plain, messages)) == "not_now"
    assert await rabbit.world.states(batch) == "q"


async def test_jobs_of_a_lost_worker_are_offered_anew(rabbit: Rabbit) -> None:
    world = rabbit.world
    worker = await rabbit.consumer("w1")
    batch = await rabbit.submit()
    old = messages_of(await rabbit.round())
    await rabbit.take(worker, old)
    other = await rabbit.consumer("w2")
    await world.age("worker_incarnation", "heartbeat_at", by_s=86_400, incarnation_id=worker.id)
    await world.driver.lose_workers(rabbit.epoch, grace_s=3600)
    assert await world.states(batch) == "r"
    assert words(await rabbit.take(other, old)) == "settled"
    new = messages_of(await rabbit.round())
    assert words(await rabbit.take(other, old)) == "settled"
    found = await rabbit.take(other, new)

    assert [one.attempt for one in claims(found)] == [2]
    await other.end(*claims(found))
    assert await world.states(batch) == "s"


async def test_a_failed_job_is_offered_again(rabbit: Rabbit) -> None:
    world = rabbit.world
    worker = await rabbit.consumer()
    batch = await rabbit.submit(max_attempts=2)
    old = messages_of(await rabbit.round())
    claimed = claims(await rabbit.take(worker, old))
    await worker.start(*claimed)
    await worker.end(*claimed, reason=Reason.EXIT)
    assert await world.states(batch) == "r"
    assert words(await rabbit.take(worker, old)) == "settled"
    new = messages_of(await rabbit.round())
    assert len(new) == 1
    assert await rabbit.offers(batch) == 1
    assert new != old
    assert words(await rabbit.take(worker, old)) == "settled"
    found = claims(await rabbit.take(worker, new))

    assert [one.attempt for one in found] == [2]
    await worker.end(*found)
    assert await world.states(batch) == "s"


async def test_no_more_is_offered_than_consumers_want(rabbit: Rabbit) -> None:
    batch = await rabbit.submit(20)
    assert await rabbit.round() == []
    await rabbit.consumer(cpu_m=3000)
    assert len(await rabbit.round()) == 6
    assert await rabbit.round() == []

    assert await rabbit.world.states(batch) == "q" * 6 + "r" * 14


async def test_a_hold_withdraws_offers_and_a_release_makes_new_ones(rabbit: Rabbit) -> None:
    world = rabbit.world
    worker = await rabbit.consumer()
    batch = await rabbit.submit(2)
    old = messages_of(await rabbit.round())
    await world.api.hold_group(world.caller, batch, 0)
    assert words(await rabbit.take(worker, old)) == "not_now not_now"
    await rabbit.round()
    assert await world.states(batch) == "rr"
    assert words(await rabbit.take(worker, old)) == "settled settled"
    await world.api.release_group(world.caller, batch, 0)
    while await world.driver.sweep("sweep_holds", rabbit.epoch, limit_jobs=100):
        pass
    found = await rabbit.take(worker, messages_of(await rabbit.round()))

    assert words(found) == "yours yours"


async def test_a_cancel_ends_queued_jobs(rabbit: Rabbit) -> None:
    world = rabbit.world
    worker = await rabbit.consumer()
    batch = await rabbit.submit(2)
    messages = messages_of(await rabbit.round())
    await world.api.cancel_group(world.caller, batch, 0, force=True)
    assert words(await rabbit.take(worker, messages)) == "not_now not_now"
    await world.sweep()
    assert await world.states(batch) == "cc"
    assert words(await rabbit.take(worker, messages)) == "settled settled"
    await rabbit.round()

    assert await rabbit.offers(batch) == 0


async def test_what_is_not_confirmed_is_sent_again(rabbit: Rabbit) -> None:
    await rabbit.consumer()
    await rabbit.submit()
    (first,) = await rabbit.round()
    assert await rabbit.round() == []
    await rabbit.world.age("transport_offer", "send_at", by_s=5, offer_id=first.offer_id)
    (again,) = await rabbit.round()

    assert again == first


async def test_jobs_of_a_transport_that_is_gone_are_ready_again(rabbit: Rabbit) -> None:
    world = rabbit.world
    await rabbit.consumer()
    batch = await rabbit.submit(2)
    await rabbit.round()
    assert await world.driver.withdraw_offers(rabbit.epoch, ["another"]) >= 0

    assert await world.states(batch) == "rr"


async def seen(rabbit: Rabbit) -> Any:  # noqa: ANN401 (a row)
    """Return what the api shows of the transport."""
    (found,) = await rabbit.world.api.list_transports(rabbit.world.caller, rabbit.names)
    return found


async def test_what_the_driver_saw_of_a_transport_is_shown(rabbit: Rabbit) -> None:
    world, name = rabbit.world, rabbit.names[0]
    worker = await rabbit.consumer(cpu_m=2000)
    batch = await rabbit.submit(5)
    await rabbit.take(worker, messages_of(await rabbit.round())[:1])
    assert (name, world.pool, "q") in await world.driver.list_travelling(rabbit.epoch, [name])
    assert not await world.driver.note_transport(
        rabbit.epoch, name, None, [(world.pool, "q", 3, 1), ("nobody", "q", 9, 9)]
    )
    up = await seen(rabbit)
    went = await world.driver.note_transport(rabbit.epoch, name, "no route", [])
    assert not await world.driver.note_transport(rabbit.epoch, name, "no route", [])
    away = await seen(rabbit)
    why = await world.api.why_job(world.caller, batch, 5)
    back = await world.driver.note_transport(rabbit.epoch, name, None, [])
    (queue,) = up["queues"]

    assert (went, back) == (True, True)
    assert (up["away_since"], away["error"], away["queues"][0]["messages"]) == (
        None,
        "no route",
        3,
    )
    assert {key: queue[key] for key in ("offered", "in_flight", "slots", "consumers")} == {
        "offered": 3,
        "in_flight": 1,
        "slots": 2,
        "consumers": 1,
    }
    assert queue["oldest_at"] is not None
    assert why.travels is not None
    assert (why.travels.since, why.travels.slots, why.travels.busy) == (None, 2, 1)
    assert why.travels.error == "no route"


async def test_a_job_that_travels_keeps_its_place_at_a_gate(rabbit: Rabbit) -> None:
    rows = job_rows(2, shapes=[rabbit.shape])
    batch = await rabbit.world.submit(rows, max_running=1)
    worker = await rabbit.consumer()
    messages = messages_of(await rabbit.round())
    assert await rabbit.world.states(batch) == "qr"
    assert await rabbit.world.findings() == {}
    taken = claims(await rabbit.take(worker, messages))
    await worker.end(*taken)
    await visit(rabbit.world)
    messages = messages_of(await rabbit.round())

    assert await rabbit.world.states(batch) == "sq"


async def test_a_first_quota_of_cores_counts_jobs_that_travel(rabbit: Rabbit) -> None:
    world = rabbit.world
    worker = await rabbit.consumer()
    batch = await rabbit.submit(2)
    messages = messages_of(await rabbit.round())
    later = await rabbit.submit(1)
    await set_quota(world, "ada", cores=2)
    await sweep(world)
    assert await world.states(batch) == "qq"
    assert await rabbit.round() == []
    taken = claims(await rabbit.take(worker, messages))
    assert await cores(world, world.caller) == 2
    await worker.end(*taken)
    await visit(world)
    messages = messages_of(await rabbit.round())

    assert [message[0] for message in messages] == [later]


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
        "transport_unavailable",
        4,
        "no route",
    )
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
        world.caller.tenant_id,
        datetime(2020, 1, 1, tzinfo=UTC),
    )
    await world.driver.due_conditions(rabbit.epoch, [], limit=1000)
    assert await incidents(world, world.caller) == []


async def heard(world: World, caller: Caller, start: tuple[int, int]) -> list[str]:
    """Return the kinds of the events about conditions that a caller is told."""
    rows, _ = await world.api.list_events(caller, after=start, batch_id=None, limit=1000)
    return [row["kind"] for row in rows if row["kind"].startswith("condition.")]
