"""What the login of the api may do, by the catalogue of PostgreSQL, and arguments for it."""

import json
import random
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

import asyncpg

from api.full_tenant import FullTenant

TOUCHED = "XXA13"
"""The code of the error that a tripwire raises."""


@dataclass(frozen=True)
class Parameter:
    """One of a function: its name, the type of an element, and how it is wrapped."""

    name: str
    type_: str
    is_array: bool
    fields: Sequence["Parameter"] = ()


_FUNCTIONS = """
    SELECT p.proname, p.proargnames[1:p.pronargs] AS names, p.proargtypes::oid[] AS types,
        p.pronargdefaults
    FROM pg_proc p WHERE p.pronamespace = 'weft'::regnamespace
      AND has_function_privilege('weft_api', p.oid, 'EXECUTE') ORDER BY 1
"""
_TYPE = """
    SELECT t.typname, t.typcategory::text, t.typelem, t.typrelid FROM pg_type t WHERE t.oid = $1
"""
_FIELDS = """
    SELECT a.attname, a.atttypid FROM pg_attribute a
    WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_TABLES = """
    SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
        array_agg(a.attname::text) FILTER (
            WHERE has_column_privilege('weft_api', c.oid, a.attnum, 'SELECT')) AS readable
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
        AND NOT a.attisdropped
    WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p')
    GROUP BY c.oid, c.relname ORDER BY 1
