"""Databases that are used again: emptied back to what a fresh copy of the template holds.

To copy and to open a database costs most tests more than they do. One that was changed in another
way than by rows, or that has grown, is not used again: `restore` says so, and it is dropped.
"""

# ruff: noqa: S608 (names of our own)

from collections.abc import Collection

import asyncpg

GROWTH_MAX_BYTES = 8 << 20
_CATALOGS = (
    "pg_proc",
    "pg_class",
    "pg_attribute",
    "pg_attrdef",
    "pg_constraint",
    "pg_trigger",
    "pg_index",
    "pg_namespace",
    "pg_default_acl",
    "pg_extension",
    "pg_statistic",
    "pg_statistic_ext",
    "pg_rewrite",
    "pg_type",
    "pg_policy",
    "pg_description",
    "pg_collation",
    "pg_cast",
    "pg_enum",
    "pg_operator",
    "pg_event_trigger",
    "pg_publication",
    "pg_largeobject_metadata",
    "pg_inherits",
)
_NEWEST = "age('3'::xid) - nullif(min(age(xmin)), 2147483647)"
"""The last transaction that made a row, without a text for each; rows of initdb have no age."""
_SHAPE = (
    "SELECT concat_ws(';', "
    + ", ".join(
        f"(SELECT concat(count(*), ' ', {_NEWEST}) FROM pg_catalog.{name})" for name in _CATALOGS
    )
    + ", (SELECT concat(sum(reltuples), ' ', sum(relpages)) FROM pg_class"
    "     WHERE oid >= 16384 AND relkind <> 'S')"
    ", (SELECT string_agg(setconfig::text, ',') FROM pg_db_role_setting"
    "   WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()))"
    ", (SELECT concat(datacl, datconnlimit, datallowconn) FROM pg_database"
    "   WHERE datname = current_database()))"
    ", pg_database_size(current_database())"
)  # a change of the schema, of rights, of settings or of what the planner knows
RELATIONS = """
    SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relkind = 'S' AS is_sequence
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'S') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    ORDER BY 1
"""
_END_OTHERS = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL ($1)
"""


class Recycled:
    """A database and what it held when it was fresh, on a connection of the superuser."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, dsn: str) -> "Recycled":
        """Connect to a fresh database, and look at it."""
        result = cls(await asyncpg.connect(dsn))
        await result.note()
        return result

    async def note(self) -> None:
        """Look at the fresh database."""
        # No trigger refuses or repeats what is undone.
        await self._connection.execute("SET session_replication_role = replica")
        relations = await self._connection.fetch(RELATIONS)
        tables = [row["name"] for row in relations if not row["is_sequence"]]
        every = " UNION ALL ".join(f"SELECT '{name}', t::text FROM {name} t" for name in tables)
        self._held: dict[str, list[str]] = {}
        for name, row_text in await self._connection.fetch(f"{every} ORDER BY 1, 2"):
            self._held.setdefault(name, []).append(row_text)
        # One answer tells all, as it is asked for before each test.
        self._rows = " UNION ALL ".join(
            f"SELECT '{name}', t::text FROM {name} t"
            if name in self._held
            else f"SELECT '{name}', NULL WHERE EXISTS (TABLE {name})"
            for name in tables
        )
        self._numbers = " UNION ALL ".join(
            f"SELECT '{row['name']}' AS name, last_value, is_called FROM {row['name']}"
            for row in relations
            if row["is_sequence"]
        )
        self._fresh_numbers = set(await self._connection.fetch(self._numbers))
        self._fresh_shape, self._fresh_bytes = await self._connection.fetchrow(_SHAPE)

    async def restore(self, idle: Collection[int] = ()) -> bool:
        """Make it as it was and say whether that was possible. All sessions but idle ones end."""
        try:
            is_restored = await self._restore(idle)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            is_restored = False  # a test may end all sessions, or stop the server
        if not is_restored:
            self.close()
        return is_restored

    async def _restore(self, idle: Collection[int]) -> bool:
        await self._connection.fetch(_END_OTHERS, idle)
        shape, size = await self._connection.fetchrow(_SHAPE)
        if shape != self._fresh_shape or size > self._fresh_bytes + GROWTH_MAX_BYTES:
            return False
        rows: dict[str, list[str]] = {name: [] for name in self._held}
        for name, row_text in await self._connection.fetch(f"{self._rows} ORDER BY 1, 2"):
            rows.setdefault(name, []).append(row_text)
        filled = [name for name in rows if name not in self._held]
        changed = [name for name, held in self._held.items() if rows[name] != held]
        async with self._connection.transaction():
            if filled or changed:
                await self._connection.execute(
                    "; ".join(f"DELETE FROM {name}" for name in [*filled, *changed])
                )
            for name in changed:
                await self._connection.execute(
                    f"INSERT INTO {name} OVERRIDING SYSTEM VALUE"
                    f" SELECT (row_text::{name}).* FROM unnest($1::text[]) row_text",
                    self._held[name],
                )
            numbers = set(await self._connection.fetch(self._numbers)) - self._fresh_numbers
            fresh = {name: rest for name, *rest in self._fresh_numbers}
            for name, *_ in numbers:
                await self._connection.execute(
                    "SELECT setval($1::text, $2, $3)", name, *fresh[name]
                )
        return True

    def close(self) -> None:
        """End the connection; the database stays as it is."""
        self._connection.terminate()
