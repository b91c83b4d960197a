"""Jobs of doors, in the api's store."""

import asyncio
from collections.abc import Sequence
from typing import Final

import asyncpg

from weft.core.query.tree import EVERYTHING
from weft.ports.store import Caller, ForeignJobs, Row
from weft.ports.store.offers import DoorJobQuery
from weft.store.database import StorePart, call_on, fetch_on
from weft.store.declared import (
    calls,
    parts,
    value,
)
from weft.store.queries import read_within
from weft.store.query_sql import select_door_jobs
from weft.store.turns import Turns, user_of


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


_ENDED_MAX: Final = 5000
"""Batches that are looked at one by one; of more, a page is found in the order of a list."""


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
    """Return all batches of own jobs that may have ended as it is wanted; None: they are many,
    or it does not matter.
    """
    if query.ended is None:
        return None
    since, until, states = query.ended
    (row,) = await call_on(
        connection,
        "list_ended_door_jobs",
        caller=caller,
        door=query.door,
        of_user_id=caller.user_id,
        states=states,
        since=since,
        until=until,
        limit_rows=_ENDED_MAX,
    )
    found: Sequence[int] | None = row[0]
    return found
