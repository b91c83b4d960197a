"""The parts of `ApiStore` that read jobs, their attempts, their history and their products; for
files of jobs, and the stores that keep them.
"""

from collections.abc import Sequence
from functools import cache

import asyncpg
import msgspec

from weft.ports.log_store import AttemptLog
from weft.ports.store import Caller, JobEntry, ProductQuery, Row, StoredFileStore
from weft.ports.store.queries import NEWEST, StoredFile
from weft.store.database import StorePart, call_on, fetch_on
from weft.store.declared import calls, documents, filled, parts, records, truth, user_id, value
from weft.store.documents import entry_of, reason_word, with_words
from weft.store.queries import Queries, begin_query
from weft.store.query_sql import select_products
from weft.store.worker_files import directory_of, location_of, store_of
from weft.wire.documents.stores import NewFileStore
from weft.wire.spec import decode_chunk

PARENTS_SHOWN = 100
"""In the document of a job, however many it has."""
PARENTS_COUNTED = 1000


def _attempt_logs(rows: Sequence[asyncpg.Record]) -> list[AttemptLog]:
    directories = cache(directory_of)  # many jobs, few workers
    return [
        filled(
            AttemptLog,
            row,
            location=location_of(row["segment"], row["log_offset"]),
            reason=reason_word(row["reason"]),
            directory=directories(row["log_place"], row["host"], row["log_directory"]),
        )
        for row in rows
    ]


class Jobs(StorePart):
    """The api's calls about single jobs."""

    @calls(
        lambda rows: [with_words(row[0]) for row in rows],
        limit="limit_rows",
        states=lambda states: [int(state) for state in states],
    )
    async def list_jobs(
        self, caller: Caller, batch_id: int, *, after: int, limit: int, states: Sequence[int] = ()
    ) -> Sequence[Row]:
        """Return job documents in order of their numbers above `after`.

        Only those in `states`, if given.
        """

    @calls(
        lambda rows: [entry_of(row) for row in rows], limit="limit_rows", of_job_ids=lambda: None
    )
    async def list_job_entries(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[JobEntry]:
        """Return what short lists show of jobs, in order of their numbers above `after`."""

    @calls(
        lambda rows: ([with_words(item) for item in rows[0]["items"]], rows[0]["next_after"]),
        group_id="of_group_id",
        limit="limit_attempts",
    )
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

    @calls(lambda rows: [with_words(row[0]) for row in rows])
    async def list_attempts(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return attempt documents, oldest first, the live one included. Raise `JobNotFound`."""

    @calls(lambda rows: [with_words(row[0]) for row in rows])
    async def job_history(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return history documents, oldest first. Raise `JobNotFound`."""

    @calls(records, title="of_title")
    async def list_notes(
        self, caller: Caller, batch_id: int, job_id: int, *, title: str | None
    ) -> Sequence[Row]:
        """Return the notes of a job, newest first, or that with a title; `body` is None of a
        picture, unless it is asked for by its title. Raise `BatchNotFound`, `JobNotFound`.
        """

    @calls(_attempt_logs, "log_places", batch_id="of_batch_id", attempt="of_attempt")
    async def list_attempt_logs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int], attempt: int | None
    ) -> Sequence[AttemptLog]:
        """Return where the output of these jobs is stored, in order of their numbers.

        For this attempt, or for the last one that has started; a job that waits has none (0) yet.
        Jobs that do not exist or have no such attempt are left out.
        """


class Products(Queries):
    """What jobs that have ended well say that they have made. A row has `id`, `product` and what
    is known of its job.
    """

    async def query_products(self, caller: Caller, query: ProductQuery) -> Sequence[Row]:
        """Return documents of products, newest first. Raise `QueryTooSlow`."""

        async def work(connection: asyncpg.Connection) -> Sequence[Row]:
            await begin_query(connection, caller, round(query.limits.timeout_s * 1000))
            before = NEWEST if query.before is None else query.before
            statement = select_products(query.query, before=before, limit=query.limit)
            found = await fetch_on(connection, "query_products", statement.text, statement.values)
            ids = [row[0] for row in found]
            rows = await call_on(connection, "get_products", caller=caller, product_ids=ids)
            return [row[0] for row in rows]

        return await self._within(caller, query.limits, work)

    @calls(value, "get_products", product_ids=lambda product_id: [product_id])
    async def get_product(self, caller: Caller, product_id: int) -> Row | None:
        """Return the document of a product; None: the caller sees no such product."""

    @calls(truth)
    async def remove_product(self, caller: Caller, product_id: int) -> bool:
        """Forget a product; return whether the caller saw it. Raise `NotPermitted`."""


class JobFiles(StorePart):
    """The files of jobs that a caller sees, and a tenant's stores, without any credential."""

    @calls(documents, attempt="of_attempt", after="after_path", limit="limit_rows")
    async def list_files(
        self,
        caller: Caller,
        batch_id: int,
        job_id: int,
        *,
        attempt: int | None,
        after: str | None,
        limit: int,
    ) -> Sequence[Row]:
        """Return documents of the files that an attempt has left, by path, after one of them;
        without an attempt, of the last one that left any. Raise `BatchNotFound`, `JobNotFound`.
        """

    @calls(
        lambda rows: StoredFile(*rows[0]) if rows else None,
        path="of_path",
        attempt="of_attempt",
    )
    async def find_file(
        self, caller: Caller, batch_id: int, job_id: int, path: str, *, attempt: int | None
    ) -> StoredFile | None:
        """Return a file that an attempt has left; without an attempt, of the last one that left
        it. None: there is none. Raise `BatchNotFound`, `JobNotFound`.
        """

    @calls(
        value,
        user_id=user_id,
        **parts(
            "new",
            of_name="name",
            of_url="url",
            of_endpoint="endpoint",
            of_region="region",
            of_access="access",
            of_credentials="credentials",
            secret_name="secret",  # noqa: S106 (its name)
        ),
    )
    async def save_store(
        self, caller: Caller, new: NewFileStore, *, stores_max: int
    ) -> Row | None:
        """Set a store, in place of one of the same name; return its document. None: the tenant
        has `stores_max` others.
        """

    @calls(documents, name="of_name")
    async def list_stores(self, caller: Caller, name: str | None = None) -> Sequence[Row]:
        """Return the stores of the tenant by name; or the one of this name."""

    @calls(lambda rows: store_of(rows[0]) if rows else None, name="of_name")
    async def find_store(self, caller: Caller, name: str) -> StoredFileStore | None:
        """Return a store with its secret, encrypted, to try it."""

    @calls(truth, name="of_name")
    async def remove_store(self, caller: Caller, name: str) -> bool:
        """Forget a store; return whether there was one."""
