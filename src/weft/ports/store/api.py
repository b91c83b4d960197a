"""The calls of the api."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from weft.ports.log_store import AttemptLog
from weft.ports.store.apps import AppStore
from weft.ports.store.billing import BillingStore
from weft.ports.store.callers import Caller, Row
from weft.ports.store.conditions import ConditionStore
from weft.ports.store.door_jobs import DoorJobStore
from weft.ports.store.edits import EditStore
from weft.ports.store.failures import FailureStore
from weft.ports.store.file_stores import FileStoreStore
from weft.ports.store.fleet import FleetStore
from weft.ports.store.foreign_jobs import ForeignJobs
from weft.ports.store.groups import SetGroupStore
from weft.ports.store.job_entries import JobEntry
from weft.ports.store.job_files import JobFileStore
from weft.ports.store.licences import LicenceStore
from weft.ports.store.lines import LineStore
from weft.ports.store.parameters import ParameterStore
from weft.ports.store.permissions import PermissionStore
from weft.ports.store.pictures import PictureStore
from weft.ports.store.pools import PoolStore
from weft.ports.store.products import ProductStore
from weft.ports.store.queries import QueryStore
from weft.ports.store.queues import QueueStore
from weft.ports.store.quotas import QuotaStore
from weft.ports.store.saved_queries import SavedQueryStore
from weft.ports.store.schedules import ScheduleStore
from weft.ports.store.secrets import SecretStore
from weft.ports.store.sessions import SessionStore
from weft.ports.store.sources import SourceStore
from weft.ports.store.spending import LimitStore
from weft.ports.store.submitted import JobRows, NewBatch, NewGroup, Reserved
from weft.ports.store.system import SystemStore
from weft.ports.store.tenants import TenantStore
from weft.ports.store.tokens import TokenStore
from weft.ports.store.trail import TrailStore
from weft.ports.store.transports import TransportStore
from weft.ports.store.users import UserStore
from weft.ports.store.why import WhyStore


class ApiStore(
    SetGroupStore,
    EditStore,
    PermissionStore,
    QueryStore,
    QueueStore,
    ScheduleStore,
    BillingStore,
    FleetStore,
    PoolStore,
    LicenceStore,
    TransportStore,
    LineStore,
    SourceStore,
    ParameterStore,
    ProductStore,
    AppStore,
    FileStoreStore,
    ConditionStore,
    FailureStore,
    PictureStore,
    TokenStore,
    SessionStore,
    UserStore,
    TenantStore,
    QuotaStore,
    LimitStore,
    SavedQueryStore,
    SecretStore,
    JobFileStore,
    DoorJobStore,
    SystemStore,
    TrailStore,
    WhyStore,
    Protocol,
):
    """The calls of the api.

    Each call sees only the caller's tenant; anything else does not exist for it. A call that names
    a batch raises `BatchNotFound`; one that is refused changes nothing.
    A page of a list has at most `limit` rows; the position of its last row is the next `after` or
    `before`. Documents are those of `wire/answers/batches.py`.
    An idempotency key belongs to its user; None: the request is never a repeat.
    """

    async def ready(self) -> None:
        """Return if the database answers; otherwise raise `Unavailable`."""

    async def authenticate(self, token: str) -> Caller | None:
        """Return the holder of this token; `None` for an unknown or expired one."""

    async def create_batch(
        self, caller: Caller, new: NewBatch, *, idempotency_key: str | None, digest: bytes
    ) -> tuple[int, bool]:
        """Create an empty batch; return its number and whether it is new.

        Same key and digest: the existing number, False. Same key, another digest:
        `IdempotencyConflict`. Raise `ProjectNotFound` if the caller is no member of its billing
        project.
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
        """Create a batch (or use an existing one), add one update with these groups and jobs,
        and commit it.

        One transaction. Numbers of groups, jobs and parents in `groups` and `jobs` are relative to
        the update and start at 1. An earlier job or group is referred to by its negative number
        (-7 is j7); group 0 is the root. Return the batch, the reserved numbers and whether the
        batch or update is new. Keys are as for `create_batch`. Raise as `create_batch`,
        `add_groups`, `add_jobs` and `commit_update`; no number is reserved then.
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
        """Reserve contiguous numbers for jobs and groups; return them and whether they are new.

        Keys are as for `create_batch`. Raise `BatchCancelled`, `BatchFull`, `TooManyGroups`.
        """

    async def get_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Return the numbers that an update reserved. Raise `UpdateNotFound`."""

    async def last_group_of_update(self, caller: Caller, batch_id: int, update_id: int) -> int:
        """Return the position within an update of the last group that was added to it; 0: none.
        Raise `UpdateNotFound`.
        """

    async def add_groups(
        self,
        caller: Caller,
        batch_id: int,
        update_id: int,
        groups: Sequence[NewGroup],
        *,
        idempotency_key: str | None = None,
        digest: bytes = b"",
        depth_max: int | None = None,
    ) -> bool:
        """Add groups to an open update, at most `depth_max` levels below the root, or as many as
        the setting says; return whether any of them is new.

        Numbers are relative as in `submit`. A repeat does nothing. Raise `IdempotencyConflict` if
        the key was used with another digest, `BunchDiffers` if a number belongs to another group,
        `UpdateNotFound`, `UpdateCommitted`, `OutsideUpdate`, `GroupNotFound` for a parent,
        `GroupExists`, `GroupTooDeep`.
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

        Numbers are relative as in `submit`. A repeat of the same jobs from the same body
        (`digest`) does nothing and returns False; None: another body has filled these numbers,
        see `get_bunch`. Raise `IdempotencyConflict` if the key was used with another digest,
        `BunchOverlap` if it has some of these numbers only, `UpdateNotFound`, `UpdateCommitted`,
        `OutsideUpdate`, `ParentNotFound`, `GroupNotFound`.
        """

    async def get_bunch(
        self, caller: Caller, batch_id: int, update_id: int, *, first_job: int, n_jobs: int
    ) -> Sequence[Row]:
        """Return the jobs of an update from a position on, one row per job in order of their
        numbers, also before the commit: `job_id, cpu_m, memory_mib, storage_mib, gpu, group,
        groups, priority, always_run, max_attempts, retry_on, name, attributes, rare_fields,
        parents` with absolute numbers, and `spec`. Raise `UpdateNotFound`.
        """

    async def add_payload_part(
        self, caller: Caller, batch_id: int, digest: bytes, part: int, body: bytes, *, n_bytes: int
    ) -> None:
        """Store a part of a payload of `n_bytes`. A repeat does nothing. Raise `BatchNotFound`,
        `BatchCancelled`.
        """

    async def missing_payloads(
        self, caller: Caller, batch_id: int, digests: Sequence[bytes]
    ) -> Sequence[bytes]:
        """Return those of these payloads that the batch does not have whole."""

    async def commit_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Make the update visible and runnable; before, only `get_update` and `get_bunch` see it.

        A repeat gives the same answer. Raise `UpdateIncomplete`, which lists what is missing,
        `UpdateNotFound`, `BatchCancelled`.
        """

    async def get_batch(self, caller: Caller, batch_id: int) -> Row:
        """Return the batch document. Raise `BatchNotFound`."""

    async def list_batches(
        self, caller: Caller, *, before: int | None, limit: int, name: str | None,
        hidden: bool = False,
    ) -> Sequence[Row]:  # fmt: skip
        """Return batch documents, newest first, numbers below `before`.

        `name`: only those of exactly this name. `hidden`: also those that are hidden.
        """

    async def list_groups(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return group documents in order of their numbers, those above `after`.

        -1 starts at the root.
        """

    async def list_child_groups(
        self, caller: Caller, batch_id: int, group_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return the documents of the groups directly below a group, as `list_groups` does. Raise
        `GroupNotFound`.
        """

    async def list_batch_keys(self, caller: Caller, batch_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the idempotency keys of these batches. One that has none, or that the caller
        does not see, is left out.
        """

    async def list_foreign_jobs(self, caller: Caller, wanted: ForeignJobs) -> Row:
        """Return the jobs that came through a door with ids of its own: `total`, how many there
        are, and `jobs`, a page of their documents. Members of its billing project are strangers
        to a job here.
        """

    async def get_group(self, caller: Caller, batch_id: int, group: int | str) -> Row:
        """Return one group document, by number or by path. Raise `GroupNotFound`."""

    async def list_callbacks(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return delivery documents of a batch and its groups, ids above `after`, in order."""

    async def redeliver_callback(self, caller: Caller, batch_id: int, delivery: int | UUID) -> Row:
        """Make an undelivered callback due at once; return its document.

        The delivery is given by number or name. A repeat changes nothing. Raise
        `CallbackNotFound` or `CallbackDelivered`.
        """

    async def list_jobs(
        self, caller: Caller, batch_id: int, *, after: int, limit: int, states: Sequence[int] = ()
    ) -> Sequence[Row]:
        """Return job documents in order of their numbers above `after`.

        Only those in `states`, if given.
        """

    async def list_job_entries(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[JobEntry]:
        """Return what short lists show of jobs, in order of their numbers above `after`."""

    async def count_reasons(
        self, caller: Caller, batch_id: int, group_id: int, *, after: int, limit: int
    ) -> tuple[Sequence[Row], int | None]:
        """Return why jobs of a group failed, with counts, and the job after which to go on; None:
        that was all. `limit`: how many failed attempts are read.

        Raise `BatchNotFound`, `GroupNotFound`.
        """

    async def get_job(self, caller: Caller, batch_id: int, job_id: int) -> Row:
        """Return the job document with `spec` (a `JobSpec`), `parents` and `times`.

        Raise `JobNotFound`.
        """

    async def list_attempts(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return attempt documents, oldest first, the live one included. Raise `JobNotFound`."""

    async def job_history(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return history documents, oldest first. Raise `JobNotFound`."""

    async def list_attempt_logs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int], attempt: int | None
    ) -> Sequence[AttemptLog]:
        """Return where the output of these jobs is stored, in order of their numbers.

        For this attempt, or for the last one that has started; a job that waits has none (0) yet.
        Jobs that do not exist or have no such attempt are left out.
        """

    async def cancel_group(
        self, caller: Caller, batch_id: int, group_id: int, *, force: bool
    ) -> bool:
        """Cancel a group with everything below it (0: the batch): no claim of it commits
        afterwards, and the workers of its running jobs are notified.

        `force`: also the jobs that run always. Return False if it was already cancelled in this
        way. Raise `GroupNotFound`.
        """

    async def cancel_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Cancel single jobs.

        Return per job `cancelled` (ended now), `cancelling` (its worker is notified) or the word
        of its terminal state. Raise `JobNotFound`.
        """

    async def signal_job(
        self, caller: Caller, batch_id: int, job_id: int, *, signal: int, word: str
    ) -> int:
        """Tell the worker of a running job to send it a signal; return the attempt. `word`: the
        name of the signal, for the history. Raise `JobNotFound`, `JobNotRunning` or
        `TooManyCommands`.
        """

    async def message_job(self, caller: Caller, batch_id: int, job_id: int, *, text: str) -> int:
        """Tell the worker of a running job to give it a text; return the attempt. Raise as
        `signal_job`.
        """

    async def extend_job(self, caller: Caller, batch_id: int, job_id: int, *, by_ms: int) -> int:
        """Extend the time limit of a job's attempts; return by how many ms in all. Raise
        `JobNotFound` or `JobOver`.
        """

    async def events_now(self) -> tuple[int, int]:
        """Return the position after the newest event that readers may see."""

    async def list_events(
        self, caller: Caller, *, after: tuple[int, int], batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], tuple[int, int]]:
        """Return events after a position, in the order of `Last-Event-ID`, and the position
        reached: the same one if there are none. `batch_id`: only those of this batch.

        Only events older than every open writer are returned. Raise `EventsGone` if events after
        the position were removed.
        """

    async def wait_for_events(self, *, waits: bool = True) -> bool:
        """Tell the writers whether a listener waits (call, then list once more, then await
        `notices`).

        Return whether committed events are withheld because an older writer is open; if so, list
        again soon.
        """

    async def pool_offers(self) -> Sequence[Row]:
        """Return `cpu_m, memory_mib, offers, serves_tenant_id` of every known worker, the largest
        memory first; `offers` by name, storage and gpu included (`core/scheduling/offers.py`).

        `serves_tenant_id`: the tenant whose jobs alone run there; None: those of all tenants.
        """

    async def overview(self, caller: Caller) -> Row:
        """Return `workers: [...]`, `running`, `ready`, `pending` for `weft top` and metrics.

        Workers are those of all tenants, counts those of the caller's.
        """

    async def overview_counts(self, caller: Caller) -> Row:
        """Return what `overview` does but for the workers."""

    async def list_minutes(self, caller: Caller) -> Sequence[Row]:
        """Return `at, n_waiting, n_running, n_succeeded, n_failed, n_cancelled` of each of the
        last 60 minutes, oldest first, for the batches that the caller owns; for the tenant, if the
        caller sees all of it.
        """
