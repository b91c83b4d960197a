"""The loop that tells topics of jobs: of those that were created, and that failed for good.

It reads the events of a tenant from a stored position on, which moves when the records are
confirmed; so each is told at least once, in order, also after a day without broker. Without topics
the loop waits for ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.loops.telling import tell_all
from weft.ports.store import Row
from weft.ports.topics import Record, Topics
from weft.ports.transport import TransportError
from weft.store import DriverStore
from weft.telemetry import metrics
from weft.wire import job_topics as wire
from weft.wire.spec import decode_chunk

EVENTS_MAX: Final = 500
"""In one call."""


@dataclass(frozen=True)
class Announced:
    """What is told of a tenant's jobs, and where."""

    topics: Topics
    store: DriverStore
    name: str
    """Of the set of topics."""
    tenant: str
    door: str
    """Jobs that have come through it."""


@dataclass(frozen=True)
class Announcements:
    """All that are told."""

    all: Sequence[Announced] = ()


async def _run(context: LoopContext) -> None:
    announcements = context.adapters.get(Announcements) or Announcements()
    await tell_all(context, announcements.all, announce)


async def announce(context: LoopContext, announced: Announced) -> bool:
    """Tell of the next events; return whether there are more. Raise `TransportError`."""
    reader = f"topics {announced.name}"
    found = await announced.store.list_announcements(
        context.epoch, reader, announced.tenant, announced.door, limit=EVENTS_MAX
    )
    if found is None:
        return False
    records = [
        record
        for one in found["told"]
        if (record := await _record(context, announced, one)) is not None
    ]
    if records:
        await announced.topics.make(wire.PARTITIONS)
        if not all(await announced.topics.publish(records)):
            raise TransportError("not all records were confirmed")
        for record in records:
            metrics.TOPIC_ANNOUNCED.labels(record.topic).inc()
    if found["told"] or found["behind"]:
        await announced.store.keep_position(context.epoch, reader, found["xid"], found["event_id"])
    return bool(found["behind"])


async def _record(context: LoopContext, announced: Announced, one: Row) -> Record | None:
    """Return what is told of an event; None: nothing."""
    job_id, trace_id = one["foreign_id"], one["foreign_trace"] or ""
    chunks = await context.store.read_chunks(one["batch_id"], [1])
    if 1 not in chunks:
        return None  # the batch is being removed
    spec = decode_chunk(chunks[1])[0]
    who = spec.identity or {}
    if spec.simulation is None or who.get(wire.TOPICS) != announced.name:
        return None  # another set's, or it does not travel
    if one["kind"] == "dead":
        value: dict[str, Any] = {
            wire.JOB: job_id,
            "reason": one["error"] or None,
            "finalRetryCount": one["n_failed"],
            "failedAt": one["at"].replace("+00:00", "Z"),
        }
        return Record(wire.DEAD, job_id, msgspec.json.encode(value), {wire.TRACE: trace_id})
    if wire.COME in who:
        return None
    value = {
        wire.JOB: job_id,
        "type": "SIMULATION",
        "instruction": spec.simulation,
        "maxRetries": one["max_attempts"] - 1,
    }
    headers = wire.headers_of(trace_id, wire.created_event_id(job_id))
    return Record(wire.CREATED, job_id, msgspec.json.encode(value), headers)


LOOP = Loop("announce", _run, after=("fold",))
