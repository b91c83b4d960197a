"""The loop that offers ready jobs to transports, and sends the messages of the offers.

A round turns jobs from ready to queued and notes their offers in one transaction; then it sends
what is due and notes what the transport has confirmed. What is not confirmed is due again. Without
transports the loop waits for ever.
"""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from weft.core.consumer_limits import Stock
from weft.driver.loops.foreign_jobs import bodies_of
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.patience import end_tasks
from weft.ports.store import DueOffer
from weft.ports.topics import EventSink
from weft.ports.transport import Message, Route, Transport, TransportError
from weft.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import log

OFFERS_MAX: Final = 1000
"""In one call."""
SEND_AGAIN_S: Final = 5.0
"""After this time a message that was not confirmed is sent again."""
SETS_MAX: Final = 4
"""Of messages that are under way at a time."""
LOOK_S: Final = 1.0
"""Between two looks while anything is offered: a hold withdraws it."""
NOTE_S: Final = 10.0
"""Between two looks at what a transport holds."""
PAUSE_S: Final = 0.05
"""Between two rounds while offers come and go: what becomes ready meanwhile is offered together.
When nothing moves it doubles, up to `LOOK_S`.
"""


@dataclass(frozen=True)
class Transports:
    """The connections over which queues may travel, by name."""

    by_name: Mapping[str, Transport]
    store: DriverStore
    topics_of: Collection[tuple[str, str]] = frozenset()
    """Connections with topics of jobs or submissions, and the tenants whose these are."""
    sinks: Mapping[str, EventSink] = field(default_factory=dict)
    """Over which foreign programs are told of their jobs, by connection."""
    looked_s: dict[str, float] = field(default_factory=dict)
    """When each was last asked what it holds."""


class Release:
    """The rounds of one term, and what they learn of each queue."""

    def __init__(self, context: LoopContext, transports: Transports) -> None:
        self._context = context
        self._transports = transports
        self._names = sorted(transports.by_name)
        self._stocks: dict[str, Stock] = {}
        self._looked_s = 0.0
        self._n_left = 0
        self._sending: set[asyncio.Task[None]] = set()

    async def round(self) -> bool | None:
        """Withdraw, offer and send once; return whether offers moved, None if there are none."""
        store, epoch = self._transports.store, self._context.epoch
        looks = time.monotonic() >= self._looked_s + LOOK_S
        if looks:
            self._looked_s = time.monotonic()
        n_left = await store.withdraw_offers(epoch, self._names, looks=looks)
        n_new = await self._offer()
        has_moved, self._n_left = n_new > 0 or n_left != self._n_left, n_left + n_new
        if not self._n_left:
            return None
        due = await store.take_offers(
            epoch, self._names, again_s=SEND_AGAIN_S, limit_offers=OFFERS_MAX
        )
        if due:
            await self._begin_to_send(due)
        if n_new:
            self._context.moved()
        return has_moved

    async def _offer(self) -> int:
        """Offer what there is room for; return how much that was."""
        found = await self._transports.store.offer_jobs(
            self._context.epoch,
            self._names,
            limit_jobs=OFFERS_MAX,
            stocks={key: stock.size for key, stock in self._stocks.items()},
        )
        limit = self._context.settings.offers_ahead_max
        queues = [one for one in found if one.key]
        self._stocks = {
            queue.key: self._stocks.get(queue.key) or Stock(max(queue.slots, queue.waiting))
            for queue in queues
        }
        for key, slots, waiting, n_new in queues:
            self._stocks[key].plan(
                slots=slots, waiting=waiting, n_new=n_new, limit=limit, now_s=time.monotonic()
            )
        return sum(one.n_new for one in found)

    async def _begin_to_send(self, due: Sequence[DueOffer]) -> None:
        """Send messages while the next round offers more. Raise what an earlier set raised."""
        self._sending.add(asyncio.create_task(self._send(due)))
        done = {task for task in self._sending if task.done()}
        if len(self._sending) - len(done) >= SETS_MAX:
            done, _ = await asyncio.wait(self._sending, return_when=asyncio.FIRST_COMPLETED)
        self._sending -= done
        for task in done:
            task.result()

    async def _send(self, due: Sequence[DueOffer]) -> None:
        """Send the messages of offers, and note what is confirmed."""
        bodies = await bodies_of(self._transports.store, self._context.epoch, due)
        sent = await asyncio.gather(
            *(
                _send(
                    self._transports, name, bodies, [one for one in due if one.transport == name]
                )
                for name in sorted({one.transport for one in due})
            )
        )
        if confirmed := [one for some in sent for one in some]:
            await self._transports.store.confirm_offers(self._context.epoch, confirmed)

    async def end(self) -> None:
        """Send nothing any more."""
        await end_tasks(self._sending)


