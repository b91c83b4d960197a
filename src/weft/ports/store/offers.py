"""The calls of a driver about transports and topics."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from weft.core.query.tree import EVERYTHING, Node
from weft.core.states import JobState, Reason
from weft.ports.store.callers import Caller
from weft.ports.store.queries import NEWEST, QueryLimits


class DueOffer(NamedTuple):
    """An offer whose message is due."""

    offer_id: int
    batch_id: int
    job_id: int
    tenant: str
    queue: str
    transport: str
    fence: UUID | None = None
    """What a foreign program answers with; None: it is for workers of weft."""
    until: datetime | None = None
    """A foreign program leaves it from then on."""
    spec_first: int | None = None
    """The first job of the chunk with its spec, for a foreign program."""
    trace_id: str = ""
    """Of its batch."""


class Offered(NamedTuple):
    """What was offered of a queue that has consumers."""

    key: str
    """Of the queue; empty: foreign programs consume it, who have no stock."""
    slots: int
    """Of its consumers."""
    waiting: int
    """Offers that nobody had taken before."""
    n_new: int


class OfferEnd(NamedTuple):
    """How a foreign program says that the job of an offer has ended."""

    offer_id: int
    fence: UUID
    reason: Reason | None
    """None: it succeeded."""
    exit_code: int | None
    message: str | None


class ForeignCommand(NamedTuple):
    """What a foreign program is to be told of a job that it has."""

    transport: str
    tenant: str
    batch_id: int
    job_id: int
    offer_id: int
    command_id: int | None
    """None: the offer is worthless, so the program may stop; the other fields are None, too."""
    incarnation_id: int | None
    attempt: int | None
    signal: int | None
    extend_ms: int | None
    """By how much longer it may run, in all."""
    message: str | None
    age_s: float
    """For how long it waits to be told."""


class Listening(NamedTuple):
    """That a driver hears the answers about a tenant's queues."""

    transport: str
    tenant: str
    since_s: float
    """For how many seconds, without a gap."""


class ForeignQueues(NamedTuple):
    """What foreign programs consume and run."""

    tenants: Sequence[tuple[str, str]]
    """By transport and name."""
    pool_ids: Sequence[int]
    """Pools with such queues, or with attempts of such programs."""


class EventReader(NamedTuple):
    """Somebody outside who is told of events."""

    caller: Caller
    """As whom."""
    after: tuple[int, int]
    """The last event that was told."""
    removed: bool
    """Events between that and what was told last were removed."""


class DeadMessage(NamedTuple):
    """A message that nobody wants."""

    transport: str
    tenant: str
    source: str
    """Where it was at the transport, or should have come to."""
    queue: str | None
    """Of weft, or `OUTCOMES`; None: it cannot be sent again."""
    reason: str
    error: str | None
    body: bytes
    n_bytes: int
    """How many it had."""


class WantedAgain(NamedTuple):
    """A dead message that somebody wants sent again."""

    dead_id: int
    transport: str
    tenant: str
    queue: str
    body: bytes


class ForeignOrder(StrEnum):
    """Which jobs come first."""

    CREATED = "created"
    """Those that came last."""
    CHANGED_LAST = "changed_last"
    CHANGED_FIRST = "changed_first"


@dataclass(frozen=True, kw_only=True)
class ForeignJobs:
    """Which jobs of a door are wanted, and in which order."""

    door: str
    foreign_id: str | None = None
    """None: all."""
    states: Sequence[JobState] | None = None
    """None: all. With some, `order` is one by changes."""
    order: ForeignOrder = ForeignOrder.CREATED
    first_row: int = 0
    limit: int


class Span(NamedTuple):
    """How jobs ended, and within which time, both ends included."""

    since: datetime | None
    """None: it has no begin."""
    until: datetime | None
    """None: it has no end."""
    states: Sequence[JobState] = tuple(JobState)[JobState.SUCCESS :]
    """One before `SUCCESS`: those that have not ended, too."""


@dataclass(frozen=True, kw_only=True)
class DoorJobQuery:
    """A page of jobs of a door."""

    door: str
    query: Node = EVERYTHING
    """Of terms of the door alone."""
    name: str | None = None
    """Only those whose batches have this name."""
    kind: str | None = None
    """Only those that were submitted as of this kind (`NewBatch.foreign_kind`)."""
    ended: Span | None = None
    """What they meet only if they ended so: where few did, no others are looked at."""
    sort_key: str | None = None
    """What they are sorted by, in SQL, as terms of the door; None: their age."""
    has_all: bool = False
    """Each has a value by which it is sorted; else those without one are the smallest."""
    is_descending: bool = True
    before: int = NEWEST
    """Numbers of their batches are below."""
    hidden: bool = False
    """Also those that are hidden."""
    offset: int = 0
    limit: int
    limits: QueryLimits
