"""The driver's store."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import asyncpg

from weft.core.ends.conditions import Tested
from weft.ports.store import (
    Beat,
    DeliveryReport,
    DueCallback,
    DueCondition,
    DueSchedule,
    Folded,
    Patrolled,
    Position,
    Row,
    ScheduleMove,
    StoredFileStore,
)
from weft.ports.store.callers import Notified
from weft.store.database import (
    CONNECT_TIMEOUT_S,
    Database,
    StorePart,
    call_on,
    open_database,
    session_name,
)
from weft.store.declared import (
    calls,
    column,
    documents,
    filled,
    nothing,
    number,
    records,
    seconds,
    truth,
)
from weft.store.errors import AWAY
from weft.store.machines import Machines, Reservations
from weft.store.notices import PostgresNotices
from weft.store.offers import Offers
from weft.store.operations import Operations
from weft.store.schema_range import check_schema
from weft.store.sources import SourceItems
from weft.store.spending import LimitRounds
from weft.store.worker_files import store_of


class DueConditions(StorePart):
    """The driver's calls about conditions."""

    @calls(lambda rows: [DueCondition(**row) for row in rows], limit="limit_rows")
    async def due_conditions(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueCondition]:
        """Return the conditions that are to be tested, the longest due first, until `record_tests`
        says how it went. `busy`: those whose tests are under way; they are not returned again.
        With them a tenant has at most half of `limit`.

        A condition without jobs is over: it is removed instead, and returned as that.
        """

    @calls(number)
    async def postpone_conditions(
        self, epoch: int, condition_ids: Sequence[int], *, limit_jobs: int, due_s: float = 0.0
    ) -> int:
        """Let jobs of conditions that are due wait on, each by its own policy, as their tests have
        not passed; give up those that have waited too long. Return how many; 0: nothing is left.

        `due_s`: only jobs that have been due for so long. Of many jobs the first may be due again
        before the last one waits on.
        """

    @calls(
        documents,
        condition_ids=lambda tested: [*tested],
        have_passed=lambda tested: [one.passed for one in tested.values()],
        messages=lambda tested: [one.message for one in tested.values()],
    )
    async def record_tests(self, epoch: int, tested: Mapping[int, Tested]) -> Sequence[int]:
        """Note what tests said, and when the conditions are tested next. Where one passed, the
        sweep `release_conditions` lets a few jobs go on; after the next test that passes twice as
        many, unless a job has come to the condition meanwhile. Return the conditions at which it
        said something else than the last time.
        """

    @calls(
        lambda rows: Tested(passed=rows[0]["passed"], message=rows[0]["message"]),
        condition_id="of_condition_id",
        pool="of_pool",
    )
    async def test_pool(self, epoch: int, condition_id: int, pool: str, free_cpu_m: int) -> Tested:
        """Say whether a pool that serves the tenant of a condition has a worker that takes jobs
        and has this much free; 0: any.
        """

    @calls(
        lambda rows: Tested(passed=rows[0]["passed"], message=rows[0]["message"]),
        condition_id="of_condition_id",
        gateway="of_worker",
    )
    async def test_gateway(self, epoch: int, condition_id: int, gateway: str) -> Tested:
        """Say whether the engine of a gateway, which serves the tenant of a condition, has
        answered what was submitted to it; a gateway that is silent or gone passes.
        """


class Subscriptions(StorePart):
    """Notices of subscriptions. They are sent as callbacks are (`due_callbacks`)."""

    @calls(lambda rows: rows[0][0] and Notified(**rows[0][0]), limit="limit_rows")
    async def list_notified(
        self, epoch: int, *, after_batch: int | None, limit: int
    ) -> Notified | None:
        """Return the jobs that the next events are about, in their order; None: no subscription
        is open. `after_batch`: those with a larger number instead, whatever the events.
        """

    @calls(nothing)
    async def record_notices(
        self, epoch: int, notices: Sequence[Mapping[str, Any]], xid: int, event_id: int
    ) -> None:
        """Record what is to be sent (`subscription_id`, `event_key`, `url`, `body`), once for each
        subscription and key, and how far events were looked at.
        """


DRIVER_TIMEOUT_S = 120.0
HEARTBEAT_TIMEOUT_S = 10.0


