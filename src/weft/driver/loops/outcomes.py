"""The loop for jobs that programs run which are not weft's (ADR 116).

Their messages carry the command; their answers come by a route of the tenant, `OUTCOMES`. The
store decides what an answer changes, so whatever is repeated, late or made up is harmless.

    answer ──▶ read ──▶ start_answered ──▶ end_answered ──▶ acknowledged
                 │             └── not_now: held, and asked again
                 └── malformed: counted, logged, put to the dead messages
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from weft.core.consumer_limits import ANSWERS_MAX
from weft.driver.loops.following import Following, Key
from weft.driver.loops.foreign_commands import ForeignCommands
from weft.driver.loops.foreign_jobs import record
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.loops.release import Transports
from weft.ports.patience import tasks_beside
from weft.ports.store import Listening
from weft.ports.transport import OUTCOMES, Delivery, Route
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.wire.foreign_messages import Answer, Malformed, read_answer

FOLLOW_S: Final = 10.0
"""How often the loop looks for queues with foreign consumers, if it knows of none."""
TEND_S: Final = 1.0


@dataclass(eq=False)
class _Listener:
    """What hears the answers about the queues of one tenant."""

    transport: str
    tenant: str
    held: list[tuple[Delivery, Answer]] = field(default_factory=list)
    since: float | None = None
    """Since when it hears them without a gap; None: it does not."""

    def listening(self) -> Listening:
        """Return for how long it does."""
        heard_s = 0.0 if self.since is None else time.monotonic() - self.since
        return Listening(self.transport, self.tenant, heard_s)


class _Outcomes:
    def __init__(self, context: LoopContext, transports: Transports) -> None:
        self._context = context
        self._transports = transports
        self._store = transports.store
        self._following = Following(self._hear)
        self._listeners: dict[Key, _Listener] = {}
        self._commands = ForeignCommands(context.epoch, transports)

    async def run(self) -> None:
        """Hear and tend until cancelled."""
        try:
            while True:
                foreign = await self._store.list_foreign(
                    self._context.epoch, sorted(self._transports.by_name)
                )
                self._follow(set(foreign.tenants))
                if foreign.pool_ids:
                    await self._tend(foreign.pool_ids)
                    self._commands.tell()
                await self._following.watch(TEND_S if foreign.pool_ids else FOLLOW_S)
        finally:
            await self._commands.end()
            await self._following.end()

    def _follow(self, wanted: set[Key]) -> None:
        self._listeners = {key: self._listeners.get(key) or _Listener(*key) for key in wanted}
        self._following.follow(wanted)

    async def _tend(self, pool_ids: Sequence[int]) -> None:
        epoch, listening = self._context.epoch, [x.listening() for x in self._listeners.values()]
        for pool_id in pool_ids:
            for batch_id, job_id in await self._store.tend_foreign(epoch, pool_id, listening):
                log.warning("transport.attempt_lost", batch=batch_id, job=job_id)
        for transport, queue, n_jobs in await self._store.expire_offers(epoch, listening):
            log.warning("transport.offers_lost", transport=transport, queue=queue, jobs=n_jobs)
            metrics.TRANSPORT_LOST.labels(transport, queue).inc(n_jobs)

    async def _hear(self, key: Key) -> None:
        """Take what comes. Raise `TransportError` when the connection ends."""
        listener = self._listeners[key]
        try:
            await self._take(listener)
        finally:
            listener.since = None
            listener.held.clear()  # the transport brings them again

    async def _take(self, listener: _Listener) -> None:
        transport, news = self._transports.by_name[listener.transport], asyncio.Event()
        route = Route(listener.tenant, OUTCOMES)
        async with transport.consume(route, limit=ANSWERS_MAX) as deliveries:

            async def receive() -> None:
                async for delivery in deliveries:
                    await self._add(listener, delivery)
                    news.set()

            receiving = asyncio.create_task(receive())
            receiving.add_done_callback(lambda _: news.set())
            listener.since = time.monotonic()
            async with tasks_beside([receiving]):
                while not receiving.done():
                    await self._settle(listener)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(TEND_S if listener.held else None):
                            await news.wait()
                    news.clear()
                receiving.result()

    async def _add(self, listener: _Listener, delivery: Delivery) -> None:
        try:
            listener.held.append((delivery, read_answer(delivery.body)))
        except Malformed as error:
            log.warning(
                "transport.message_refused", transport=listener.transport, queue="outcomes",
                error=str(error),
            )  # fmt: skip
            metrics.TRANSPORT_REFUSED.labels(listener.transport).inc()
            await delivery.refuse(str(error))

    async def _settle(self, listener: _Listener) -> None:
        """Let the answers count, and acknowledge those about which all is said."""
        while listener.held:
            asked = listener.held[:ANSWERS_MAX]
            words = await record(
                self._store, self._context.epoch, listener.transport, listener.tenant,
                [answer for _, answer in asked],
            )  # fmt: skip
            over = [one for one, word in zip(asked, words, strict=True) if word != "not_now"]
            for one in over:
                await one[0].acknowledge()
                listener.held.remove(one)
            for word in words:
                metrics.TRANSPORT_ANSWERS.labels(listener.transport, word).inc()
            if any(word in {"runs", "ended"} for word in words):
                self._context.moved()
            if not over:
                return


async def _run(context: LoopContext) -> None:
    await _Outcomes(context, await context.needed(Transports)).run()


LOOP = Loop("outcomes", _run)
