"""The loop for jobs that programs run which are not weft's (ADR 116).

Their messages carry the command; their answers come by a route of the tenant, `OUTCOMES`. The
store decides what an answer changes, so whatever is repeated, late or made up is harmless.

    answer ──▶ read ──▶ start_answered ──▶ end_answered ──▶ acknowledged
                 │             └── not_now: held, and asked again
                 └── malformed: counted, logged, put to the dead messages

What foreign programs are told of jobs that they have: cancels, signals, messages, more time.

Each goes to `weft.<tenant>.commands` under a key of its job (ADR 132), so it passes all work that
waits. The store keeps it until the transport has confirmed it.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from weft.core.consumer_limits import ANSWERS_MAX
from weft.core.ids import format_batch_id
from weft.driver.loops.following import Following, Key
from weft.driver.loops.foreign_jobs import record
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.loops.release import Transports
from weft.ports.patience import end_tasks, tasks_beside, wait_at_most
from weft.ports.store import ForeignCommand, Listening
from weft.ports.topics import Record
from weft.ports.transport import OUTCOMES, Delivery, Route, TransportError
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.wire.foreign_messages import Answer, Command, CommandWord, Malformed, read_answer

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
                await self._follow(set(foreign.tenants))
                if foreign.pool_ids:
                    await self._tend(foreign.pool_ids)
                    self._commands.tell()
                await self._following.watch(TEND_S if foreign.pool_ids else FOLLOW_S)
        finally:
            await self._commands.end()
            await self._following.end()

    async def _follow(self, wanted: set[Key]) -> None:
        self._listeners |= {key: _Listener(*key) for key in wanted - self._listeners.keys()}
        await self._following.follow(wanted)
        self._listeners = {key: self._listeners[key] for key in wanted}

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
                    await wait_at_most(TEND_S if listener.held else None, news)
                    news.clear()
                receiving.result()

    async def _add(self, listener: _Listener, delivery: Delivery) -> None:
        try:
            listener.held.append((delivery, read_answer(delivery.body)))
        except Malformed as error:
            log.warning(
                "transport.message_refused",
                transport=listener.transport,
                queue="outcomes",
                error=str(error),
            )
            metrics.TRANSPORT_REFUSED.labels(listener.transport).inc()
            await delivery.refuse(str(error))

    async def _settle(self, listener: _Listener) -> None:
        """Let the answers count, and acknowledge those about which all is said."""
        while listener.held:
            asked = listener.held[:ANSWERS_MAX]
            words = await record(
                self._store,
                self._context.epoch,
                listener.transport,
                listener.tenant,
                [answer for _, answer in asked],
            )
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


PARTITIONS: Final = 1
UNHEARD_S: Final = 10.0
"""For so long a program may need to listen for the job that it has got."""
UNHEARD: Final = "no program listens to the commands for this job"


class ForeignCommands:
    """Tells them, one set at a time."""

    def __init__(self, epoch: int, transports: Transports) -> None:
        self._epoch = epoch
        self._transports = transports
        self._telling: asyncio.Task[None] | None = None

    def tell(self) -> None:
        """Begin to tell what there is, unless that is under way: a transport may be slow. Raise
        what the last time has failed with.
        """
        if self._telling is not None and self._telling.done():
            self._telling.result()
            self._telling = None
        if self._telling is None and self._transports.sinks:
            self._telling = asyncio.create_task(self._tell())

    async def end(self) -> None:
        """Tell nothing any more."""
        if self._telling is not None:
            await end_tasks([self._telling])

    async def _tell(self) -> None:
        store, names = self._transports.store, sorted(self._transports.sinks)
        wanted = await store.take_foreign_commands(self._epoch, names)
        for name in sorted({one.transport for one in wanted}):
            some = [one for one in wanted if one.transport == name]
            if over := await self._send(name, some):
                await store.end_foreign_commands(self._epoch, over)

    async def _send(
        self, name: str, commands: Sequence[ForeignCommand]
    ) -> Sequence[tuple[ForeignCommand, str]]:
        """Send them; return those that are told, and those to which nobody listens."""
        sink, records = self._transports.sinks[name], [_record(command) for command in commands]
        try:
            await sink.make(dict.fromkeys({record.topic for record in records}, PARTITIONS))
            kept = await sink.publish(records)
        except TransportError as error:
            log.warning("transport.away", transport=name, error=str(error))
            return ()
        over = [
            (one, "" if is_kept else UNHEARD)
            for one, is_kept in zip(commands, kept, strict=True)
            if is_kept or one.age_s > UNHEARD_S
        ]
        for _, why in over:
            metrics.TRANSPORT_COMMANDS.labels(name, "unheard" if why else "told").inc()
        return over


def _record(one: ForeignCommand) -> Record:
    batch = format_batch_id(one.batch_id)
    command = Command(
        command=_word(one),
        batch=batch,
        job=one.job_id,
        offer=one.offer_id,
        signal=one.signal,
        message=one.message,
        extend_s=None if one.extend_ms is None else one.extend_ms / 1000,
    )
    headers = {"id": f"{one.offer_id}-{one.command_id or 'cancel'}", "kind": command.command}
    return Record(
        f"weft.{one.tenant}.commands",
        f"{batch}.j{one.job_id}",
        msgspec.json.encode(command),
        headers,
        needs_reader=True,
    )


def _word(one: ForeignCommand) -> CommandWord:
    if one.command_id is None:
        return "cancel"
    if one.signal is not None:
        return "signal"
    return "extend" if one.message is None else "message"
