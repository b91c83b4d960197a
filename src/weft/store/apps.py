"""The part of `ApiStore` for applications, and the jobs that doors made."""

import asyncio
from collections.abc import Sequence
from typing import Final

import asyncpg

from weft.core.query.tree import EVERYTHING
from weft.ports.store import Caller, Row
from weft.ports.store.offers import DoorJobQuery
from weft.ports.store.submitted import NewApp
from weft.store.database import StorePart, call_on, fetch_on
from weft.store.declared import calls, documents, nothing, parts, records, user_id, value
from weft.store.queries import read_within
from weft.store.query_sql import select_door_jobs
from weft.store.turns import Turns, user_of
from weft.wire.payload import PART_BYTES


class Apps(StorePart):
    """The applications of a tenant, and their packed folders, in parts.

    Jobs of doors, for whom they are: the owner, those to whom they were granted, and whoever
    sees the tenant. Members of their billing projects do not see them here.
    """

    @calls(nothing, user_id=user_id)
    async def add_app_part(
        self, caller: Caller, digest: bytes, part: int, body: bytes, *, n_bytes: int
    ) -> None:
        """Keep a part of a folder of `n_bytes`; one that is there stays. Raise `QuotaExceeded`."""

    @calls(
        lambda rows: (rows[0]["n_bytes"], rows[0]["body"]) if rows else None,
        digest="of_digest",
        part="of_part",
    )
    async def read_app_part(
        self, caller: Caller, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        """Return the length of a folder, and this part of it; None: there is no such part."""

    @calls(
        value,
        user_id=user_id,
        part_bytes=lambda: PART_BYTES,
        **parts(
            "new",
            "for_user",
            of_name="name",
            of_digest="digest",
            of_bytes="n_bytes",
            of_description="description",
        ),
    )
    async def save_app(self, caller: Caller, new: NewApp, *, apps_max: int) -> Row:
        """Make a folder what new jobs of this application get; return its document, in which
        `changed` says whether it was another one. Raise `UserNotFound`, `TooManyApps`,
        `AppIncomplete`: then nothing changed.
        """

    @calls(records, user_id=user_id)
    async def find_apps(self, caller: Caller, names: Sequence[str]) -> Sequence[Row]:
        """Return `name`, `revision_id`, `digest` and `description` of those the caller may run."""

    @calls(documents, user_id=user_id)
    async def list_apps(self, caller: Caller, *, sees_all: bool) -> Sequence[Row]:
        """Return the applications that the caller may run, or all of the tenant."""

    @calls(value, name="of_name", user_id=user_id)
    async def get_app(self, caller: Caller, name: str, *, sees_all: bool) -> Row:
        """Return an application with its description. Raise `AppNotFound`."""

    @calls(nothing, name="of_name")
    async def remove_app(self, caller: Caller, name: str, *, for_user: str | None) -> None:
        """Forget an application; jobs that have it go on. Raise `AppNotFound`, `UserNotFound`."""

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
