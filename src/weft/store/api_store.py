"""`ApiStore` on asyncpg: reading and cancelling. Submission is in `submission.py`."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache

import msgspec

from weft.ports.log_store import AttemptLog
from weft.ports.store import Caller, ForeignJobs, GroupLimits, JobEntry, Row
from weft.store.apps import Apps
from weft.store.billing import Billing
from weft.store.conditions import Conditions
from weft.store.database import open_database
from weft.store.documents import batch_document, entry_of, reason_word, with_words
from weft.store.door_jobs import DoorJobs
from weft.store.edits import Edits
from weft.store.failures import Failures
from weft.store.file_stores import FileStores
from weft.store.fleet import Fleet, shown_worker
from weft.store.groups import SetGroups
from weft.store.job_files import JobFiles
from weft.store.licences import Licences
from weft.store.lines import Lines
from weft.store.log_locations import directory_of, location_of
from weft.store.notices import PostgresNotices
from weft.store.offers import listed_events
from weft.store.parameters import Parameters
from weft.store.permissions import Permissions
from weft.store.pictures import Pictures
from weft.store.pools import Pools, pools_of
from weft.store.products import Products
from weft.store.queries import QUERIES_AT_ONCE
from weft.store.queues import Queues
from weft.store.quotas import Quotas
from weft.store.saved_queries import SavedQueries
from weft.store.schedules import Schedules
from weft.store.schema_range import check_schema
from weft.store.secrets import Secrets
from weft.store.sessions import Sessions
from weft.store.sources import Sources
from weft.store.spending import Limits
from weft.store.submission import SubmissionCalls
from weft.store.system import System
from weft.store.tenants import Tenants
from weft.store.tokens import Tokens
from weft.store.trail import Trail
from weft.store.transports import Transports
from weft.store.turns import Turns
from weft.store.users import Users
from weft.store.why import Why
from weft.wire.spec import decode_chunk

API_TIMEOUT_S = 60.0
CONNECTIONS = 8
PARENTS_SHOWN = 100
"""In the document of a job, however many it has."""
PARENTS_COUNTED = 1000


class PostgresApiStore(
    Products,
    SubmissionCalls,
    SetGroups,
    Edits,
    JobFiles,
    DoorJobs,
    Permissions,
    Queues,
    Schedules,
    Billing,
    Fleet,
    Pools,
    Licences,
    Transports,
    Lines,
    Sources,
    Parameters,
    Apps,
    FileStores,
    Conditions,
    Failures,
    Pictures,
    Tokens,
    Sessions,
    Users,
    Tenants,
    Quotas,
    Limits,
    SavedQueries,
    Secrets,
    System,
    Trail,
    Why,
):
    """The api's calls to its database. The methods are documented at the port."""

    notices: PostgresNotices
    _listener_id: uuid.UUID

    async def check_schema(self) -> None:
        """Return if this program may use the database."""
        await check_schema(self._database, "weft_api")

    async def ready(self) -> None:
        """Return if the database answers."""
        await self._database.call("events_now")

    async def get_batch(self, caller: Caller, batch_id: int) -> Row:
        """Return the batch document."""
        return batch_document(
            await self._database.value("get_batch", caller=caller, batch_id=batch_id)
        )

    async def list_batches(
        self, caller: Caller, *, before: int | None, limit: int, name: str | None,
        hidden: bool = False,
    ) -> Sequence[Row]:  # fmt: skip
        """Return batch documents, newest first."""
        rows = await self._database.call(
            "list_batches",
            caller=caller,
            before=before,
            limit_rows=limit,
            of_name=name,
            with_hidden=hidden,
        )
        return [batch_document(row[0]) for row in rows]

    async def list_groups(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return group documents."""
        rows = await self._database.call(
            "list_groups",
            caller=caller,
            batch_id=batch_id,
            after=after,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

    async def list_child_groups(
        self, caller: Caller, batch_id: int, group_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return documents of groups directly below a group."""
        rows = await self._database.call(
            "list_child_groups",
            caller=caller,
            batch_id=batch_id,
            of_group_id=group_id,
            after=after,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

    async def list_batch_keys(self, caller: Caller, batch_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the idempotency keys of batches."""
        rows = await self._database.call(
            "list_batch_keys", caller=caller, batch_ids=list(batch_ids)
        )
        return {row["batch_id"]: row["idempotency_key"] for row in rows}

    async def list_foreign_jobs(self, caller: Caller, wanted: ForeignJobs) -> Row:
        """Return a page of the jobs of a door."""
        found: Row = await self._database.value(
            "list_foreign_jobs",
            caller=caller,
            door=wanted.door,
            foreign_id=wanted.foreign_id,
            states=None if wanted.states is None else list(wanted.states),
            ordering=wanted.order.value,
            first_row=wanted.first_row,
            limit_rows=wanted.limit,
        )
        return found

    async def get_group(self, caller: Caller, batch_id: int, group: int | str) -> Row:
        """Return one group document."""
        by_path = isinstance(group, str)
        document: Row = await self._database.value(
            "get_group",
            caller=caller,
            batch_id=batch_id,
            group_id=None if by_path else group,
            path=group if by_path else None,
        )
        return document

    async def list_callbacks(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return delivery documents."""
        rows = await self._database.call(
            "list_callbacks",
            caller=caller,
            batch_id=batch_id,
            after=after,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

    async def redeliver_callback(
        self, caller: Caller, batch_id: int, delivery: int | uuid.UUID
    ) -> Row:
        """Let a delivery be tried at once."""
        document: Row = await self._database.value(
            "redeliver_callback",
            caller=caller,
            batch_id=batch_id,
            of_delivery_id=delivery if isinstance(delivery, int) else None,
            of_name=None if isinstance(delivery, int) else delivery,
            actor=f"user {caller.user_name}",
        )
        return document

    async def list_jobs(
        self, caller: Caller, batch_id: int, *, after: int, limit: int, states: Sequence[int] = ()
    ) -> Sequence[Row]:
        """Return job documents."""
        rows = await self._database.call(
            "list_jobs",
            caller=caller,
            batch_id=batch_id,
            after=after,
            limit_rows=limit,
            states=[int(state) for state in states],
        )
        return [with_words(row[0]) for row in rows]

    async def list_job_entries(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[JobEntry]:
        """Return entries of jobs."""
        rows = await self._database.call(
            "list_job_entries",
            caller=caller,
            batch_id=batch_id,
            after=after,
            limit_rows=limit,
            of_job_ids=None,
        )
        return [entry_of(row) for row in rows]

    async def count_reasons(
        self, caller: Caller, batch_id: int, group_id: int, *, after: int, limit: int
    ) -> tuple[Sequence[Row], int | None]:
        """Return counts by reason."""
        (row,) = await self._database.call(
            "count_reasons",
            caller=caller,
            batch_id=batch_id,
            of_group_id=group_id,
            after=after,
            limit_attempts=limit,
        )
        return [with_words(item) for item in row["items"]], row["next_after"]

    async def get_job(self, caller: Caller, batch_id: int, job_id: int) -> Row:
        """Return the job document with its spec, which has the time limit of its attempt."""
        (row,) = await self._database.call(
            "get_job",
            caller=caller,
            batch_id=batch_id,
            job_id=job_id,
            limit_parents=PARENTS_SHOWN,
            limit_counted=PARENTS_COUNTED,
        )
        document = with_words(row["document"])
        document["spec"] = (
            decode_chunk(row["spec_body"])[row["spec_index"]] if row["spec_body"] else None
        )
        limit_ms = document.pop("limit_ms", None)
        if limit_ms is not None and document["spec"] is not None:
            document["spec"] = msgspec.structs.replace(document["spec"], timeout_s=limit_ms / 1000)
        return document

    async def list_attempts(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return attempt documents."""
        rows = await self._database.call(
            "list_attempts", caller=caller, batch_id=batch_id, job_id=job_id
        )
        return [with_words(row[0]) for row in rows]

    async def job_history(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return history documents."""
        rows = await self._database.call(
            "job_history", caller=caller, batch_id=batch_id, job_id=job_id
        )
        return [with_words(row[0]) for row in rows]

    async def list_attempt_logs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int], attempt: int | None
    ) -> Sequence[AttemptLog]:
        """Return where the output of these jobs is."""
        rows = await self._database.call(
            "log_places",
            caller=caller,
            of_batch_id=batch_id,
            job_ids=list(job_ids),
            of_attempt=attempt,
        )
        directories = cache(directory_of)  # many jobs, few workers
        return [
            AttemptLog(
                batch_id=row["batch_id"],
                job_id=row["job_id"],
                attempt=row["attempt"],
                ended=row["ended"],
                location=location_of(row["segment"], row["log_offset"]),
                stdout_bytes=row["stdout_bytes"],
                stderr_bytes=row["stderr_bytes"],
                truncated=row["truncated"],
                state=row["state"],
                reason=reason_word(row["reason"]),
                exit_code=row["exit_code"],
                signal=row["signal"],
                message=row["message"],
                directory=directories(row["log_place"], row["host"], row["log_directory"]),
                why_gone=row["why_gone"],
            )
            for row in rows
        ]

    async def cancel_group(
        self, caller: Caller, batch_id: int, group_id: int, *, force: bool
    ) -> bool:
        """Cancel a group."""
        return bool(
            await self._database.value(
                "cancel_group",
                caller=caller,
                batch_id=batch_id,
                group_id=group_id,
                actor=f"user {caller.user_name}",
                force=force,
            )
        )

    async def cancel_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Cancel single jobs."""
        rows = await self._database.call(
            "cancel_jobs",
            caller=caller,
            batch_id=batch_id,
            job_ids=list(job_ids),
            actor=f"user {caller.user_name}",
        )
        return {row["job_id"]: row["outcome"] for row in rows}

    async def signal_job(
        self, caller: Caller, batch_id: int, job_id: int, *, signal: int, word: str
    ) -> int:
        """Send a signal to a running job."""
        return int(
            await self._database.value(
                "signal_job",
                caller=caller,
                batch_id=batch_id,
                job_id=job_id,
                signal=signal,
                word=word,
                actor=f"user {caller.user_name}",
            )
        )

    async def message_job(self, caller: Caller, batch_id: int, job_id: int, *, text: str) -> int:
        """Send a text to a running job."""
        return int(
            await self._database.value(
                "message_job",
                caller=caller,
                batch_id=batch_id,
                job_id=job_id,
                message=text,
                actor=f"user {caller.user_name}",
            )
        )

    async def extend_job(self, caller: Caller, batch_id: int, job_id: int, *, by_ms: int) -> int:
        """Extend the time limit of a job."""
        return int(
            await self._database.value(
                "extend_job",
                caller=caller,
                batch_id=batch_id,
                job_id=job_id,
                by_ms=by_ms,
                actor=f"user {caller.user_name}",
            )
        )

    async def events_now(self) -> tuple[int, int]:
        """Return the position after the newest event."""
        (row,) = await self._database.call("events_now")
        return row["xid"], row["event_id"]

    async def list_events(
        self, caller: Caller, *, after: tuple[int, int], batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], tuple[int, int]]:
        """Return events after a position, and the position reached."""
        return await listed_events(self._database, caller, after, batch_id, limit)

    async def wait_for_events(self, *, waits: bool = True) -> bool:
        """Tell the writers whether a listener waits; return whether events are withheld."""
        found = await self._database.value(
            "wait_for_events", listener_id=self._listener_id, waits=waits
        )
        return bool(found)

    async def pool_offers(self) -> Sequence[Row]:
        """Return the offers of workers of all tenants, largest first."""
        return [dict(row) for row in await self._database.call("pool_offers")]

    async def overview(self, caller: Caller) -> Row:
        """Return workers and how many jobs wait and run."""
        document: Row = await self._database.value(
            "overview", caller=caller, pools_of_tenant_id=pools_of(caller)
        )
        workers = [shown_worker(one, caller) for one in document["workers"]]
        return {**document, "workers": workers}

    async def overview_counts(self, caller: Caller) -> Row:
        """Return how many jobs wait and run."""
        document: Row = await self._database.value("overview_counts", caller=caller)
        return document

    async def list_minutes(self, caller: Caller) -> Sequence[Row]:
        """Return the last 60 minutes, oldest first."""
        rows = await self._database.call("list_minutes", caller=caller)
        return [row[0] for row in rows]


@asynccontextmanager
async def open_api_store(
    dsn: str,
    *,
    pool_size: int = CONNECTIONS,
    user_connections_max: int | None = None,
    limits: GroupLimits | None = None,
) -> AsyncIterator[PostgresApiStore]:
    """Open the store of the api, as role `weft_api`."""
    async with open_database(
        dsn,
        connections_max=pool_size,
        timeout_s=API_TIMEOUT_S,
        user_connections_max=user_connections_max,
    ) as database:
        store = PostgresApiStore(database, limits or GroupLimits())
        store.notices = PostgresNotices(dsn)
        store._querying = asyncio.Semaphore(QUERIES_AT_ONCE)  # noqa: SLF001 (its own factory)
        most = user_connections_max and QUERIES_AT_ONCE - 1
        store._searches = Turns(most, QUERIES_AT_ONCE, others_s=None)  # noqa: SLF001 (as above)
        store._listener_id = uuid.uuid4()  # noqa: SLF001 (its own factory)
        yield store
