"""The loop that writes the events of a tenant to a topic or exchange, as one user sees them.

It goes on from a stored position, which moves when the records are confirmed: each event is told
at least once, those of a job in order, also after a day without broker, or when a full queue has
refused one. What retention has removed meanwhile is said by one record. Without such a topic the
loop waits for ever.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, NamedTuple

import msgspec

from weft.core.ids import format_batch_id
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.loops.telling import tell_all
from weft.ports.patience import tasks_beside
from weft.ports.store import Row
from weft.ports.topics import EventSink, Record
from weft.ports.transport import TransportError
from weft.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.wire.documents.events import event_document

EVENTS_MAX: Final = 5000
"""In one call; the next ones are read while these are written."""
PARTITIONS: Final = 3
REMOVED: Final = "events.removed"


@dataclass(frozen=True)
class EventsOut:
    """Whose events go out, and where."""

    topics: EventSink
    store: DriverStore
    name: str
    """Of the connection."""
    tenant: str
    user: str
    """The name of the user who sees them."""

    @property
    def topic(self) -> str:
        """Return where they go."""
        return f"weft.{self.tenant}.events"


@dataclass(frozen=True)
class EventReaders:
    """All that are told."""

    all: Sequence[EventsOut] = ()


async def _run(context: LoopContext) -> None:
    readers = context.adapters.get(EventReaders) or EventReaders()
    await tell_all(context, readers.all, tell_events)


class _Page(NamedTuple):
    """Events in order, as records, with the position behind each and behind all."""

    records: Sequence[Record]
    positions: Sequence[tuple[int, int]]
    after: tuple[int, int]


async def tell_events(context: LoopContext, out: EventsOut) -> bool:
    """Write the next events; return whether there may be more. Raise `TransportError`."""
    page = await _read(context, out, None)
    if page is None:
        return False
    await out.topics.make({out.topic: PARTITIONS})
    while page is not None:
        writing = asyncio.create_task(_write(context, out, page))
        async with tasks_beside([writing]):
            is_last = len(page.records) < EVENTS_MAX
            page = None if is_last else await _read(context, out, page.after)
            await writing
    return True


async def _read(
    context: LoopContext, out: EventsOut, after: tuple[int, int] | None
) -> _Page | None:
    """Return the next events, as many as one call gives; None: there are none. `after`: the
    position that is reached when what is being written is confirmed.
    """
    begun = await out.store.begin_reader(context.epoch, _reader(out), out.tenant, out.user)
    if begun is None:
        return None
    records, positions = [], []
    if begun.removed and (after is None or after < begun.after):
        records, positions, after = [_removed(out.topic, begun.after)], [begun.after], begun.after
    rows, after = await out.store.list_events(
        begun.caller, after=after or begun.after, batch_id=None, limit=EVENTS_MAX
    )
    records += [_record(out.topic, row) for row in rows]
    positions += [(int(row["xid"]), row["event_id"]) for row in rows]
    return _Page(records, positions, after) if records else None


async def _write(context: LoopContext, out: EventsOut, page: _Page) -> None:
    """Write events, and move the position behind them, or before the first that is refused."""
    kept = await out.topics.publish(page.records)
    n_kept = len(list(takewhile(bool, kept)))
    metrics.TOPIC_ANNOUNCED.labels(out.topic).inc(n_kept)
    is_all = n_kept == len(page.records)
    if n_kept:
        after = page.after if is_all else page.positions[n_kept - 1]
        await out.store.keep_position(context.epoch, _reader(out), *after)
    if not is_all:
        raise TransportError("not all records were confirmed")


def _reader(out: EventsOut) -> str:
    return f"events {out.name} {out.tenant}"


def _record(topic: str, row: Row) -> Record:
    document = event_document(row)
    headers = {"id": document["id"], "kind": document["kind"]}
    # One batch has one partition: so the events of a job stay in order.
    return Record(
        topic,
        format_batch_id(row["batch_id"]),
        _encoded(document),
        headers,
        parts=row["jobs"] or (),
    )


def _encoded(document: Mapping[str, Any]) -> bytes:
    """Return an event as JSON: without its detail rather than hold up those behind it."""
    try:
        return msgspec.json.encode(document)
    except Exception:
        log.exception("transport.event_cut", id=document["id"])
        return msgspec.json.encode({**document, "detail": None})


def _removed(topic: str, after: tuple[int, int]) -> Record:
    document = {"id": "{}-{}".format(*after), "kind": REMOVED}
    return Record(topic, "", msgspec.json.encode(document), document)


LOOP = Loop("tell_events", _run, after=("fold",))