async def _run(context: LoopContext) -> None:
    transports = await context.needed(Transports)
    release = Release(context, transports)
    try:
        await _rounds(context, transports, release)
    finally:
        await release.end()


async def _rounds(context: LoopContext, transports: Transports, release: Release) -> None:
    pause_s = PAUSE_S
    while True:
        has_moved = await release.round()
        await look(context, transports)
        await asyncio.sleep(PAUSE_S)
        pause_s = PAUSE_S if has_moved else min(2 * pause_s, LOOK_S)
        if not has_moved:
            idle_s = context.settings.heartbeat_s
            await context.bell.heard(idle_s if has_moved is None else pause_s)


async def look(context: LoopContext, transports: Transports) -> None:
    """Ask each transport what it holds, from time to time, and note it or why it is away."""
    before = time.monotonic() - NOTE_S
    due = [name for name in transports.by_name if transports.looked_s.get(name, before) <= before]
    if due:
        queues = await transports.store.list_travelling(context.epoch, due)
        await asyncio.gather(
            *(
                _look(
                    context,
                    transports,
                    name,
                    [Route(*queue[1:]) for queue in queues if queue[0] == name],
                )
                for name in due
            )
        )


async def _look(
    context: LoopContext, transports: Transports, name: str, routes: Sequence[Route]
) -> None:
    error, depths = None, []
    try:
        found = await transports.by_name[name].depths(routes)
        depths = [(*route, *depth) for route, depth in zip(routes, found, strict=True)]
    except TransportError as failure:
        error = str(failure) or "it does not answer"
    transports.looked_s[name] = time.monotonic()
    metrics.TRANSPORT_UP.labels(name).set(error is None)
    if await transports.store.note_transport(context.epoch, name, error, depths):
        if error is None:
            log.info("transport.back", transport=name)
        else:
            log.warning("transport.away", transport=name, error=error)


async def _send(
    transports: Transports, name: str, bodies: Mapping[int, bytes], offers: Sequence[DueOffer]
) -> Sequence[int]:
    """Send the messages of offers; return the numbers of those that were confirmed.

    `bodies`: what foreign programs are told.
    """
    offers = [offer for offer in offers if offer.fence is None or offer.offer_id in bodies]
    messages = [
        (
            Route(offer.tenant, offer.queue),
            bodies.get(offer.offer_id)
            or msgspec.json.encode(
                Message(offer.tenant, offer.batch_id, offer.job_id, offer.offer_id, offer.trace_id)
            ),
        )
        for offer in offers
    ]
    try:
        kept = await transports.by_name[name].publish(messages)
    except TransportError:
        transports.looked_s.pop(name, None)  # the look that follows says why
        return ()
    metrics.TRANSPORT_MESSAGES.labels(name, "confirmed").inc(sum(kept))
    metrics.TRANSPORT_MESSAGES.labels(name, "unconfirmed").inc(len(kept) - sum(kept))
    return [one.offer_id for one, is_kept in zip(offers, kept, strict=True) if is_kept]


LOOP = Loop("release", _run, after=("fold",))
