"""Schedules, in the stores of the api and the driver."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from weft.ports.store import (
    Caller,
    DueSchedule,
    NewSchedule,
    Origin,
    Row,
    ScheduleMove,
    ScheduleRun,
)
from weft.store.database import (
    StorePart,
)
from weft.store.declared import (
    KEYED,
    calls,
    column,
    documents,
    filled,
    nothing,
    number,
    owner_in,
    seconds,
    truth,
    user_id,
    value,
)


class Schedules(StorePart):
    """Schedules of a tenant, and runs of all tenants.

    A call that names a schedule raises `ScheduleNotFound`.
    """

    @calls(
        lambda rows: (rows[0]["schedule_id"], rows[0]["is_new"]),
        new=("new", asdict),
        user_id=user_id,
        **KEYED,
    )
    async def add_schedule(
        self, caller: Caller, new: NewSchedule, origin: Origin, *, schedules_max: int
    ) -> tuple[int, bool]:
        """Make a schedule; return its number and whether it is new, as `create_batch` does.

        Raise `ProjectNotFound`, `TooManySchedules`.
        """

    @calls(documents, limit="limit_rows")
    async def list_schedules(self, caller: Caller, *, after: int, limit: int) -> Sequence[Row]:
        """Return a page of the schedules, in the order of their numbers."""

    @calls(value, schedule_id="of_schedule_id")
    async def get_schedule(self, caller: Caller, schedule_id: int) -> Row:
        """Return a schedule with `document` (JSON), its newest `runs`, and `user_id`."""

    @calls(nothing, schedule_id="of_schedule_id")
    async def change_schedule(
        self, caller: Caller, schedule_id: int, patch: Mapping[str, Any]
    ) -> None:
        """Change `name`, `cron`, `time_zone`, `missed`, `paused`; `next_at` comes with it unless
        the schedule is paused afterwards.

        Runs that nobody has submitted are dropped when it is paused; the count of failures begins
        again when it is resumed.
        """

    @calls(nothing, schedule_id="of_schedule_id")
    async def delete_schedule(self, caller: Caller, schedule_id: int) -> None:
        """Remove a schedule. Its batches stay."""

    @calls(
        lambda rows: [filled(ScheduleRun, row, owner=owner_in(row)) for row in rows],
        limit="limit_rows",
    )
    async def take_schedule_runs(
        self, *, limit: int, lease_s: float, besides: Sequence[int] = ()
    ) -> Sequence[ScheduleRun]:
        """Return runs that wait, besides those of these tenants, the longest due first. No other
        call returns them for `lease_s` seconds, or until `end_schedule_run`.
        """

    @calls(seconds)
    async def next_schedule_run(self, besides: Sequence[int] = ()) -> float | None:
        """Return in how many seconds `take_schedule_runs` returns another run if no notice on the
        channel `schedules` comes before. Negative: now; None: no run waits.
        """

    @calls(truth, schedule_id="of_schedule_id")
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


class DueSchedules(StorePart):
    """The driver's calls about schedules."""

    @calls(lambda rows: [DueSchedule(**row) for row in rows], limit="limit_rows")
    async def due_schedules(self, epoch: int, *, limit: int) -> Sequence[DueSchedule]:
        """Return due schedules, longest due first, but for those whose runs wait for an api."""

    @calls(
        number,
        schedule_ids=column("moves", "schedule_id"),
        expected=column("moves", "expected"),
        next_ats=column("moves", "next_at"),
        missed_counts=column("moves", "n_missed"),
        run_schedule_ids=lambda moves: [one.schedule_id for one in moves for _ in one.runs],
        run_due_ats=lambda moves: [due_at for one in moves for due_at in one.runs],
    )
    async def begin_schedule_runs(self, epoch: int, moves: Sequence[ScheduleMove]) -> int:
        """Give schedules their runs, which an api submits, and their next dates; return how many
        runs there are now. A repeat changes nothing.
        """
