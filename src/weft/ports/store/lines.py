"""The calls of the api about setups, lifecycles and the statuses of jobs."""

from collections.abc import Sequence
from typing import Protocol

from weft.core.lines.setup import Setup
from weft.ports.store.callers import Caller, Row


class LineStore(Protocol):
    """Setups of production lines, which belong to a tenant."""

    async def save_setup(
        self, caller: Caller, name: str, document: str, setup: Setup
    ) -> Sequence[str]:
        """Keep a setup, make its lifecycles those of new batches and its sources what they are
        from now on; return the names of those that are new or changed, `source NAME` of sources.
        Jobs keep theirs. Raise `LifecycleTaken`, `SourceTaken`, `SinkTaken`: then nothing changed.
        """

    async def get_setup(self, caller: Caller, name: str) -> Row:
        """Return `setup`, `document`, `saved_at`, `saved_by`, `lifecycles`. Raise
        `SetupNotFound`.
        """

    async def remove_setup(self, caller: Caller, name: str) -> None:
        """Forget a setup; jobs go on. Raise `SetupNotFound`."""

    async def get_lifecycle(self, caller: Caller, name: str) -> Row:
        """Return the lifecycle that new batches get by this name. Raise `LifecycleNotFound`."""

    async def line_overview(self, caller: Caller, *, limit: int) -> Row:
        """Return how production lines are, as far as the caller sees them: `sources`, `sinks` and
        `statuses`; of the first two at most `limit`.
        """

    async def list_messages(
        self, caller: Caller, sink: str, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return messages of a sink, the oldest first. Raise `SinkNotFound`."""

    async def redeliver_message(self, caller: Caller, sink: str, delivery_id: int) -> Row:
        """Send a message again at once, unless that is under way; return it. Raise
        `SinkNotFound`, `MessageNotFound`, `MessageDelivered`.
        """

    async def decide_message(
        self, caller: Caller, sink: str, delivery_id: int, *, dropped: bool
    ) -> Row:
        """Send a message that a check has stopped, or drop it; return it. Raise `SinkNotFound`,
        `MessageNotFound`, `MessageNotHeld`.
        """

    async def change_status(
        self, caller: Caller, batch_id: int, job_id: int, *, status: str, message: str | None
    ) -> Row:
        """Set the status of a job; return `batch_id`, `job_id`, `status`, `state`.

        Raise `JobNotFound`, `InvalidStatusTransition`, `UnknownStatus`, `NoLifecycle`; where its
        core would run again also what `retry_jobs` raises, and `StatusBusy`. Then nothing changed.
        """
