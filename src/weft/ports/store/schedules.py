"""The calls about schedules: those of the api, and what the driver is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from weft.core.schedules import Missed
from weft.ports.store.callers import Caller, Row


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


class ScheduleStore(Protocol):
    """Schedules of a tenant, and runs of all tenants.

    A call that names a schedule raises `ScheduleNotFound`.
    """

    async def add_schedule(
        self,
        caller: Caller,
        new: NewSchedule,
        *,
        schedules_max: int,
        idempotency_key: str | None,
        digest: bytes,
    ) -> tuple[int, bool]:
        """Make a schedule; return its number and whether it is new, as `create_batch` does.

        Raise `ProjectNotFound`, `TooManySchedules`.
        """

    async def list_schedules(self, caller: Caller, *, after: int, limit: int) -> Sequence[Row]:
        """Return a page of the schedules, in the order of their numbers."""

    async def get_schedule(self, caller: Caller, schedule_id: int) -> Row:
        """Return a schedule with `document` (JSON), its newest `runs`, and `user_id`."""

    async def change_schedule(
        self, caller: Caller, schedule_id: int, patch: Mapping[str, Any]
    ) -> None:
        """Change `name`, `cron`, `time_zone`, `missed`, `paused`; `next_at` comes with it unless
        the schedule is paused afterwards.

        Runs that nobody has submitted are dropped when it is paused; the count of failures begins
        again when it is resumed.
        """

    async def delete_schedule(self, caller: Caller, schedule_id: int) -> None:
        """Remove a schedule. Its batches stay."""

    async def take_schedule_runs(self, *, limit: int, lease_s: float) -> Sequence[ScheduleRun]:
        """Return runs that wait, the longest due first. No other call returns them for `lease_s`
        seconds, or until `end_schedule_run`.
        """

    async def next_schedule_run(self) -> float | None:
        """Return in how many seconds `take_schedule_runs` returns another run if no notice on the
        channel `schedules` comes before. Negative: now; None: no run waits.
        """

    async def end_schedule_run(
        self,
        caller: Caller,
        schedule_id: int,
        due_at: datetime,
        *,
        batch_id: int | None = None,
        error: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        by_hand: bool = False,
    ) -> bool:
        """Record what became of a run: a batch or an error. Return whether the schedule is paused
        because of too many errors in a row.

        `idempotency_key`: that of the submission. If it has created a batch all the same, the
        error does not count. A repeat changes nothing; nor does a run of a schedule that was
        removed. A run by hand need not have been taken.
        """