"""


class Catalogue:
    """What the login of the api may do, and the values that there are to do it with."""

    def __init__(self, admin: asyncpg.Connection) -> None:
        self._admin = admin
        self.functions: dict[str, list[Parameter]] = {}
        self.tables: dict[str, Sequence[str]] = {}
        self.read: dict[str, Sequence[str]] = {}
        """Columns that may be read, by table."""

    async def load(self) -> None:
        for row in await self._admin.fetch(_TABLES):
            self.tables[row["relname"]] = row["columns"]
            if row["readable"]:
                self.read[row["relname"]] = row["readable"]
        for row in await self._admin.fetch(_FUNCTIONS):
            names = row["names"] or []
            found = [
                await self._parameter(name, oid)
                for name, oid in zip(names, row["types"], strict=True)
            ]
            assert row["proname"] not in self.functions  # one form would hide the other
            kept = [one for one in found if one.name != "at"]  # only the owner may pass it
            self.functions[row["proname"]] = kept

    async def _parameter(self, name: str, oid: int) -> Parameter:
        row = await self._admin.fetchrow(_TYPE, oid)
        is_array = row["typcategory"] == "A"
        if is_array:
            row = await self._admin.fetchrow(_TYPE, row["typelem"])
        fields: Sequence[Parameter] = ()
        if row["typrelid"]:
            fields = [
                await self._parameter(field["attname"], field["atttypid"])
                for field in await self._admin.fetch(_FIELDS, row["typrelid"])
            ]
        return Parameter(name, row["typname"], is_array, fields)

    async def rows_of(self, tenant: FullTenant) -> dict[str, list[Mapping[str, Any]]]:
        """Return rows of a tenant, by table."""
        return {
            table: [
                dict(row)
                for row in await self._admin.fetch(
                    f"SELECT * FROM weft.{table} WHERE tenant_id = $1 LIMIT 20",  # noqa: S608
                    tenant.tenant_id,
                )
            ]
            for table, columns in self.tables.items()
            if "tenant_id" in columns
        } | {
            "worker": [
                {"name": tenant.ids["w"], "pool": one}
                for one in (tenant.ids["pools/{p}"], "default")
            ]
        }


FILTERS = ("of_", "after", "before", "since", "as_of", "within_group", "cause_id")
"""What begins so may be NULL."""
SYNONYMS = {
    "after": "batch_id",
    "before": "batch_id",
    "by_token": "token_id",
    "of_session": "token_id",
    "of_token_id": "token_id",
    "by_user_id": "user_id",
    "cause_id": "cause_id",
    "of_path": "path",
    "first_jobs": "first_job",
    "within_group": "group_id",
    "of_group": "group_id",
    "of_hash": "token_hash",
    "code_hash": "token_hash",
    "of_scopes": "scopes",
    "owner": "user_id",
    "of_user": "name",
    "billing_project": "name",
    "query": "query",
    "of_number": "number",
    "after_batch": "batch_id",
    "after_cause": "cause_id",
    "after_job": "job_id",
}
"""Columns that hold what a parameter means, where its name does not say so."""
LARGE = {
    "limit",
    "limit_rows",
    "limit_jobs",
    "groups_max",
    "sets_max",
    "tokens_max",
    "attributes_max",
    "depth_max",
    "sessions_max",
    "secrets_max",
    "schedules_max",
    "limit_attempts",
    "limit_days",
    "timeout_ms",
}


class Draws:
    """Draws arguments: of the tenant that is looked at, and of the one that looks."""

    def __init__(
        self, rng: random.Random, theirs: Mapping[str, list[Any]], ours: Mapping[str, list[Any]]
    ) -> None:
        self._rng = rng
        self._rows = {"theirs": theirs, "ours": ours}
        self.texts: set[str] = set()
        """What was drawn: it may be said again."""
        self._focus: Mapping[str, Any] = {}
        self._about: set[str] = set()

    def arguments(
        self, function: str, parameters: Sequence[Parameter], tenant_id: int
    ) -> list[Any]:
        """Draw the arguments of one call; the tenant is fixed."""
        self.texts = set()
        self._about = set(function.split("_"))
        rows = [row for found in self._rows["theirs"].values() for row in found]
        self._focus = self._rng.choice(rows)
        return [
            tenant_id if one.name.endswith("tenant_id") else self._draw(one) for one in parameters
        ]

    def _draw(self, one: Parameter) -> Any:  # noqa: ANN401
        if one.is_array:
            if one.name == "names" and self._rng.random() < 0.4:
                return None  # all
            return [self._value(one) for _ in range(self._rng.choice((1, 1, 2)))]
        return self._value(one)

    def _value(self, one: Parameter) -> Any:  # noqa: ANN401
        if one.fields:
            return tuple(self._draw(field) for field in one.fields)
        if one.name.startswith(FILTERS) and self._rng.random() < 0.4:
            return None  # all
        whose = "theirs" if self._rng.random() < 0.75 else "ours"
        value = self._of_column(one, whose)
        self._note(value)
        return value

    def _note(self, value: Any) -> None:  # noqa: ANN401
        if isinstance(value, str):
            self.texts.add(value)
        elif isinstance(value, int):
            self.texts.add(str(value))
        elif isinstance(value, bytes):
            self.texts.add(repr(value)[2:-1])
        elif isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                self._note(part)

    def _of_column(self, one: Parameter, whose: str) -> Any:  # noqa: ANN401
        rng = self._rng
        if one.name in LARGE:
            return 100_000 if one.type_ != "int2" else 1000
        if one.type_ == "jsonb":
            return self._json(self._rows[whose])
        if "role" in one.name or "give" in one.name:
            return rng.choice(("tenant-admin", "user"))
        name = one.name.removeprefix("of_").removeprefix("new_")
        names = {SYNONYMS.get(one.name, name), name, name.removesuffix("s")}
        if name not in SYNONYMS and self._focus.keys() & names and rng.random() < 0.6:
            (found, *_) = sorted(self._focus.keys() & names)
            if _fits(self._focus[found], one.type_):
                return self._focus[found]
        for about in (frozenset(self._about | {*one.name.split("_")}), frozenset[str]()):
            values = self._values(whose, frozenset(names), about, one.type_)
            if values and rng.random() < 0.8:
                return rng.choice(values)
        return self._any(one.type_)

    @cache  # noqa: B019 (it lives as long as its test)
    def _values(
        self, whose: str, names: AbstractSet[str], about: AbstractSet[str], type_: str
    ) -> Sequence[Any]:
        """Return what columns hold, of tables that have to do with it; no word: of all."""
        return [
            row[column]
            for table, found in self._rows[whose].items()
            if not about or about & set(table.split("_"))
            for row in found
            for column in sorted(names & row.keys())
            if _fits(row[column], type_)
        ]

    def _json(self, rows: Mapping[str, list[Any]]) -> Any:  # noqa: ANN401
        row = self._rng.choice([row for found in rows.values() for row in found])
        document = json.loads(json.dumps(dict(row), default=str))
        return self._rng.choice(({}, [document], document))

    def _any(self, type_: str) -> Any:  # noqa: ANN401
        rng = self._rng
        now = datetime.now(UTC)
        made: dict[str, Any] = {
            "bool": rng.random() < 0.5,
            "text": rng.choice(("", "all", "operator", "read")),
            "bytea": rng.randbytes(32),
            "uuid": UUID(int=rng.getrandbits(128)),
            "float8": rng.choice((0.0, 60.0)),
            "numeric": 1,
            "date": now.date(),
            "timestamptz": now + timedelta(hours=rng.choice((-1, 1))),
            "interval": timedelta(1),
        }
        return made.get(type_, rng.choice((0, 1, 2, 100)))


_PYTHON: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,),
    "text": (str,),
    "bytea": (bytes,),
    "uuid": (UUID,),
    "int2": (int,),
    "int4": (int,),
    "int8": (int,),
    "float8": (float, int),
    "timestamptz": (datetime,),
}
_MOST = {"int2": 1 << 15, "int4": 1 << 31, "int8": 1 << 63}


def _fits(value: Any, type_: str) -> bool:  # noqa: ANN401
    if not isinstance(value, _PYTHON.get(type_, ())) or isinstance(value, bool) != (
        type_ == "bool"
    ):
        return False
    return not isinstance(value, int) or abs(value) < _MOST.get(type_, 2)


_TRIPWIRE = """
    CREATE FUNCTION weft.tripwire() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE v_row jsonb;
    BEGIN
        FOREACH v_row IN ARRAY ARRAY[to_jsonb(OLD), to_jsonb(NEW)] LOOP
            IF (CASE WHEN v_row ? 'tenant_id' THEN (v_row ->> 'tenant_id')::bigint = {tenant}
                ELSE (v_row ->> 'serves_tenant_id')::bigint = {tenant}
                    OR (v_row ->> 'batch_id')::bigint BETWEEN {first} AND {last}
                    OR (v_row ->> 'user_id')::bigint BETWEEN {first} AND {last} END)
            THEN
                RAISE EXCEPTION 'a row of % was touched', TG_TABLE_NAME USING ERRCODE = '{code}';
            END IF;
        END LOOP;
        RETURN coalesce(NEW, OLD);
    END $$;
