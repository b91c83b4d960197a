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

from weft.driver.loops.foreign_jobs import bodies_of
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.store import DueOffer, OfferStore
from weft.ports.topics import EventSink
from weft.ports.transport import Message, Route, Transport, TransportError
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

OFFERS_MAX: Final = 1000
"""In one call."""
SEND_AGAIN_S: Final = 5.0
"""After this time a message that was not confirmed is sent again."""
LOOK_S: Final = 1.0
"""Between two looks while anything is offered: a hold withdraws it."""
NOTE_S: Final = 10.0
"""Between two looks at what a transport holds."""
PAUSE_S: Final = 0.05
"""Between two rounds: what becomes ready meanwhile is offered together."""


@dataclass(frozen=True)
class Transports:
    """The connections over which queues may travel, by name."""

    by_name: Mapping[str, Transport]
    store: OfferStore
    topics_of: Collection[tuple[str, str]] = frozenset()
    """Connections with topics of jobs or submissions, and the tenants whose these are."""
    sinks: Mapping[str, EventSink] = field(default_factory=dict)
    """Over which foreign programs are told of their jobs, by connection."""
    looked_s: dict[str, float] = field(default_factory=dict)
    """When each was last asked what it holds."""


async def _run(context: LoopContext) -> None:
    transports = context.adapters.get(Transports)
    if transports is None:
        await asyncio.Event().wait()  # a loop that returns ends the term
        return
    while True:
        is_busy = await release(context, transports)
        await look(context, transports)
        await asyncio.sleep(PAUSE_S)
        await context.bell.heard(LOOK_S if is_busy else context.settings.heartbeat_s)


async def release(context: LoopContext, transports: Transports) -> bool:
    """Withdraw, offer and send once; return whether anything is offered."""
    store, epoch, names = transports.store, context.epoch, sorted(transports.by_name)
    n_left = await store.withdraw_offers(epoch, names)
    n_new = await store.offer_jobs(epoch, names, limit_jobs=OFFERS_MAX)
    due = await store.take_offers(
        epoch, names, again_s=SEND_AGAIN_S, limit_offers=OFFERS_MAX
    ) if n_left or n_new else ()  # fmt: skip
    bodies = await bodies_of(store, epoch, due)
    sent = await asyncio.gather(
        *(
            _send(transports, name, bodies, [one for one in due if one.transport == name])
            for name in sorted({one.transport for one in due})
        )
    )
    if confirmed := [one for some in sent for one in some]:
        await store.confirm_offers(epoch, confirmed)
    if n_new:
        context.moved()
    return bool(n_left or n_new)


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
                    [Route(*one[1:]) for one in queues if one[0] == name],
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
    offers = [one for one in offers if one.fence is None or one.offer_id in bodies]
    messages = [
        (
            Route(one.tenant, one.queue),
            bodies.get(one.offer_id)
            or msgspec.json.encode(Message(one.tenant, one.batch_id, one.job_id, one.offer_id)),
        )
        for one in offers
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
