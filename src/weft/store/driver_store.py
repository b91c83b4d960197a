"""The store of the driver, composed of a part for each subject."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import asyncpg

from weft.ports.store import (
    Beat,
    Folded,
    Patrolled,
    Position,
)
from weft.sql import text_of
from weft.store.black_holes import BlackHoles
from weft.store.callbacks import DueCallbacks
from weft.store.conditions import DueConditions
from weft.store.database import (
    Database,
    call_text,
    fetch_on,
    open_database,
)
from weft.store.declared import (
    calls,
    nothing,
    number,
    seconds,
    truth,
)
from weft.store.errors import AWAY
from weft.store.limits import LimitRounds
from weft.store.machines import Machines
from weft.store.notices import Line, Notice, PostgresNotices
from weft.store.offers import Offers
from weft.store.operations import Operations
from weft.store.preemptions import Preemptions
from weft.store.reservations import Reservations
from weft.store.schedules import DueSchedules
from weft.store.schema_range import check_schema
from weft.store.sources import SourceItems
from weft.store.subscriptions import Subscriptions
from weft.store.trail import TrailEnds
from weft.store.workers import SilentWorkers

DRIVER_TIMEOUT_S = 120.0
HEARTBEAT_TIMEOUT_S = 10.0
BEGIN_TIMEOUT_S = 30.0
"""A term waits for what the one before has begun; after so long it is tried anew."""
SILENT_LEADER_S = 100.0
"""A leader proves its lock at every sixth heartbeat, or more often."""


class DriverStore(
    Operations,
    Machines,
    BlackHoles,
    Preemptions,
    Reservations,
    SilentWorkers,
    DueConditions,
    DueSchedules,
    DueCallbacks,
    Subscriptions,
    LimitRounds,
    Offers,
    SourceItems,
    TrailEnds,
):
    """A driver's calls to its database."""

    def __init__(self, database: Database, notices: PostgresNotices) -> None:
        self._database = database
        self.notices = notices
        self._leading: Line | None = None
        """The connection that holds the leader's lock: that of the notices."""

    async def check_schema(self) -> None:
        """Return if this program may use the database."""
        await check_schema(self._database, "weft_driver")

    async def try_lead(self, *, silent_s: float = SILENT_LEADER_S) -> int | None:
        """Begin a term, unless another driver leads; never wait for it.

        Return its epoch, which is greater than all earlier ones, or None. The term lasts until the
        store is closed or its connection breaks. A driver that leads already begins another term.
        `silent_s`: a leader whose connection has said nothing for so long loses it: the server may
        keep the session, and with it the lock, of one that it cannot reach.
        """
        epoch: int | None = None
        try:
            line = self._leading = await self.notices.join(self._hear)
            async with line.turn() as connection:
                text = call_text("begin_term", ())
                ((epoch,),) = await fetch_on(
                    connection, "begin_term", text, (), within_s=BEGIN_TIMEOUT_S
                )
                if epoch is None:  # another one has the lock
                    await connection.execute(text_of("catalog", "end_silent_leader"), silent_s)
                    self._leading = None
                    line.leave(self._hear)
        except (asyncpg.PostgresError, *AWAY) as error:
            raise self._database.failure(error) from error
        finally:
            if epoch is None:  # whatever ended the call, this session may have the lock
                await self.stop_leading()
        return epoch

    def _hear(self, notice: Notice | None) -> None:
        """Hear nothing: the next proof of the lock finds out that the connection has ended."""

    @calls(nothing, "configure_term")
    async def configure(self, epoch: int, settings: Mapping[str, Any]) -> None:
        """Store the leader's settings that apply to the calls of all roles, by name.

        `losses_max`: how often a running job may be lost and be ready again; then it is an error.
        """

    async def still_lead(self) -> bool:
        """Return whether the connection that holds the lock is alive: the driver's heartbeat.

        False, too, for a driver that does not lead, and if the database is away. A connection that
        does not answer is given up, and with it the lead.
        """
        if self._leading is None or self._leading.connection.is_closed():
            return False
        try:
            async with asyncio.timeout(HEARTBEAT_TIMEOUT_S), self._leading.turn() as connection:
                await connection.execute("SELECT")
        except (asyncpg.PostgresError, *AWAY):
            await self.stop_leading()
            return False
        return True

    async def stop_leading(self) -> None:
        """Give up the lock, if this driver holds it. Those that listen do it anew."""
        if self._leading is not None:
            self._leading.end()
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


@asynccontextmanager
async def open_driver_store(dsn: str, pooler: str | None = None) -> AsyncIterator[DriverStore]:
    """Open the store of a driver, as role `weft_driver`."""
    async with open_database(
        dsn, connections_max=6, timeout_s=DRIVER_TIMEOUT_S, pooler=pooler
    ) as database:
        store = DriverStore(database, PostgresNotices(dsn))
        try:
            yield store
        finally:
            await store.stop_leading()
