"""The calls of a driver."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

import msgspec

from weft.core.schedules import Missed
from weft.ports.store.callers import Caller, Row


class Beat(NamedTuple):
    """The answer to a leader's heartbeat; it makes up for lost notices."""

    idle: bool
    """As `DriverStore.idle_driver`."""
    due: Mapping[str, datetime] = {}
    """By loop: when its next work is due, by this host's clock."""


class Folded(NamedTuple):
    """The result of a fold: the number of deltas, and the names of the loops that have work."""

    deltas: int
    loops: Sequence[str] = ()
    """Those that no notice wakes while the fold is awake, such as `cancel` (`driver/loops`)."""


class Notices(Protocol):
    """LISTEN on one connection.

    Losing it raises `Unavailable` in the iterator; the caller listens again and looks once.
    """

    def listen(self, *channels: str) -> AsyncIterator[tuple[str, str]]:
        """Yield (channel, payload). The first item is ("", "") when listening has begun."""


class Position(NamedTuple):
    """Where a look at the jobs goes on."""

    tenant_id: int = 0
    batch_id: int = 0
    after_job: int = 0


class Patrolled(NamedTuple):
    """One bounded step of it."""

    position: Position
    """From where the next step goes on."""
    n_live: int
    """How many of the jobs have not ended."""
    orphans: Sequence[Row]
    """`batch_id`, `job_id` and `state` of those that nobody will let go on."""
    ended: Sequence[Row] = ()
    """`batch_id`, `n_jobs` and `message` of those that waited for too long."""


@dataclass(frozen=True)
class DueCondition:
    """A condition that is to be tested now."""

    condition_id: int
    tester: str
    parameters: Mapping[str, str]
    """As a job gave them."""
    late_s: float = 0.0
    """For how long it has been due."""
    is_over: bool = False
    """No job waits for it: it has just been removed, and is not tested."""


class DueCallback(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery to be sent now."""

    delivery_id: int
    name: str
    """What the receiver is told; the same in every attempt."""
    tenant_id: int
    batch_id: int
    group_id: int | None
    """None for a message and a notice."""
    url: str
    body: str
    """The status document, as it was at the completion."""
    n_attempts: int
    """Those made before this one."""
    age_s: float
    """Since the completion."""
    sent_at: int
    """The database's time, in seconds since 1970."""
    door: str | None = None
    """Through which the batch came; None: none."""
    key: str | None = None
    """With which the batch was created, if it came through a door."""
    job_id: int | None = None
    """Of a message."""
    sink: Mapping[str, Any] | None = None
    """Of a message: what its sink says; `body` is what its template gets."""
    subscription: Mapping[str, Any] | None = None
    """Of a notice: `name` and `policy` of its subscription."""


class DeliveryReport(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one attempt. Not delivered and no `retry_in_s`: the delivery is given up."""

    delivery_id: int
    delivered: bool
    status: int | None
    error: str | None
    retry_in_s: float | None
    rejected: bool = False
    """The receiver wants no such message."""
    held: bool = False
    """A check stops it, until a person decides."""


@dataclass(frozen=True, kw_only=True)
class NewSchedule:
    """A schedule to be made."""

    name: str | None = None
    billing_project: str = "default"
    cron: str
    time_zone: str = "UTC"
    missed: Missed = "skip"
    document: str
    """A batch document as JSON."""
    next_at: datetime


class ScheduleRun(NamedTuple):
    """A run to be submitted."""

    schedule_id: int
    due_at: datetime
    time_zone: str
    document: str
    owner: Caller


class DueSchedule(NamedTuple):
    """A schedule that is due, and the clock of the database."""

    schedule_id: int
    cron: str
    time_zone: str
    missed: Missed
    next_at: datetime
    now: datetime


class ScheduleMove(NamedTuple):
    """What a driver decided for a schedule that is due."""

    schedule_id: int
    expected: datetime
    """`next_at` as the driver knows it: a schedule that has moved on is left alone."""
    next_at: datetime | None
    """None: never again; the schedule is paused."""
    n_missed: int
    runs: Sequence[datetime]


@dataclass(frozen=True)
class Operation:
    """Work on a whole batch, or on many, that the driver continues."""

    operation_id: int
    tenant_id: int
    batch_id: int | None
    """None: it is on many."""
    kind: str
    arguments: Mapping[str, Any]
    position: int
    """Where its next step continues; the meaning depends on the kind."""
    n_total: int
    trace_id: str

    @property
    def only_batch_id(self) -> int:
        """The batch of work that is on one."""
        assert self.batch_id is not None, "work on many batches has no only one"
        return self.batch_id


@dataclass(frozen=True)
class Resubmitted:
    """The next jobs that a resubmission copies to its new batch."""

    upto: int
    """The last number that was examined."""
    first: int
    """The number that the first of them gets."""
    jobs: Sequence[Row]
    """In the order of their numbers."""
