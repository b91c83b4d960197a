"""Jobs that programs run which are not weft's: they answer offers, and the store decides."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest_asyncio

from store.test_transports import Rabbit, messages_of, words
from store.world import World
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.driver.loops.foreign_jobs import record
from weft.ports.store import DueOffer, Listening, OfferEnd, Shape
from weft.wire.foreign_messages import Answer

QUEUED_S = 60


class Foreign(Rabbit):
    """A world whose queue `q` has two slots of foreign programs."""

    @property
    def shape(self) -> Shape:
        """Return what jobs of the queue ask for."""
        found = super().shape
        words = tuple(sorted((*found.words, ("foreign", "yes"))))
        return Shape(cpu_m=64_000, memory_mib=512, words=words)

    async def save(self, *, slots: int) -> None:
        """Save the queue."""
        queue = Queue(
            name="q",
            priority=1,
            pools=(self.world.pool,),
            transport=self.names[0],
            consumers="foreign",
            slots=slots,
            queued_s=QUEUED_S,
        )
        await self.world.api.save_queues(self.world.caller, [queue])

    async def tend(self, *, heard_s: float = 0.0) -> list[tuple[int, int]]:
        """Tend as the driver does that has heard answers for so long."""
        driver, listening = self.world.driver, [self.listening(heard_s)]
        queues = await driver.list_foreign(self.epoch, self.names)
        assert (self.names[0], self.world.pool) in queues.tenants
        lost: list[tuple[int, int]] = []
        for pool_id in queues.pool_ids:
            lost += await driver.tend_foreign(self.epoch, pool_id, listening)
        return lost

    async def expire(self, *, heard_s: float) -> list[tuple[str, str, int]]:
        """Let what nobody answered be ready again."""
        return list(await self.world.driver.expire_offers(self.epoch, [self.listening(heard_s)]))

    def listening(self, heard_s: float) -> Listening:
        """Say for how long answers were heard."""
        return Listening(self.names[0], self.world.pool, heard_s)

    async def started(self, *offers: DueOffer, tenant: str | None = None) -> list[str]:
        """Answer that these run."""
        return list(
            await self.world.driver.start_answered(
                self.epoch, self.names[0], tenant or self.world.pool, [key(one) for one in offers]
            )
        )

    async def ended(self, *offers: DueOffer, code: int = 0) -> list[str]:
        """Answer that these have ended."""
        reason = Reason.EXIT if code else None
        ends = [OfferEnd(*key(one), reason, code, None) for one in offers]
        found = await self.world.driver.end_answered(
            self.epoch, self.names[0], self.world.pool, ends
        )
        return list(found)

    async def attempts(self, batch: int) -> list[Any]:
        """Return what is recorded of the attempts that have ended."""
        found: list[Any] = await self.world.admin.fetch(
            "SELECT a.attempt, a.reason, a.exit_code, a.message, a.started_at IS NOT NULL AS ran, "
            "w.name FROM weft.attempt a JOIN weft.worker_incarnation i USING (incarnation_id) "
            "JOIN weft.worker w USING (worker_id) WHERE a.batch_id = $1 ORDER BY a.job_id, 1",
            batch,
        )
        return found


def key(offer: DueOffer) -> tuple[int, UUID]:
    """Return what an offer is answered with."""
    assert offer.fence is not None
    return offer.offer_id, offer.fence


@pytest_asyncio.fixture(loop_scope="session")
async def foreign(world: World) -> Foreign:
    """Give a world with a queue that foreign programs consume."""
    found = Foreign(world, await world.lead())
    await found.save(slots=2)
    await found.tend()
    return found


async def run(foreign: Foreign, n_jobs: int, **terms: int) -> tuple[int, Sequence[DueOffer]]:
    """Submit jobs; return the batch and the offers that were sent."""
    batch = await foreign.submit(n_jobs, **terms)
    return batch, await foreign.round()


async def test_a_foreign_program_runs_a_job(foreign: Foreign) -> None:
    world = foreign.world
    batch, (offer,) = await run(foreign, 1)
    assert offer.until is not None
    why = await world.api.why_job(world.caller, batch, 1)
    assert why.travels is not None
    assert (why.travels.foreign, why.travels.slots) == (True, 2)
    assert await foreign.started(offer) == ["runs"]
    assert await foreign.started(offer) == ["runs"]
    assert await world.states(batch) == "R"
    assert await world.findings() == {}
    assert await foreign.ended(offer) == ["ended"]
    assert await foreign.ended(offer) == ["settled"]
    await foreign.round()

    assert await world.states(batch) == "s"
    assert [(one["attempt"], one["name"]) for one in await foreign.attempts(batch)] == [
        (1, "foreign")
    ]
    assert await foreign.offers(batch) == 0
    assert await world.findings() == {}


async def test_start_and_end_of_a_short_job_count_when_they_come_together(
    foreign: Foreign,
) -> None:
    world = foreign.world
    batch, (offer,) = await run(foreign, 1)
    start = Answer(*key(offer), is_ended=False, reason=None, exit_code=None, message=None)
    end = start._replace(is_ended=True, exit_code=0)
    forged = end._replace(fence=uuid4())
    answers = [forged, start, end, end]
    told = await record(world.driver, foreign.epoch, foreign.names[0], world.pool, answers)

    assert told == ["settled", "runs", "ended", "settled"]
    assert await world.states(batch) == "s"
    assert await world.findings() == {}


async def test_an_exit_code_fails_the_job_and_its_retry_is_offered_anew(foreign: Foreign) -> None:
    batch, (offer,) = await run(foreign, 1, max_attempts=2)
    await foreign.started(offer)
    assert await foreign.ended(offer, code=3) == ["ended"]
    assert await foreign.world.states(batch) == "r"
    (again,) = await foreign.round()
    assert key(again) != key(offer)
    assert await foreign.started(offer) == ["settled"]
    await foreign.started(again)
    await foreign.ended(again, code=4)

    assert await foreign.world.states(batch) == "f"
    assert [one["exit_code"] for one in await foreign.attempts(batch)] == [3, 4]


async def test_no_more_are_with_foreign_programs_than_they_have_slots(foreign: Foreign) -> None:
    batch, offers = await run(foreign, 5)
    assert len(offers) == 2
    assert await foreign.started(*offers) == ["runs", "runs"]
    assert await foreign.round() == []
    await foreign.ended(offers[0])

    assert len(await foreign.round()) == 1
    assert await foreign.world.states(batch) == "sRqrr"


async def test_fewer_slots_withdraw_the_last_offers(foreign: Foreign) -> None:
    world = foreign.world
    await foreign.save(slots=4)
    batch, offers = await run(foreign, 5)
    assert await foreign.started(offers[0]) == ["runs"]
    await foreign.save(slots=2)
    await foreign.round()
    assert await world.states(batch) == "Rqqqr"  # they are young, and may be taken soon
    await foreign.let_age(2)
    await foreign.round()
    assert await world.states(batch) == "Rqrrr"
    assert await foreign.started(*offers[1:]) == ["runs", "settled", "settled"]
    await foreign.save(slots=1)
    assert await foreign.round() == []

    assert await world.states(batch) == "RRrrr"
    assert await world.findings() == {}


async def test_forged_and_strange_answers_change_nothing(foreign: Foreign) -> None:
    batch, offers = await run(foreign, 2)
    one, other = offers
    forged = [
        one._replace(fence=uuid4()),
        one._replace(offer_id=one.offer_id + 10**6),
        one._replace(fence=other.fence),
    ]
    assert await foreign.started(*forged) == ["settled"] * 3
    assert await foreign.ended(*forged) == ["settled"] * 3
    assert await foreign.started(one, tenant="another") == ["settled"]
    assert await foreign.ended(one) == ["settled"]  # nobody has said that it runs

    assert await foreign.world.states(batch) == "qq"


async def test_workers_of_weft_get_nothing_of_such_a_queue(foreign: Foreign) -> None:
    world = foreign.world
    worker = await foreign.consumer(cpu_m=128_000)
    batch, offers = await run(foreign, 1)

    assert await worker.claim() == []
    assert await worker.store.list_consumed(worker.id, foreign.names) == []
    assert words(await foreign.take(worker, messages_of(offers))) == "not_now"
    assert await world.states(batch) == "q"


async def test_a_confirmed_message_is_not_sent_again(foreign: Foreign) -> None:
    _, (offer,) = await run(foreign, 1)
    await foreign.world.driver.confirm_offers(foreign.epoch, [offer.offer_id])
    sent_at = await foreign.world.admin.fetchval(
        "SELECT send_at = 'infinity' FROM weft.transport_offer WHERE offer_id = $1", offer.offer_id
    )

    assert sent_at is True


async def test_what_nobody_answers_is_ready_again(foreign: Foreign) -> None:
    world = foreign.world
    batch, (offer,) = await run(foreign, 1)
    assert await foreign.expire(heard_s=10_000) == []
    await foreign.let_age(QUEUED_S + 1)
    assert await foreign.expire(heard_s=QUEUED_S - 1) == []  # the answer may wait to be heard
    assert await foreign.expire(heard_s=QUEUED_S + 1) == [(foreign.names[0], "q", 1)]
    assert await world.states(batch) == "r"
    assert await foreign.started(offer) == ["settled"]
    told = await world.admin.fetchval(
        "SELECT message FROM weft.job_change WHERE batch_id = $1", batch
    )
    (again,) = await foreign.round()

    assert told == "nobody answered its offer within 60 s"
    assert await foreign.started(again) == ["runs"]


async def test_what_is_told_of_no_more_is_lost_and_offered_anew(foreign: Foreign) -> None:
    world = foreign.world
    batch, (offer,) = await run(foreign, 1)
    await foreign.started(offer)
    await foreign.let_age(QUEUED_S + 1)
    assert await foreign.tend(heard_s=1) == []
    await foreign.started(offer)  # a repeat says that it still runs
    assert await foreign.tend(heard_s=10_000) == []
    await foreign.let_age(QUEUED_S + 1)
    assert await foreign.tend(heard_s=10_000) == [(batch, 1)]
    assert await world.states(batch) == "r"
    (lost,) = await foreign.attempts(batch)
    assert (lost["reason"], lost["name"], lost["ran"]) == (Reason.LOST, "foreign", True)
    assert await foreign.ended(offer) == ["settled"]
    (again,) = await foreign.round()
    await foreign.started(again)
    await foreign.ended(again)

    assert await world.states(batch) == "s"
    assert await world.findings() == {}


async def test_cancels_end_jobs_that_are_offered_and_that_run(foreign: Foreign) -> None:
    world = foreign.world
    batch, offers = await run(foreign, 3)
    await foreign.started(offers[0])
    await world.api.cancel_group(world.caller, batch, 0, force=True)
    await world.sweep()
    await foreign.tend()
    assert await world.states(batch) == "ccc"
    assert await foreign.started(*offers) == ["settled", "settled"]
    assert await foreign.ended(offers[0]) == ["settled"]
    await foreign.round()

    assert await foreign.offers(batch) == 0
    assert await world.findings() == {}


async def test_a_cancel_of_one_job_ends_its_foreign_attempt(foreign: Foreign) -> None:
    world = foreign.world
    batch, (offer,) = await run(foreign, 1)
    await foreign.started(offer)
    await world.api.cancel_jobs(world.caller, batch, [1])
    await foreign.tend()

    assert await world.states(batch) == "c"


async def test_what_foreign_programs_have_room_for_is_not_weighed(foreign: Foreign) -> None:
    offers = await foreign.world.api.pool_offers()

    assert all(one["cpu_m"] < 10**8 for one in offers)


async def test_jobs_that_move_to_another_queue_travel_as_it_does(foreign: Foreign) -> None:
    world = foreign.world
    batch = await foreign.submit(1)
    assert await world.api.move_jobs(world.caller, batch, [1], queue="default", pool=None) == 1
    asked = await world.admin.fetchval(
        "SELECT l.asks FROM weft.job j JOIN weft.lane l USING (lane_id) WHERE j.batch_id = $1",
        batch,
    )

    assert "transport" not in asked
    assert "foreign" not in asked
