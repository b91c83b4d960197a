"""The part of `ApiStore` for jobs that doors keep with documents of their own."""

import asyncio
from collections.abc import Sequence
from typing import Final

import asyncpg

from weft.core.query.tree import EVERYTHING
from weft.ports.store import Caller, Row
from weft.ports.store.door_jobs import DoorJobQuery
from weft.store.database import StorePart, call_on, fetch_on
from weft.store.declared import calls, value
from weft.store.queries import read_within
from weft.store.query_sql import select_door_jobs
from weft.store.turns import Turns, user_of

_ENDED_MAX: Final = 5000
"""Batches that are looked at one by one; of more, a page is found in the order of a list."""


class DoorJobs(StorePart):
    """Jobs of doors, for whom they are: the owner, those to whom they were granted, and whoever
    sees the tenant. Members of their billing projects do not see them here.
    """

    _querying: asyncio.Semaphore
    _searches: Turns

    @calls(value, hidden="with_hidden")
    async def find_door_job(
        self, caller: Caller, door: str, foreign_id: str, *, hidden: bool
    ) -> Row | None:
        """Return a job by the id of the door, with what happened to it; `hidden`: also if lists
        leave it out. None: there is none for the caller. Raise `PermissionMissing` if what they
        were granted is not what the caller needs.
        """

    async def list_door_jobs(self, caller: Caller, query: DoorJobQuery) -> Sequence[Row]:
        """Return the caller's own jobs and those granted to them, as `find_door_job` does. Raise
        `QueryTooSlow`.
        """

        async def work(connection: asyncpg.Connection) -> Sequence[Row]:
            ids = await ids_of_door_jobs(connection, caller, query)
            if not ids:
                return []
            found = await call_on(connection, "get_door_jobs", caller=caller, batch_ids=ids)
            return [row[0] for row in found]

        if query.sort_key is None and query.query is EVERYTHING:
            return await read_within(self._database, query.limits, work, caller)
        async with self._searches.of(user_of(caller)), self._querying:
            return await read_within(self._database, query.limits, work, caller)


async def ids_of_door_jobs(
    connection: asyncpg.Connection, caller: Caller, query: DoorJobQuery
) -> list[int]:
    """Return the numbers of the batches of a page. The transaction belongs to this query."""
    begin = {"caller": caller, "timeout_ms": round(query.limits.timeout_s * 1000)}
    among = await _ended_then(connection, caller, query)
    if query.sort_key is None and among is None:
        await call_on(connection, "begin_ordered_query", **begin)
    else:
        nothing = {"batch_id": None, "of_group": None, "of_path": None}
        await call_on(connection, "begin_query", **begin, **nothing)
    statement = select_door_jobs(query, of_user=caller.user_id, among=among)
    rows = await fetch_on(connection, "query_door_jobs", statement.text, statement.values)
    return [row[0] for row in rows]


async def _ended_then(
    connection: asyncpg.Connection, caller: Caller, query: DoorJobQuery
) -> Sequence[int] | None:
    """Return all batches of own jobs that may have ended when it is wanted; None: they are many,
    or it does not matter.
    """
    if query.ended is None:
        return None
    since, until = query.ended
    (row,) = await call_on(
        connection, "list_ended_door_jobs", caller=caller, door=query.door,
        of_user_id=caller.user_id, since=since, until=until, limit_rows=_ENDED_MAX,
    )  # fmt: skip
    found: Sequence[int] | None = row[0]
    return found
