"""The calls about schedules: those of the api, and what the driver is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from weft.core.schedules import Missed
from weft.ports.store.callers import Caller


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
