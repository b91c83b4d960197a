"""The calls of a driver."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from weft.ports.store.callbacks import DeliveryReport, DueCallback
from weft.ports.store.callers import Row
from weft.ports.store.operations import Operation
from weft.ports.store.queries import JobQuery


class Beat(NamedTuple):
    """The answer to a leader's heartbeat; it makes up for lost notices."""

    idle: bool
    due: Mapping[str, datetime] = {}
    """By loop: when its next work is due, by this host's clock."""


class Folded(NamedTuple):
    """The result of a fold: the number of deltas, and the names of the loops that have work."""

    deltas: int
    loops: Sequence[str] = ()


class DriverStore(Protocol):
    """The calls of a driver.

    Every call carries the leader's epoch; a stale one raises `EpochStale`.
    """

    async def try_lead(self) -> int | None:
        """Try the leader's lock on the connection kept for it.

        Return the epoch of the new term, or None.
        """

    async def configure(self, epoch: int, settings: Mapping[str, Any]) -> None:
        """Store the leader's settings that SQL functions follow, by name."""

    async def still_lead(self) -> bool:
        """Return whether the connection that holds the lock is alive: the driver's heartbeat."""

    async def fold_deltas(self, epoch: int) -> Folded:
        """Fold the visible deltas into the sums and settle completions."""

    async def sweep(self, function: str, epoch: int, *, limit_jobs: int) -> int:
        """Call a SQL function that does one bounded step of a loop.

        Such a function takes `(epoch, limit_jobs)`, is safe to repeat, and returns how many jobs
        it handled; 0: nothing is left.
        """

    async def lose_workers(self, epoch: int, grace_s: float) -> Sequence[Row]:
        """End the attempts of workers that were silent longer than the grace."""

    async def next_due(self, epoch: int, grace_s: float) -> datetime | None:
        """Return when the next worker would be lost; None: there is no worker."""

    async def gates_due(self, epoch: int) -> float | None:
        """Return in how many seconds a gate needs the driver if no notice comes before.

        Negative: it is overdue; None: nothing will be due.
        """

    async def beat(self, epoch: int, grace_s: float) -> Beat:
        """Return whether the leader may sleep on (`idle_driver`), and when each loop is due."""

    async def idle_driver(self, epoch: int) -> bool:
        """Let this driver go to sleep.

        False: there is work; True: a notice on `driver` will follow.
        """

    async def remove_old(self, epoch: int, *, events_keep_s: float, updates_keep_s: float) -> int:
        """Remove events older than the retention and updates that were never committed."""

    async def running_operations(self, epoch: int, above_id: int = 0) -> Sequence[Operation]:
        """Return a page of the operations above a number, oldest first; empty: no more."""

    async def step(self, function: str, epoch: int, operation_id: int, *, limit: int) -> str:
        """Call a SQL function that does one bounded step of an operation.

        Such a function takes `(epoch, of_operation_id, limit_rows)`, is safe to repeat, and
        returns `moved`, `busy` (rows were locked: try again) or `waits` (for something else).
        """

    async def fill_set(
        self,
        epoch: int,
        operation_id: int,
        job_ids: Sequence[int],
        *,
        looked_upto: int,
        sets_max: int,
    ) -> bool:
        """Add jobs to the set of an operation that has examined all jobs up to a number.

        Return False if rows were locked: repeat the same step.
        """

    async def matching_jobs(
        self, tenant_id: int, batch_id: int, wanted: JobQuery
    ) -> Sequence[int]:
        """Return the numbers of the jobs that a query matches, ascending."""

    async def fail_operation(
        self, epoch: int, operation_id: int, problem: Mapping[str, Any]
    ) -> None:
        """End an operation with an error, given as a problem document."""

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

        `busy`: the deliveries under way; they are not returned again.
        """

    async def next_callback(self, epoch: int) -> float | None:
        """Return in how many seconds another callback is due; None: there is none."""

    async def record_deliveries(self, epoch: int, reports: Sequence[DeliveryReport]) -> None:
        """Record attempts of callbacks."""