def _due_callbacks(rows: Sequence[asyncpg.Record]) -> Sequence[DueCallback]:
    return [
        filled(DueCallback, row, name=str(row["name"]), age_s=row["age"].total_seconds())
        for row in rows
    ]


class DriverStore(
    Operations,
    Machines,
    Reservations,
    DueConditions,
    LimitRounds,
    Offers,
    SourceItems,
    Subscriptions,
):
    """A driver's calls to its database."""

    def __init__(self, database: Database, notices: PostgresNotices, dsn: str) -> None:
        self._database = database
        self.notices = notices
        self._dsn = dsn
        self._leading: asyncpg.Connection | None = None
        """The connection that holds the leader's lock."""

    async def check_schema(self) -> None:
        """Return if this program may use the database."""
        await check_schema(self._database, "weft_driver")

    async def try_lead(self) -> int | None:
        """Begin a term, unless another driver leads; never wait for it.

        Return its epoch, which is greater than all earlier ones, or None. The term lasts until the
        store is closed or its connection breaks. A driver that leads already begins another term.
        """
        try:
            if self._leading is None or self._leading.is_closed():
                self._leading = await asyncpg.connect(
                    self._dsn,
                    timeout=CONNECT_TIMEOUT_S,
                    server_settings={"application_name": session_name("lead")},
                )
            rows = await call_on(self._leading, "begin_term")
        except (asyncpg.PostgresError, *AWAY) as error:
            raise self._database.failure(error) from error
        epoch: int | None = rows[0][0]
        if epoch is None:
            await self.stop_leading()
        return epoch

    @calls(nothing, "configure_term")
    async def configure(self, epoch: int, settings: Mapping[str, Any]) -> None:
        """Store the leader's settings that apply to the calls of all roles, by name.

        `losses_max`: how often a running job may be lost and be ready again; then it is an error.
        """

    async def still_lead(self) -> bool:
        """Return whether the connection that holds the lock is alive: the driver's heartbeat.

        False, too, for a driver that does not lead, and if the database is away.
        """
        if self._leading is None or self._leading.is_closed():
            return False
        try:
            await self._leading.execute("SELECT", timeout=HEARTBEAT_TIMEOUT_S)
        except (asyncpg.PostgresError, *AWAY):
            return False
        return True

    async def stop_leading(self) -> None:
        """Give up the lock, if this driver holds it."""
        if self._leading is not None:
            self._leading.terminate()
            self._leading = None

    @calls(lambda rows: Folded(rows[0]["n_deltas"], rows[0]["loops"]))
    async def fold_deltas(self, epoch: int) -> Folded:
        """Fold the visible deltas into the sums, each once, and settle completions.

        Documents count the same before and after; groups become complete here.
        """

    async def sweep(self, function: str, epoch: int, *, limit_jobs: int) -> int:
        """Call a SQL function that does one bounded step of a loop.

        Such a function takes `(epoch, limit_jobs)`, is safe to repeat, and returns how many jobs
        it handled, at most `limit_jobs`; 0: nothing is left.
        """
        return int(await self._database.value(function, epoch=epoch, limit_jobs=limit_jobs))

    @calls(records)
    async def lose_workers(self, epoch: int, grace_s: float) -> Sequence[Row]:
        """End the attempts of workers that were silent longer than the grace, as lost.

        Return for each such worker, once, `worker`, `n_attempts` and `silent_s`.
        """

    @calls(records)
    async def stop_overdue(
        self, epoch: int, *, limit_jobs: int, confirm_s: float
    ) -> Sequence[Row]:
        """End attempts that are beyond a limit of their queue, and tell their workers.

        The jobs go on once the workers have stopped them. A worker that has not done so after
        `confirm_s` is given up.
        Return `batch_id`, `job_id`, `attempt`, `worker`, `message` and `goes_on` of each attempt;
        of a worker that was given up only `worker` and `message`. Call it again until it returns
        nothing.
        """

    async def patrol(self, epoch: int, position: Position, *, limit_jobs: int) -> Patrolled | None:
        """Look at the next jobs that have not ended, at most `limit_jobs`. Those that have been
        ready or blocked for longer than their queue allows end.

        None: there are no more.
        """
        found = await self._database.value(
            "patrol",
            epoch=epoch,
            from_tenant=position.tenant_id,
            from_batch=position.batch_id,
            after_job=position.after_job,
            limit_jobs=limit_jobs,
        )
        if found is None:
            return None
        going_on = Position(found["tenant_id"], found["batch_id"], found["job_id"])
        return Patrolled(going_on, found["n_live"], found["orphans"], found["ended"])

    @calls(seconds, loop="of_loop", limit="limit_rows")
    async def loop_due(
        self,
        epoch: int,
        loop: str,
        busy: Sequence[int] = (),
        *,
        limit: int = 2,
        grace_s: float | None = None,
    ) -> float | None:
        """Return in how many seconds a loop has something to do if no notice comes before.

        Negative: it is overdue; None: nothing will be due. `busy`, `limit`: as `due_conditions`
        and `due_sources` have them, where there may be another one then. `grace_s`: that of
        `lose_workers`. A schedule whose runs wait for an api needs the driver when they have
        ended.
        """

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

    async def beat(self, epoch: int, grace_s: float) -> Beat:
        """Return whether the leader may sleep on (`idle_driver`), and when each loop is due."""
        (row,) = await self._database.call("beat_driver", epoch=epoch, grace_s=grace_s)
        now = datetime.now(UTC)
        due = {
            loop: now + distance
            for loop, distance in zip(row["loops"], row["due_in"], strict=True)
        }
        return Beat(row["idle"], due)

    @calls(truth)
    async def idle_driver(self, epoch: int) -> bool:
        """Let this driver go to sleep.

        False: there is work; True: a notice on `driver` will follow.
        """

    @calls(number)
    async def remove_old(self, epoch: int, *, events_keep_s: float, updates_keep_s: float) -> int:
        """Remove, in bounded steps, events and uncommitted updates that are older than this.

        Return how many; 0: nothing is left. Readers of removed events get `EventsGone`.
        """

    @calls(number, limit="limit_batches")
    async def remove_outputs(self, epoch: int, *, limit: int) -> int:
        """Remove the output and files of complete batches that are older than their tenant or they
        say, and the oldest of a tenant with too much, up to `limit` of each; return how many
        batches were looked at; 0: nothing is left. Their readers are told why.
        """

    @calls(number, limit="limit_rows")
    async def trim_trail(self, epoch: int, *, keep_s: float, limit: int) -> int:
        """Remove the oldest entries of the trail that were sealed so long ago, and at least a day;
        return how many; 0: nothing is left. What remains is still a chain.
        """

    @calls(_due_callbacks)
    async def due_callbacks(
        self,
        epoch: int,
        busy: Sequence[int],
        *,
        limit_all: int,
        limit_tenant: int,
        limit_host: int,
    ) -> Sequence[DueCallback]:
        """Return the callbacks to send now, within limits that include those under way.

        `busy`: the deliveries under way; they are not returned again. The others are returned
        until `record_deliveries` says how they went.
        """

    @calls(
        lambda rows: store_of(rows[0]) if rows else None,
        tenant_id="of_tenant_id",
        name="of_name",
    )
    async def find_sink_store(self, tenant_id: int, name: str) -> StoredFileStore | None:
        """Return a store of files of a tenant, for messages; None: there is none."""

    @calls(seconds)
    async def next_callback(self, epoch: int) -> float | None:
        """Return in how many seconds another callback will be due, apart from those that are due
        already; None: there is none.
        """

    @calls(
        nothing,
        delivery_ids=column("reports", "delivery_id"),
        delivered_list=column("reports", "delivered"),
        statuses=column("reports", "status"),
        errors=column("reports", "error"),
        retries_in_s=column("reports", "retry_in_s"),
        rejected_list=column("reports", "rejected"),
        held_list=column("reports", "held"),
    )
    async def record_deliveries(self, epoch: int, reports: Sequence[DeliveryReport]) -> None:
        """Record attempts of callbacks. Reports on a delivery that is over change nothing."""


@asynccontextmanager
async def open_driver_store(dsn: str, pooler: str | None = None) -> AsyncIterator[DriverStore]:
    """Open the store of a driver, as role `weft_driver`."""
    async with open_database(
        dsn, connections_max=6, timeout_s=DRIVER_TIMEOUT_S, pooler=pooler
    ) as database:
        store = DriverStore(database, PostgresNotices(dsn), dsn)
        try:
            yield store
        finally:
            await store.stop_leading()
