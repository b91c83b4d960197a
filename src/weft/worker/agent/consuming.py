"""Take jobs that come by the messages of transports, beside those that are claimed.

A message is held until its job has ended or is blocked: then it is acknowledged. The store
decides whose a job is (`claim_offered`), so whatever a transport repeats, reorders or makes up is
harmless.

    message ──▶ asked ──▶ yours: handed over ──▶ recorded ──▶ acknowledged
                  │  ▲
                  │  └── elsewhere, not now: held, and asked again
                  └────▶ settled: acknowledged
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from weft.core.bounded import read_json
from weft.core.consumer_limits import OFFERS_MAX, Allowance
from weft.core.errors import ServerReplaced
from weft.core.scheduling.lease import Budget, plan_claim, stock_wanted
from weft.core.states import AttemptKey
from weft.ports.patience import (
    RETRY_LONGEST_S,
    end_tasks,
    pause_after,
    tasks_beside,
    until_answered,
    wait_at_most,
)
from weft.ports.store import Claimed, OfferAnswer
from weft.ports.transport import Delivery, Message, Route, TransportError
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.worker.agent.attempts import Attempts
from weft.worker.agent.hand_over import HandOver
from weft.worker.agent.incarnation import Incarnation
from weft.worker.agent.site import Consumed

ASK_AGAIN_S: Final = 2.0
"""When messages are asked about again whose jobs run elsewhere, or cannot be claimed now."""
HELD_S: Final = 5.0
"""When a message is given back whose job could not be claimed here: others may have room."""
QUEUES_S: Final = 10.0
"""How often the agent asks which queues it consumes."""
ASKED_MAX: Final = 200
"""In one call."""
BODY_BYTES_MAX: Final = 65_536


@dataclass(eq=False)
class _Held:
    """A message that is not acknowledged."""

    delivery: Delivery
    message: Message
    come_s: float
    asked_s: float = 0.0
    """When the store was last asked about it."""
    is_elsewhere: bool = False
    key: AttemptKey | None = None
    """The attempt of this worker that its offer became."""


@dataclass
class _Consumer:
    """What one queue of a transport has brought."""

    name: str
    route: Route
    held: list[_Held] = field(default_factory=list)


class Consuming:
    """The consumers of one incarnation, one for each queue."""

    def __init__(
        self,
        consumed: Consumed,
        incarnation: Incarnation,
        attempts: Attempts,
        handing_over: HandOver,
    ) -> None:
        self._store = consumed.store
        self._transports = consumed.transports
        self._incarnation_id = incarnation.incarnation_id
        self._memory = incarnation.memory
        self._held = incarnation.held
        self._disks = incarnation.site.disks
        self._attempts = attempts
        self._handing_over = handing_over
        facts = incarnation.site.facts
        self._slots = facts.slots or max(1, facts.cpu_m // 1000)
        self._is_asking = asyncio.Lock()
        """Two claims at a time would count the same room twice."""
        self._tasks: dict[tuple[str, Route], asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Consume from the queues that this worker serves, until `Attempts.is_closed`."""
        async with tasks_beside(self._tasks.values()):
            while not self._attempts.is_closed:
                await self._follow_queues()
                await asyncio.sleep(QUEUES_S)

    async def _follow_queues(self) -> None:
        found = await until_answered(
            lambda: self._store.list_consumed(self._incarnation_id, sorted(self._transports))
        )
        wanted = {(name, Route(tenant, queue)) for name, tenant, queue in found}
        await end_tasks([self._tasks.pop(key) for key in self._tasks.keys() - wanted])
        for name, route in sorted(wanted - self._tasks.keys()):
            consumer = _Consumer(name, route)
            self._tasks[name, route] = asyncio.create_task(self._consume_always(consumer))

    async def _consume_always(self, consumer: _Consumer) -> None:
        failures = 0
        while True:
            begun = time.monotonic()
            try:
                await self._consume(consumer)
            except Exception as error:  # a mistake, too, must not end the consumer in silence
                failures = 1 if time.monotonic() - begun > RETRY_LONGEST_S else failures + 1
                if isinstance(error, TransportError):
                    log.warning("transport.away", transport=consumer.name, error=str(error))
                elif not isinstance(error, ServerReplaced):  # which soon ends the session
                    log.exception(
                        "transport.consumer_failed",
                        transport=consumer.name,
                        queue=consumer.route.queue,
                    )
            consumer.held.clear()  # the transport brings them again
            await pause_after(failures)

    async def _consume(self, consumer: _Consumer) -> None:
        """Take what comes, and ask about it. Raise `TransportError` when the connection ends."""
        transport, news = self._transports[consumer.name], asyncio.Event()
        limit = Allowance(min(self._slots, OFFERS_MAX))
        async with transport.consume(consumer.route, limit=limit.size) as deliveries:

            async def receive() -> None:
                async for delivery in deliveries:
                    await self._add(consumer, delivery)
                    news.set()

            receiving = asyncio.create_task(receive())
            receiving.add_done_callback(lambda _: news.set())
            bells = self._attempts.bells
            bells.add(news)
            try:
                while not receiving.done():
                    await self._look(consumer)
                    if limit.plan(self._slots, self._stock(), time.monotonic()):
                        await deliveries.allow(limit.size)
                    await wait_at_most(ASK_AGAIN_S if consumer.held else None, news)
                    news.clear()
                receiving.result()
            finally:
                bells.discard(news)
                await end_tasks([receiving])

    def _stock(self) -> int:
        """Return how many jobs are useful ahead; a worker with slots claims none."""
        if self._held.slots is not None:
            return 0
        return stock_wanted(self._held.load(), self._held.pace)

    async def _add(self, consumer: _Consumer, delivery: Delivery) -> None:
        try:
            if len(delivery.body) > BODY_BYTES_MAX:
                raise msgspec.ValidationError(f"it has {len(delivery.body)} bytes")
            message = read_json(delivery.body, Message)
            _check(message, consumer.route)
        except msgspec.MsgspecError as error:
            log.warning(
                "transport.message_refused",
                transport=consumer.name,
                queue=consumer.route.queue,
                error=str(error)[:500],
            )
            metrics.TRANSPORT_REFUSED.labels(consumer.name).inc()
            await delivery.refuse(str(error))
            return
        consumer.held.append(_Held(delivery, message, time.monotonic()))

    async def _look(self, consumer: _Consumer) -> None:
        """Acknowledge what is over, and ask about what is not ours."""
        for one in [*consumer.held]:
            if one.key is not None and one.key not in self._held.by_key:
                await one.delivery.acknowledge()
                consumer.held.remove(one)
        async with self._is_asking:
            is_full = self._disks.are_full()
            budget = None if is_full else plan_claim(self._held.load(), self._held.pace)
            asked = self._to_ask(consumer, budget)
            if not asked or self._attempts.is_closed:
                return
            answers = await self._ask(consumer, asked, budget)
        now = time.monotonic()
        for one in asked:
            answer = answers.get((one.message.batch, one.message.job, one.message.offer))
            word = "settled" if answer is None else answer.answer
            one.asked_s, one.is_elsewhere = now, word == "elsewhere"
            if answer is not None and answer.attempt is not None:
                key = AttemptKey(answer.batch_id, answer.job_id, answer.attempt)
                one.key = key if key in self._held.by_key else None
            if word == "settled":
                await one.delivery.acknowledge()
                consumer.held.remove(one)
            elif word == "not_now" and one.come_s < now - HELD_S:
                await one.delivery.give_back()
                consumer.held.remove(one)

    def _to_ask(self, consumer: _Consumer, budget: Budget | None) -> Sequence[_Held]:
        """Return about which messages to ask now: those about which nothing was heard for long,
        and as many as there is room for, as they were asked about or have come.
        """
        before = time.monotonic() - ASK_AGAIN_S
        others = sorted(
            (one for one in consumer.held if one.key is None), key=lambda one: one.asked_s
        )
        late = [other for other in others if max(other.asked_s, other.come_s) < before]
        n_jobs = 0 if budget is None else min(budget.jobs, ASKED_MAX)
        fresh = [other for other in others if not other.is_elsewhere and other not in late]
        return [*late[:ASKED_MAX], *fresh[:n_jobs]]

    async def _ask(
        self, consumer: _Consumer, asked: Sequence[_Held], budget: Budget | None
    ) -> Mapping[tuple[int, int, int], OfferAnswer]:
        """Claim what this worker may have, and hand it over; return the answers by offer."""
        offers = [(one.message.batch, one.message.job, one.message.offer) for one in asked]
        with self._memory.asking(budget or Budget(0, 0, 0)) as request:
            answers = await until_answered(
                lambda: self._store.claim_offered(
                    self._incarnation_id, consumer.name, *consumer.route, offers, request
                )
            )
        claimed = [answer.claimed for answer in answers if answer.claimed is not None]
        self._memory.note(request, claimed)
        self._handing_over.hold(claimed)
        await self._hand_over(claimed)
        return {(answer.batch_id, answer.job_id, answer.offer_id): answer for answer in answers}

    async def _hand_over(self, claimed: Sequence[Claimed]) -> None:
        if claimed:
            await self._handing_over.hand_over(claimed)


def _check(message: Message, route: Route) -> None:
    if message.tenant != route.tenant:
        raise msgspec.ValidationError(f"it names another tenant than {route.tenant}")
    numbers = (message.batch, message.job, message.offer)
    if not all(0 < number < 2**63 for number in numbers) or message.job >= 2**31:
        raise msgspec.ValidationError("its numbers are none of jobs")
