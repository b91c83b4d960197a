"""Running queries of the language: one transaction that only reads, with a time limit.

The statement itself runs with the rights of the login, behind the tenant's wall (ADR 12).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

import asyncpg

from weft.core.batch_order import BatchOrder, BatchPlace, BatchSort
from weft.core.errors import QueryTooSlow
from weft.core.query.reach import OfGroup, check_width, reach_of
from weft.ports.store import BatchQuery, Caller, JobEntry, JobQuery, QueryLimits, Row
from weft.ports.store.queries import NEWEST
from weft.store.database import Database, StorePart, call_on, fetch_on
from weft.store.declared import calls
from weft.store.documents import batch_document, entry_of, with_words
from weft.store.query_sql import Statement, select_batches, select_jobs, sort_batches
from weft.store.turns import Turns, user_of

Result = TypeVar("Result")
QUERIES_AT_ONCE: Final = 4
"""Per process: half of its connections stay free for quick calls."""


class BatchDocuments(StorePart):
    """Documents of batches that somebody has found."""

    @calls(lambda rows: [batch_document(row[0]) for row in rows], "get_batches")
    async def read_batches(self, caller: Caller, batch_ids: Sequence[int]) -> Sequence[Row]:
        """Return the documents of those of these batches that the caller sees, newest first."""


class Queries(BatchDocuments):
    """Pages of documents, all of one moment.

    Each method raises `QueryTooSlow` if it takes too long, the ones for jobs `QueryTooWide` if too
    many would be read.
    """

    _querying: asyncio.Semaphore
    _searches: Turns

    async def query_jobs(self, caller: Caller, batch_id: int, query: JobQuery) -> Sequence[Row]:
        """Return job documents. Raise `BatchNotFound`, `GroupNotFound`."""

        async def work(connection: asyncpg.Connection) -> Sequence[Row]:
            found = await job_ids(connection, caller, batch_id, query)
            if not found:
                return []
            rows = await call_on(
                connection, "get_jobs", caller=caller, batch_id=batch_id, job_ids=found
            )
            return [with_words(row[0]) for row in rows]

        return await self._within(caller, query.limits, work)

    async def query_job_entries(
        self, caller: Caller, batch_id: int, query: JobQuery
    ) -> Sequence[JobEntry]:
        """Return entries of the jobs that match, as `list_job_entries` does."""

        async def work(connection: asyncpg.Connection) -> Sequence[JobEntry]:
            found = await job_ids(connection, caller, batch_id, query)
            if not found:
                return []
            rows = await call_on(
                connection,
                "list_job_entries",
                caller=caller,
                batch_id=batch_id,
                after=0,
                limit_rows=len(found),
                of_job_ids=found,
            )
            return [entry_of(row) for row in rows]

        return await self._within(caller, query.limits, work)

    async def explain_jobs(self, caller: Caller, batch_id: int, query: JobQuery) -> Row:
        """Return `{sql, plan: [lines]}` of the same query, which is not run."""

        async def work(connection: asyncpg.Connection) -> Row:
            return await _explain(
                connection, await _job_statement(connection, caller, batch_id, query)
            )

        return await self._within(caller, query.limits, work)

    async def query_batches(self, caller: Caller, query: BatchQuery) -> Sequence[Row]:
        """Return batch documents, newest first."""
        return await self._within(
            caller, query.limits, lambda connection: found_batches(connection, caller, query)
        )

    async def sort_batches(
        self, caller: Caller, wanted: BatchQuery
    ) -> tuple[Sequence[Row], BatchPlace | None]:
        """Return batch documents in the order that the query names, and the place after which the
        next page begins; None: it is the last page.
        """

        async def work(connection: asyncpg.Connection) -> tuple[Sequence[Row], BatchPlace | None]:
            found = await batch_rows(connection, caller, wanted)
            documents = {one["id"]: one for one in await _batches_of(connection, caller, found)}
            rows = [documents[row[0]] for row in found if row[0] in documents]
            is_last = len(found) < wanted.limit
            return rows, None if is_last else BatchPlace(found[-1][1], found[-1][0])

        return await self._within(caller, wanted.limits, work)

    async def explain_batches(self, caller: Caller, query: BatchQuery) -> Row:
        """Return `{sql, plan: [lines]}` of the same query, which is not run."""

        async def work(connection: asyncpg.Connection) -> Row:
            return await _explain(connection, await _batch_statement(connection, caller, query))

        return await self._within(caller, query.limits, work)

    async def _within(
        self,
        caller: Caller,
        limits: QueryLimits,
        work: Callable[[asyncpg.Connection], Awaitable[Result]],
    ) -> Result:
        """Run it when it is its turn."""
        async with self._searches.of(user_of(caller)), self._querying:
            return await read_within(self._database, limits, work, caller)


async def read_within(
    database: Database,
    limits: QueryLimits,
    work: Callable[[asyncpg.Connection], Awaitable[Result]],
    caller: Caller | None = None,
) -> Result:
    """Run it in a transaction that only reads. Raise `QueryTooSlow` when its time is over."""

    async def timed(connection: asyncpg.Connection) -> Result:
        try:
            return await work(connection)
        except asyncpg.QueryCanceledError as error:
            raise QueryTooSlow(
                "the query took too long",
                detail=f"It was stopped after {limits.timeout_s:g} s (setting {limits.setting}).",
                hint="Narrow it: a range (`job_id < …`, `batch_id > …`), an exact name, a group; "
                "and ask for fewer rows (`limit`).",
            ) from error

    return await database.reading(timed, caller)


async def job_ids(
    connection: asyncpg.Connection, whose: Caller | int, batch_id: int, query: JobQuery
) -> list[int]:
    """Return the numbers of the jobs that match. The transaction belongs to this query.

    whose: who asks; a number: the driver, for this tenant.
    """
    statement = await _job_statement(connection, whose, batch_id, query)
    rows = await fetch_on(connection, "query_jobs", statement.text, statement.values)
    return [row[0] for row in rows]


async def _job_statement(
    connection: asyncpg.Connection, whose: Caller | int, batch_id: int, query: JobQuery
) -> Statement:
    """Prepare the transaction, and refuse a query that would read too much."""
    by_path = isinstance(query.group, str)
    (row,) = await call_on(
        connection,
        "begin_query",
        **({"tenant_id": whose} if isinstance(whose, int) else {"caller": whose}),
        batch_id=batch_id,
        of_group=None if by_path else query.group,
        of_path=query.group if by_path else None,
        timeout_ms=round(query.limits.timeout_s * 1000),
    )
    group = None
    if row["group_id"] is not None:
        numbers = None if row["numbers"] is None else tuple(row["numbers"])
        group = OfGroup(row["group_id"], numbers, row["n_jobs"])
    reach = reach_of(query.query, group)
    check_width(reach, row["last_job"], scan_jobs_max=query.limits.scan_jobs_max)
    return select_jobs(query.query, reach, batch_id=batch_id, after=query.after, limit=query.limit)


async def begin_query(connection: asyncpg.Connection, caller: Caller, timeout_ms: int) -> None:
    """Bound what a query about batches takes."""
    nothing = {"batch_id": None, "of_group": None, "of_path": None}
    await call_on(connection, "begin_query", caller=caller, timeout_ms=timeout_ms, **nothing)


async def batch_rows(
    connection: asyncpg.Connection, caller: Caller, query: BatchQuery
) -> Sequence[asyncpg.Record]:
    """Return the numbers of the batches that match; in an order, each with what it is sorted by.
    The transaction belongs to this query.
    """
    statement = await _batch_statement(connection, caller, query)
    return await fetch_on(connection, "query_batches", statement.text, statement.values)


async def found_batches(
    connection: asyncpg.Connection, caller: Caller, query: BatchQuery
) -> Sequence[Row]:
    """Return the documents of the batches that match. The transaction belongs to this query."""
    return await _batches_of(connection, caller, await batch_rows(connection, caller, query))


async def _batches_of(
    connection: asyncpg.Connection, caller: Caller, found: Sequence[asyncpg.Record]
) -> Sequence[Row]:
    if not found:
        return []
    ids = [row[0] for row in found]
    rows = await call_on(connection, "get_batches", caller=caller, batch_ids=ids)
    return [batch_document(row[0]) for row in rows]


async def _batch_statement(
    connection: asyncpg.Connection, caller: Caller, query: BatchQuery
) -> Statement:
    timeout_ms = round(query.limits.timeout_s * 1000)
    order, after, before = query.order, query.after, query.before
    if order is None and not caller.sees_tenant and not query.is_short:
        # Among the tenant's they might see few.
        order = BatchOrder(BatchSort.NUMBER)
        after = None if before is None else BatchPlace(before, before)
    if order is not None:
        await call_on(connection, "begin_ordered_query", caller=caller, timeout_ms=timeout_ms)
        return sort_batches(
            query.query,
            order=order,
            after=after,
            limit=query.limit,
            hidden=query.hidden,
            of_user=None if caller.sees_tenant else caller.user_id,
        )
    await begin_query(connection, caller, timeout_ms)
    before = NEWEST if before is None else before
    return select_batches(query.query, before=before, limit=query.limit, hidden=query.hidden)


async def _explain(connection: asyncpg.Connection, statement: Statement) -> dict[str, Any]:
    """Return the plan without costs, which would reveal other tenants' rows."""
    text = f"EXPLAIN (COSTS OFF) {statement.text}"
    rows = await fetch_on(connection, "explain_query", text, statement.values)
    return {"sql": statement.text, "plan": [row[0] for row in rows]}