"""


async def set_tripwires(
    admin: asyncpg.Connection, tables: Mapping[str, Sequence[str]], tenant_id: int, numbers: range
) -> None:
    """Let each change of a row of a tenant raise an error of its own. `numbers`: the tenant's."""
    tripwire = _TRIPWIRE.format(tenant=tenant_id, first=numbers[0], last=numbers[-1], code=TOUCHED)
    await admin.execute(tripwire)
    for table, columns in tables.items():
        if {"tenant_id", "batch_id", "user_id", "serves_tenant_id"} & set(columns):
            await admin.execute(
                f"CREATE TRIGGER aaa_tripwire BEFORE INSERT OR UPDATE OR DELETE ON weft.{table} "
                "FOR EACH ROW EXECUTE FUNCTION weft.tripwire()"
            )


COUNTS = ("user_count", "user_minute")
"""Tables of which functions that no row security limits tell nothing but sums."""


async def raise_counts(
    admin: asyncpg.Connection, tables: Mapping[str, Sequence[str]], tenant_id: int, by: int
) -> None:
    """Let a sum in which a tenant counts look like a number of that tenant."""
    for table in COUNTS:
        raised = ", ".join(f"{one} = {one} + {by}" for one in tables[table] if one[:2] == "n_")
        changed = await admin.execute(
            f"UPDATE weft.{table} SET {raised} WHERE tenant_id = $1",  # noqa: S608
            tenant_id,
        )
        assert changed != "UPDATE 0", table


class Session:
    """Calls functions as the api, each in a transaction that leaves nothing behind."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def outcome(self, name: str, names: Sequence[str], arguments: Sequence[Any]) -> str:
        """Return the answer as text, or the code of the error."""
        listed = ", ".join(f"{one} => ${n}" for n, one in enumerate(names, 1))
        transaction = self._connection.transaction()
        await transaction.start()
        try:
            # Of nobody in particular, who may do all: as if the code had checked nothing.
            await self._connection.execute(
                "SELECT set_config('weft.user', '', true), set_config('weft.needs', '1', true)"
            )
            statement = f"SELECT * FROM weft.{name}({listed})"  # noqa: S608 (of the catalogue)
            rows = await self._connection.fetch(statement, *arguments)
            await self._connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
            return str([dict(row) for row in rows])
        except asyncpg.PostgresError as error:
            return f"!{error.sqlstate}"
        finally:
            await transaction.rollback()
