"""The api's store: reading and cancelling. Submission is in `submission.py`."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from weft.ports.store import Caller, ForeignJobs, GroupLimits, Row
from weft.store.apps import Apps
from weft.store.billing import Billing
from weft.store.database import open_database
from weft.store.declared import (
    GROUP,
    actor,
    calls,
    documents,
    nothing,
    number,
    parts,
    records,
    truth,
    value,
)
from weft.store.documents import batch_document
from weft.store.edits import Edits, SetGroups
from weft.store.events import Events
from weft.store.fleet import Fleet, pools_of, shown_worker
from weft.store.jobs import JobFiles, Jobs, Products
from weft.store.lines import Lines
from weft.store.notices import PostgresNotices
from weft.store.pictures import Pictures
from weft.store.queries import QUERIES_AT_ONCE
from weft.store.schedules import Schedules
from weft.store.schema_range import check_schema
from weft.store.secrets import SavedQueries, Secrets
from weft.store.sessions import Sessions
from weft.store.sources import Sources
from weft.store.spending import Limits
from weft.store.submission import SubmissionCalls
from weft.store.system import System
from weft.store.tenants import Tenants
from weft.store.turns import Turns
from weft.store.why import Why

API_TIMEOUT_S = 60.0
CONNECTIONS = 8
PARENTS_SHOWN = 100
"""In the document of a job, however many it has."""
PARENTS_COUNTED = 1000


class ApiStore(
    Jobs,
    Products,
    SubmissionCalls,
    SetGroups,
    Edits,
    JobFiles,
    Events,
    Schedules,
    Billing,
    Fleet,
    Lines,
    Sources,
    Apps,
    Pictures,
    SavedQueries,
    Secrets,
    Sessions,
    Tenants,
    Limits,
    System,
    Why,
):
    """The api's calls to its database."""

    notices: PostgresNotices
    _listener_id: uuid.UUID

    async def check_schema(self) -> None:
        """Return if this program may use the database."""
        await check_schema(self._database, "weft_api")

    @calls(nothing, "events_now")
    async def ready(self) -> None:
        """Return if the database answers; otherwise raise `Unavailable`."""

    @calls(lambda rows: batch_document(value(rows)))
    async def get_batch(self, caller: Caller, batch_id: int) -> Row:
        """Return the batch document. Raise `BatchNotFound`."""

    @calls(
        lambda rows: [batch_document(row[0]) for row in rows],
        limit="limit_rows",
        name="of_name",
        hidden="with_hidden",
    )
    async def list_batches(
        self,
        caller: Caller,
        *,
        before: int | None,
        limit: int,
        name: str | None,
        hidden: bool = False,
    ) -> Sequence[Row]:
        """Return batch documents, newest first, numbers below `before`.

        `name`: only those of exactly this name. `hidden`: also those that are hidden.
        """

    @calls(documents, limit="limit_rows")
    async def list_groups(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return group documents in order of their numbers, those above `after`.

        -1 starts at the root.
        """

    @calls(documents, group_id="of_group_id", limit="limit_rows")
    async def list_child_groups(
        self, caller: Caller, batch_id: int, group_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return the documents of the groups directly below a group, as `list_groups` does. Raise
        `GroupNotFound`.
        """

    @calls(lambda rows: {row["batch_id"]: row["idempotency_key"] for row in rows})
    async def list_batch_keys(self, caller: Caller, batch_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the idempotency keys of these batches. One that has none, or that the caller
        does not see, is left out.
        """

    @calls(
        value,
        states=lambda jobs: None if jobs.states is None else list(jobs.states),
        ordering=lambda jobs: jobs.order.value,
        **parts("jobs", "door", "foreign_id", "first_row", limit_rows="limit"),
    )
    async def list_foreign_jobs(self, caller: Caller, jobs: ForeignJobs) -> Row:
        """Return the jobs that came through a door with ids of its own: `total`, how many there
        are, and `jobs`, a page of their documents. Members of its billing project are strangers
        to a job here.
        """

    @calls(value, job_id="of_job", limit="limit_rows")
    async def list_topic_runs(
        self, caller: Caller, job_id: str, *, first_row: int, limit: int
    ) -> Row:
        """Return the runs of a job that records of others asked for: `total`, and `runs`, a page
        of their documents, the newest first.
        """

    @calls(value, **GROUP)
    async def get_group(self, caller: Caller, batch_id: int, group: int | str) -> Row:
        """Return one group document, by number or by path. Raise `GroupNotFound`."""

    @calls(documents, limit="limit_rows")
    async def list_callbacks(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return delivery documents of a batch and its groups, ids above `after`, in order."""

    @calls(
        value,
        of_delivery_id=lambda delivery: delivery if isinstance(delivery, int) else None,
        of_name=lambda delivery: None if isinstance(delivery, int) else delivery,
        actor=actor,
    )
    async def redeliver_callback(
        self, caller: Caller, batch_id: int, delivery: int | uuid.UUID
    ) -> Row:
        """Make an undelivered callback due at once; return its document.

        The delivery is given by number or name. A repeat changes nothing. Raise
        `CallbackNotFound` or `CallbackDelivered`.
        """

    @calls(truth, actor=actor)
    async def cancel_group(
        self, caller: Caller, batch_id: int, group_id: int, *, force: bool
    ) -> bool:
        """Cancel a group with everything below it (0: the batch): no claim of it commits
        afterwards, and the workers of its running jobs are notified.

        `force`: also the jobs that run always. Return False if it was already cancelled in this
        way. Raise `GroupNotFound`.
        """

    @calls(lambda rows: {row["job_id"]: row["outcome"] for row in rows}, actor=actor)
    async def cancel_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Cancel single jobs.

        Return per job `cancelled` (ended now), `cancelling` (its worker is notified) or the word
        of its terminal state. Raise `JobNotFound`.
        """

    @calls(number, actor=actor)
    async def signal_job(
        self, caller: Caller, batch_id: int, job_id: int, *, signal: int, word: str
    ) -> int:
        """Tell the worker of a running job to send it a signal; return the attempt. `word`: the
        name of the signal, for the history. Raise `JobNotFound`, `JobNotRunning` or
        `TooManyCommands`.
        """

    @calls(number, text="message", actor=actor)
    async def message_job(self, caller: Caller, batch_id: int, job_id: int, *, text: str) -> int:
        """Tell the worker of a running job to give it a text; return the attempt. Raise as
        `signal_job`.
        """

    @calls(value, values="answer", actor=actor)
    async def answer_job(
        self,
        caller: Caller,
        batch_id: int,
        job_id: int,
        *,
        approve: bool,
        note: str,
        values: Mapping[str, Any],
    ) -> str:
        """End a job that waits for an approval or an event; return its state. The same answer of
        the same person changes nothing. Raise `JobNotFound` or `NotWaiting`.
        """

    @calls(number, actor=actor)
    async def extend_job(self, caller: Caller, batch_id: int, job_id: int, *, by_ms: int) -> int:
        """Extend the time limit of a job's attempts; return by how many ms in all. Raise
        `JobNotFound` or `JobOver`.
        """

    @calls(lambda rows: (rows[0]["xid"], rows[0]["event_id"]))
    async def events_now(self) -> tuple[int, int]:
        """Return the position after the newest event that readers may see."""

    @calls(truth, listener_id=lambda self: self._listener_id)
    async def wait_for_events(self, *, waits: bool = True) -> bool:
        """Tell the writers whether a listener waits (call, then list once more, then await
        `notices`).

        Return whether committed events are withheld because an older writer is open; if so, list
        again soon.
        """

    @calls(records)
    async def pool_offers(self) -> Sequence[Row]:
        """Return `cpu_m, memory_mib, offers, serves_tenant_id` of every known worker, the largest
        memory first; `offers` by name, storage and gpu included (`core/scheduling/offers.py`).

        `serves_tenant_id`: the tenant whose jobs alone run there; None: those of all tenants.
        """

    async def overview(self, caller: Caller) -> Row:
        """Return `workers: [...]`, `running`, `ready`, `pending` for `weft top` and metrics.

        Workers are those of all tenants, counts those of the caller's.
        """
        document: Row = await self._database.value(
            "overview", caller=caller, pools_of_tenant_id=pools_of(caller)
        )
        workers = [shown_worker(one, caller) for one in document["workers"]]
        return {**document, "workers": workers}

    @calls(value)
    async def overview_counts(self, caller: Caller) -> Row:
        """Return what `overview` does but for the workers."""

    @calls(documents)
    async def list_minutes(self, caller: Caller) -> Sequence[Row]:
        """Return `at, n_waiting, n_running, n_succeeded, n_failed, n_cancelled` of each of the
        last 60 minutes, oldest first, for the batches that the caller owns; for the tenant, if the
        caller sees all of it.
        """


@asynccontextmanager
async def open_api_store(
    dsn: str,
    *,
    pool_size: int = CONNECTIONS,
    user_connections_max: int | None = None,
    limits: GroupLimits | None = None,
    pooler: str | None = None,
) -> AsyncIterator[ApiStore]:
    """Open the store of the api, as role `weft_api`."""
    async with open_database(
        dsn,
        connections_max=pool_size,
        timeout_s=API_TIMEOUT_S,
        user_connections_max=user_connections_max,
        pooler=pooler,
    ) as database:
        store = ApiStore(database, limits or GroupLimits())
        store.notices = PostgresNotices(dsn)
        store._querying = asyncio.Semaphore(QUERIES_AT_ONCE)  # noqa: SLF001 (its own factory)
        most = user_connections_max and QUERIES_AT_ONCE - 1
        store._searches = Turns(most, QUERIES_AT_ONCE, others_s=None)  # noqa: SLF001 (as above)
        store._listener_id = uuid.uuid4()  # noqa: SLF001 (its own factory)
        yield store
