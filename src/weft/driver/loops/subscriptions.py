"""The loop that looks for events which subscriptions ask for, and records what is to be sent.

It follows the events from a stored position, which moves in the transaction that records the
notices; so neither claims nor ends pay for subscriptions, and a leader that dies repeats nothing.
What it records is sent by the loop of callbacks. Without open subscriptions it asks nothing.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from weft.core.access.secret_variables import patterns_of
from weft.driver.callback_forms import NoticeForm
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.loops.telling import BEHIND_S
from weft.ports.store import Row
from weft.ports.store.callers import Notified
from weft.telemetry import metrics

EVENTS_MAX: Final = 200
"""In one call."""
PAUSE_S: Final = 0.1
"""After a look: what is to be told meanwhile is found, recorded and sent together."""


@dataclass(frozen=True)
class NoticeForms:
    """What is told, by door."""

    by_door: Mapping[str, NoticeForm] = field(default_factory=dict)


async def _run(context: LoopContext) -> None:
    forms = context.adapters.get(NoticeForms) or NoticeForms()
    while True:
        await context.bell.heard()
        while await notify(context, forms):
            pass
        await asyncio.sleep(PAUSE_S)


async def notify(context: LoopContext, forms: NoticeForms) -> bool:
    """Record what the next events tell; return whether there is more."""
    store, epoch = context.store, context.epoch
    notified = await store.list_notified(epoch, after_batch=None, limit=EVENTS_MAX)
    if notified is None:
        return False
    if notified.removed:
        await _catch_up(context, forms)
    notices = _notices(context, forms, notified)
    await store.record_notices(epoch, notices, notified.xid, notified.event_id)
    metrics.NOTICES_RECORDED.inc(len(notices))
    if notified.behind:
        await asyncio.sleep(BEHIND_S)
    return notified.behind or notified.removed


async def _catch_up(context: LoopContext, forms: NoticeForms) -> None:
    """Look at all jobs with open subscriptions: events were removed while no driver ran."""
    after_batch = 0
    while True:
        notified = await context.store.list_notified(
            context.epoch, after_batch=after_batch, limit=EVENTS_MAX
        )
        if notified is None or not notified.jobs:
            return
        notices = _notices(context, forms, notified)
        await context.store.record_notices(context.epoch, notices, 0, 0)
        after_batch = notified.jobs[-1]["told"]["batch_id"]


def _notices(
    context: LoopContext, forms: NoticeForms, found: Notified
) -> Sequence[Mapping[str, Any]]:
    masks = patterns_of(context.settings.masked_env)
    return [notice for job in found.jobs for notice in _of_job(job, forms, masks)]


def _of_job(job: Row, forms: NoticeForms, masks: tuple[str, ...]) -> Sequence[Mapping[str, Any]]:
    form = forms.by_door.get(job["door"])
    if form is None:
        return []
    return [
        {
            "subscription_id": notice.subscription_id,
            "event_key": notice.key,
            "url": notice.url,
            "body": notice.body,
        }
        for notice in form.notices(job["told"], job["subscriptions"], masks)
    ]


LOOP = Loop("notify", _run)
