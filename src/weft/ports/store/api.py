"""What the api asks."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from weft.ports.log_store import AttemptLog
from weft.ports.store.billing import BillingStore
from weft.ports.store.callers import Caller, Row
from weft.ports.store.edits import EditStore
from weft.ports.store.groups import SetGroupStore
from weft.ports.store.queries import QueryStore
from weft.ports.store.submitted import JobRows, NewBatch, NewGroup, Reserved


class ApiStore(SetGroupStore, EditStore, QueryStore, BillingStore, Protocol):
    """What the api may ask.

    Everything is seen through the caller's tenant; what it may not see does not exist.
    """

    async def ready(self) -> None:
        """Return if the database answers, else raise `Unavailable`."""

    async def authenticate(self, token: str) -> Caller | None:
        """Return who holds this token; `None` for an unknown or expired one."""

    async def create_batch(
        self, caller: Caller, new: NewBatch, *, idempotency_key: str | None, digest: bytes
    ) -> tuple[int, bool]:
        """Create an empty batch; return its number and whether it is new.

        Same key and digest: the existing number, False. Same key, another digest:
        `IdempotencyConflict`.
        """

    async def submit(
        self,
        caller: Caller,
        new: NewBatch | int,
        groups: Sequence[NewGroup],
        jobs: JobRows | None,
        *,
        idempotency_key: str | None,
        digest: bytes,
        trace_id: str,
    ) -> tuple[int, Reserved, bool]:
        """Create a batch (or take the batch of that number), add one update with these groups and
        jobs, commit it.

        One transaction. Numbers of groups, jobs and parents in `groups` and `jobs` are relative to
        the update: 1 is
        its first; references to earlier jobs are negative absolute numbers (-7 is j7), group 0 is
        the root, an
        earlier group is a negative number. Return the batch, what was reserved and whether it is
        new.
        """

    async def create_update(
        self,
        caller: Caller,
        batch_id: int,
        *,
        n_jobs: int,
        n_groups: int,
        idempotency_key: str | None,
        digest: bytes,
        trace_id: str,
    ) -> tuple[Reserved, bool]:
        """Reserve contiguous numbers for jobs and groups."""

    async def get_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Return what an update reserved. Raise `UpdateNotFound`."""

    async def add_groups(
        self,
        caller: Caller,
        batch_id: int,
        update_id: int,
        groups: Sequence[NewGroup],
        *,
        idempotency_key: str | None = None,
        digest: bytes = b"",
    ) -> bool:
        """Add groups to an open update; return whether any of them is new.

        Numbers are relative as in `submit`. A repeat does nothing. Raise `IdempotencyConflict` for
        a key that came with another digest, `BunchDiffers` if another group has a number.
        """

    async def add_jobs(
        self,
        caller: Caller,
        batch_id: int,
        update_id: int,
        jobs: JobRows,
        *,
        idempotency_key: str | None = None,
        digest: bytes = b"",
    ) -> bool | None:
        """Add a bunch to an open update; return True.

        Numbers relative as in `submit`. A repeat of the same jobs from the same body (`digest`)
        does nothing and returns False; None: another body has filled these numbers, see
        `get_bunch`. Raise `IdempotencyConflict` for a key that came with another digest.
        """

    async def get_bunch(
        self, caller: Caller, batch_id: int, update_id: int, *, first_job: int, n_jobs: int
    ) -> Sequence[Row]:
        """Return what an update holds from a position on, job by job: `cpu_m, memory_mib,
        storage_mib, gpu, group, groups, priority, always_run, max_attempts, retry_on, name,
        attributes, parents` with absolute numbers, and `spec`.
        """

    async def commit_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Make the update visible and runnable.

        Repeat: same answer. Raise `UpdateIncomplete` with what is missing.
        """

    async def get_batch(self, caller: Caller, batch_id: int) -> Row:
        """Return the batch document (DESIGN section 8). Raise `BatchNotFound`."""

    async def list_batches(
        self, caller: Caller, *, before: int | None, limit: int, name: str | None
    ) -> Sequence[Row]:
        """Return batch documents, newest first, numbers below `before`.

        `name`: only those of exactly this name.
        """

    async def list_groups(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return group documents in order of their numbers above `after` (-1.

        From the root on).
        """

    async def get_group(self, caller: Caller, batch_id: int, group: int | str) -> Row:
        """Return one group document, by number or by path. Raise `GroupNotFound`."""

    async def list_callbacks(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return delivery documents of a batch and its groups, ids above `after`, in order."""

    async def redeliver_callback(self, caller: Caller, batch_id: int, delivery: int | UUID) -> Row:
        """Let a delivery that its receiver has not be tried at once; return its document.

        By number or name. A repeat changes nothing. Raise `CallbackNotFound` or
        `CallbackDelivered`.
        """

    async def list_jobs(
        self, caller: Caller, batch_id: int, *, after: int, limit: int, states: Sequence[int] = ()
    ) -> Sequence[Row]:
        """Return job documents in order of their numbers above `after`.

        Only those in `states`, if given.
        """

    async def get_job(self, caller: Caller, batch_id: int, job_id: int) -> Row:
        """Return the job document with `spec` (a `JobSpec`), `parents` and `times`.

        Raise `JobNotFound`.
        """

    async def list_attempts(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return attempt documents, oldest first, the live one included."""

    async def job_history(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return history documents, oldest first."""

    async def list_attempt_logs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int], attempt: int | None
    ) -> Sequence[AttemptLog]:
        """Return where the output of these jobs is.

        Of this attempt, or of the last one that has started.
        """

    async def cancel_group(
        self, caller: Caller, batch_id: int, group_id: int, *, force: bool
    ) -> bool:
        """Cancel a group with all below (0.

        The batch). Return False if it was cancelled before.
        """

    async def cancel_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Cancel single jobs.

        Return per job `cancelled` (ended now), `cancelling` (its worker is told) or the word of
        the terminal state it has already. Raise `JobNotFound`.
        """

    async def events_now(self) -> tuple[int, int]:
        """Return the position after the newest event that readers may see."""

    async def list_events(
        self, caller: Caller, *, after: tuple[int, int], batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], tuple[int, int]]:
        """Return events after a position and the position reached, in the order of `Last-Event-
        ID`.

        Raise `EventsGone` if older events were removed already. Only events older than every open
        writer are given.
        """

    async def wait_for_events(self, *, waits: bool = True) -> bool:
        """Tell the writers whether somebody waits (call, then list once more, then await
        `notices`).

        Return whether committed events are withheld because an older writer is open: look again
        soon.
        """

    async def pool_offers(self, caller: Caller) -> Sequence[Row]:
        """Return `cpu_m, memory_mib, storage_mib, gpu, countables` of every known worker's
        capacity, largest first.
        """

    async def overview(self, caller: Caller) -> Row:
        """Return `workers: [...]`, `running`, `ready`, `pending` for `weft top` and metrics."""
