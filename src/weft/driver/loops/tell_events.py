"""The loop that writes the events of a tenant to a topic or exchange, as one user sees them.

It goes on from a stored position, which moves when the records are confirmed: each event is told
at least once, those of a batch in order, also after a day without broker. What retention has
removed meanwhile is said by one record. Without such a topic the loop waits for ever.
"""

from dataclasses import dataclass
from typing import Final

import msgspec

from weft.core.ids import format_batch_id
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.loops.telling import tell_always
from weft.ports.store import OfferStore, Row
from weft.ports.topics import EventSink, Record
from weft.ports.transport import TransportError
from weft.telemetry import metrics
from weft.wire.event_documents import event_document

EVENTS_MAX: Final = 1000
"""In one call."""
PARTITIONS: Final = 3
REMOVED: Final = "events.removed"


@dataclass(frozen=True)
class EventsOut:
    """Whose events go out, and where."""

    topics: EventSink
    store: OfferStore
    name: str
    """Of the connection."""
    tenant: str
    user: str
    """The name of the user who sees them."""

    @property
    def topic(self) -> str:
        """Return where they go."""
        return f"weft.{self.tenant}.events"


async def _run(context: LoopContext) -> None:
    await tell_always(context, EventsOut, tell_events)


async def tell_events(context: LoopContext, out: EventsOut) -> bool:
    """Write the next events; return whether there may be more. Raise `TransportError`."""
    count = EVENTS_MAX
    while count >= EVENTS_MAX:
        count = await _tell_some(context, out)
    return count > 0


async def _tell_some(context: LoopContext, out: EventsOut) -> int:
    """Write the next events, as many as one call gives; return how many."""
    store, reader = out.store, f"events {out.name}"
    begun = await store.begin_reader(context.epoch, reader, out.tenant, out.user)
    if begun is None:
        return 0
    records = [_removed(out.topic, begun.after)] if begun.removed else []
    rows, after = await store.list_events(
        begun.caller, after=begun.after, batch_id=None, limit=EVENTS_MAX
    )
    records += [_record(out.topic, row) for row in rows]
    if not records:
        return 0
    await out.topics.make({out.topic: PARTITIONS})
    if not all(await out.topics.publish(records)):
        raise TransportError("not all records were confirmed")
    metrics.TOPIC_ANNOUNCED.labels(out.topic).inc(len(records))
    await store.keep_position(context.epoch, reader, *after)
    return len(records)


def _record(topic: str, row: Row) -> Record:
    document = event_document(row)
    headers = {"id": document["id"], "kind": document["kind"]}
    # One batch has one partition: so the events of a job stay in order.
    return Record(topic, format_batch_id(row["batch_id"]), msgspec.json.encode(document), headers)


def _removed(topic: str, after: tuple[int, int]) -> Record:
    document = {"id": "{}-{}".format(*after), "kind": REMOVED}
    return Record(topic, "", msgspec.json.encode(document), document)


LOOP = Loop("tell_events", _run, after=("fold",))
