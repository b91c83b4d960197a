"""The loop that offers ready jobs to transports, and sends the messages of the offers.

A round turns jobs from ready to queued and notes their offers in one transaction; then it sends
what is due and notes what the transport has confirmed. What is not confirmed is due again. Without
transports the loop waits for ever.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.store import DueOffer, OfferStore
from weft.ports.transport import Message, Route, Transport, TransportError
from weft.telemetry.log import get_logger

log = get_logger()

OFFERS_MAX: Final = 1000
"""In one call."""
SEND_AGAIN_S: Final = 5.0
"""After this time a message that was not confirmed is sent again."""
LOOK_S: Final = 1.0
"""Between two looks while anything is offered: a hold withdraws it."""
PAUSE_S: Final = 0.05
"""Between two rounds: what becomes ready meanwhile is offered together."""


@dataclass(frozen=True)
class Transports:
    """The connections over which queues may travel, by name."""

    by_name: Mapping[str, Transport]
    store: OfferStore


async def _run(context: LoopContext) -> None:
    transports = context.adapters.get(Transports)
    if transports is None:
        await asyncio.Event().wait()  # a loop that returns ends the term
        return
    while True:
        is_busy = await release(context, transports)
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
    confirmed: list[int] = []
    for name in sorted({one.transport for one in due}):
        some = [one for one in due if one.transport == name]
        confirmed += await _send(name, transports.by_name[name], some)
    if confirmed:
        await store.confirm_offers(epoch, confirmed)
    if n_new:
        context.moved()
    return bool(n_left or n_new)


async def _send(name: str, transport: Transport, offers: Sequence[DueOffer]) -> Sequence[int]:
    """Send the messages of offers; return the numbers of those that were confirmed."""
    messages = [
        (
            Route(one.tenant, one.queue),
            msgspec.json.encode(Message(one.tenant, one.batch_id, one.job_id, one.offer_id)),
        )
        for one in offers
    ]
    try:
        kept = await transport.publish(messages)
    except TransportError as error:
        log.warning("transport.away", transport=name, error=str(error))
        return ()
    return [one.offer_id for one, is_kept in zip(offers, kept, strict=True) if is_kept]


LOOP = Loop("release", _run, after=("fold",))
