"""What a driver asks."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from weft.ports.store.callbacks import DeliveryReport, DueCallback
from weft.ports.store.submitted import Operation, Row


class Beat(NamedTuple):
    """The answer to the heartbeat of a leader that sleeps: what a lost notice should have told."""

    idle: bool
    due_at: datetime | None
    """When the next worker would be lost."""
    callback_due: bool = False


class Folded(NamedTuple):
    """What a fold found: how many deltas, and which other loops have something to do."""

    deltas: int
    sweep: bool = False
    """Jobs of cancelled groups."""
    settle: bool = False
    """Children to be told of ends."""
    hold: bool = False
    """Jobs to park, or to list again."""
    operate: bool = False
    """Operations."""


class DriverStore(Protocol):
    """What a driver may ask.

    Every call carries the leader's epoch; a stale one raises `EpochStale`.
    """

    async def try_lead(self) -> int | None:
        """Try the leader's lock on the connection kept for it.

        Return the epoch of the new term, or None.
        """

    async def still_lead(self) -> bool:
        """Say whether the connection that holds the lock is alive; the driver's own heartbeat."""

    async def fold_deltas(self, epoch: int) -> Folded:
        """Fold what is visible into the sums, settle completions."""

    async def sweep_cancelled(self, epoch: int, limit_jobs: int) -> int:
        """Settle jobs of cancelled groups in one bounded set.

        Return how many.
        """

    async def settle_children(self, epoch: int, limit_jobs: int) -> int:
        """Tell children of ended jobs what no report could tell them, in one bounded set.

        Return how many.
        """

    async def count_parent_ends(self, epoch: int, limit_jobs: int) -> int:
        """Count the ends of parents that reports have only noted, for so many of their children.

        Return for how many.
        """

    async def sweep_holds(self, epoch: int, limit_jobs: int) -> int:
        """Park ready jobs of what is held, or list those of what was released; one bounded set.

        Return how many jobs were looked at; 0: nothing is left.
        """

    async def lose_workers(self, epoch: int, grace_s: float) -> Sequence[Row]:
        """End the attempts of workers that were silent longer than the grace."""

    async def next_due(self, epoch: int, grace_s: float) -> datetime | None:
        """Return when the next worker would be lost; None: there is no worker."""

    async def beat(self, epoch: int, grace_s: float) -> Beat:
        """Return the answers of `idle_driver` and `next_due`, and whether a callback is due."""

    async def idle_driver(self, epoch: int) -> bool:
        """Say that this driver goes to sleep.

        False: there is something to do; True: a notice on `driver` will come.
        """

    async def remove_old(self, epoch: int, *, events_keep_s: float, updates_keep_s: float) -> int:
        """Remove events older than the retention and updates that were never committed."""

    async def running_operations(self, epoch: int, above_id: int = 0) -> Sequence[Operation]:
        """Return a page of the operations above a number, oldest first; empty: no more."""

    async def advance_operation(self, epoch: int, operation: Operation) -> bool:
        """Do one bounded step of an operation; return False if it has to wait for something.

        Raise a `WeftError` if it can never succeed.
        """

    async def fail_operation(
        self, epoch: int, operation_id: int, problem: Mapping[str, Any]
    ) -> None:
        """End an operation with what went wrong, as a problem document."""

    async def due_callbacks(
        self,
        epoch: int,
        busy: Sequence[int],
        *,
        limit_all: int,
        limit_tenant: int,
        limit_host: int,
    ) -> Sequence[DueCallback]:
        """Return the callbacks to be sent now, within limits that count those on their way.

        `busy`: the deliveries on their way; they are not returned again.
        """

    async def next_callback(self, epoch: int) -> float | None:
        """Return in how many seconds another callback is due; None: there is none."""

    async def record_deliveries(self, epoch: int, reports: Sequence[DeliveryReport]) -> None:
        """Record attempts of callbacks."""
