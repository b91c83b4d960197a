"""The calls of the api about setups, lifecycles and the statuses of jobs."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from weft.core.lines.lifecycle import Lifecycle
from weft.ports.store.callers import Caller, Row


class LineStore(Protocol):
    """Setups of production lines, which belong to a tenant."""

    async def save_setup(
        self, caller: Caller, name: str, document: str, lifecycles: Mapping[str, Lifecycle]
    ) -> Sequence[str]:
        """Keep a setup and make its lifecycles those of new batches; return the names of those
        that are new or changed. Jobs keep theirs. Raise `LifecycleTaken`: then nothing changed.
        """

    async def get_setup(self, caller: Caller, name: str) -> Row:
        """Return `setup`, `document`, `saved_at`, `saved_by`, `lifecycles`. Raise
        `SetupNotFound`.
        """

    async def remove_setup(self, caller: Caller, name: str) -> None:
        """Forget a setup; jobs go on. Raise `SetupNotFound`."""

    async def get_lifecycle(self, caller: Caller, name: str) -> Row:
        """Return the lifecycle that new batches get by this name. Raise `LifecycleNotFound`."""

    async def change_status(
        self, caller: Caller, batch_id: int, job_id: int, *, status: str, message: str | None
    ) -> Row:
        """Set the status of a job; return `batch_id`, `job_id`, `status`, `state`.

        Raise `JobNotFound`, `InvalidStatusTransition`, `UnknownStatus`, `NoLifecycle`; where its
        core would run again also what `retry_jobs` raises, and `StatusBusy`. Then nothing changed.
        """
