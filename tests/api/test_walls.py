"""Between tenants the database refuses by itself, whatever the code forgets.

Two properties, each over all there is: everything that the login of the api may call or read, and
every route, with the checks of the code switched off.
"""

import json
import random
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pytest

from api.full_tenant import FullTenant, fill, move_sequences
from api.live import LiveApi
from api.test_deletion import BODIES
from weft.core.rights import Right
from weft.store.database import prepare_connection

pytestmark = pytest.mark.slow
CANARY, WORD = "canary", "usual"
DRAWS, DRAWS_OF_ONES_OWN = 24, 200
TOUCHED = "XXA13"
OURS, THEIRS = 300_000, 700_000
"""Where their numbers begin."""
NUMBER = re.compile(r"\b7000\d\d\b")
"""A number of theirs."""

WITHOUT_TENANT = {
    "admit_user": "the issuer of a web token names the tenant, by configuration",
    "authenticate": "a token is the proof",
    "authenticate_v2": "a token is the proof",
    "authenticate_v3": "a token is the proof",
    "check_login": "of this connection alone",
    "cordon_worker": "of administrators of the site",
    "create_tenant": "of administrators of the site",
    "drain_worker": "of administrators of the site",
    "events_now": "a position in time, and nothing of an event",
    "licence_limits": "licences are the site's",
    "list_licences": "licences are the site's",
    "list_machines": "of a pool that the caller was shown before",
    "list_pool_changes": "of a pool that the caller was shown before",
    "list_pool_costs": "of a pool that the caller was shown before",
    "list_pools": "of the previous release, in which pools were everybody's",
    "list_rates": "prices are the site's",
    "list_stale_secrets": "of administrators of the site; the values are encrypted",
    "list_tenants": "of administrators of the site",
    "live_jobs": "the tenant is the one of the transaction",
    "may_see": "asked about rows that row security has let through",
    "list_whole_trail": "of administrators of the site",
    "next_schedule_run": "each api runs the schedules of all tenants",
    "open_session": "the code of a login link is the proof",
    "pool_limits": "amounts of pools, by number",
    "pool_offers": "amounts of pools, by number",
    "record_request": "adds an entry to the trail, and the api says whose it is",
    "remove_licence": "licences are the site's",
    "reseal_secrets": "of administrators of the site",
    "save_pools": "of administrators of the site",
    "schema_range": "of the installation",
    "set_licence": "licences are the site's",
    "take_schedule_runs": "each api runs the schedules of all tenants",
    "uncordon_worker": "of administrators of the site",
    "wait_for_events": "a listener of this api",
}
"""Functions that no tenant limits, and why that is right."""

PREVIOUS = {"get_worker", "list_workers", "overview"}
"""Functions that the previous release calls, in which pools were everybody's: they go with it."""
UNREACHED = {
    "add_schedule": "its document names fields that no row has",
    "create_batch_v2": "its document names fields that no row has",
    "resubmit_batch": "of the changes that are drawn hardly any makes a sound batch",
}
"""Functions of which hardly any draw is sound, and why; other tests call them."""
EMPTY = {
    "attempt_stop", "attempt_watch", "block_request", "cascade", "group_bunch", "held_ready",
    "late_job", "parent_end", "place", "preemption", "queue_count", "removed_usage",
    "resubmitted_span",
}  # fmt: skip
"""Tables that only rare situations fill, or that are empty most of the time."""

SHARED = {
    "pool": "its name is shown to whom it serves: list_pools_v2 decides",
    "worker": "as its pool",
    "worker_incarnation": "as its pool",
}
"""Tables without a tenant, in which names of a tenant may stand."""


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
        has_table_privilege('weft_api', c.oid, 'SELECT') AS is_read
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
        self.read: list[str] = []

    async def load(self) -> None:
        for row in await self._admin.fetch(_TABLES):
            self.tables[row["relname"]] = row["columns"]
            if row["is_read"]:
                self.read.append(row["relname"])
        for row in await self._admin.fetch(_FUNCTIONS):
            names = row["names"] or []
            found = [
                await self._parameter(name, oid)
                for name, oid in zip(names, row["types"], strict=True)
            ]
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
        } | {"worker": [{"name": tenant.ids["w"], "pool": tenant.ids["pools/{p}"]}]}


FILTERS = ("of_", "after", "before", "since")
"""What begins so may be NULL."""
SYNONYMS = {
    "after": "batch_id", "before": "batch_id", "by_token": "token_id", "of_session": "token_id",
    "of_token_id": "token_id", "by_user_id": "user_id", "cause_id": "cause_id", "of_path": "path",
    "first_jobs": "first_job", "within_group": "group_id", "of_group": "group_id",
    "of_hash": "token_hash", "code_hash": "token_hash", "of_scopes": "scopes", "owner": "user_id",
    "of_user": "name", "billing_project": "name", "query": "query", "of_number": "number",
    "after_batch": "batch_id", "after_cause": "cause_id", "after_job": "job_id",
}  # fmt: skip
"""Columns that hold what a parameter means, where its name does not say so."""
LARGE = {"limit", "limit_rows", "limit_jobs", "groups_max", "sets_max", "tokens_max",
         "attributes_max", "depth_max", "sessions_max", "secrets_max", "schedules_max",
         "limit_attempts", "limit_days", "timeout_ms"}  # fmt: skip


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
            return [self._value(one) for _ in range(self._rng.choice((1, 1, 2)))]
        return self._value(one)

    def _value(self, one: Parameter) -> Any:  # noqa: ANN401
        if one.fields:
            return tuple(self._draw(field) for field in one.fields)
        if one.name.startswith(FILTERS) and self._rng.random() < 0.4:
            return None  # all
        whose = "theirs" if self._rng.random() < 0.75 else "ours"
        value = self._of_column(one, self._rows[whose])
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

    def _of_column(self, one: Parameter, rows: Mapping[str, list[Any]]) -> Any:  # noqa: ANN401
        rng = self._rng
        if one.name in LARGE:
            return 100_000 if one.type_ != "int2" else 1000
        if one.type_ == "jsonb":
            return self._json(rows)
        if "role" in one.name or "give" in one.name:
            return rng.choice(("tenant-admin", "user"))
        name = one.name.removeprefix("of_").removeprefix("new_")
        names = {SYNONYMS.get(one.name, name), name, name.removesuffix("s")}
        if name not in SYNONYMS and self._focus.keys() & names and rng.random() < 0.6:
            (found, *_) = sorted(self._focus.keys() & names)
            if _fits(self._focus[found], one.type_):
                return self._focus[found]
        about = self._about | set(one.name.split("_"))
        for chosen in (lambda table: about & set(table.split("_")), lambda _: True):
            values = [
                row[column]
                for table, found in rows.items()
                if chosen(table)
                for row in found
                for column in names & row.keys()
                if _fits(row[column], one.type_)
            ]
            if values and rng.random() < 0.8:
                return rng.choice(values)
        return self._any(one.type_)

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
            "bytea": rng.randbytes(32), "uuid": UUID(int=rng.getrandbits(128)),
            "float8": rng.choice((0.0, 60.0)), "numeric": 1, "date": now.date(),
            "timestamptz": now + timedelta(hours=rng.choice((-1, 1))), "interval": timedelta(1),
        }  # fmt: skip
        return made.get(type_, rng.choice((0, 1, 2, 100)))


_PYTHON: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,), "text": (str,), "bytea": (bytes,), "uuid": (UUID,), "int2": (int,),
    "int4": (int,), "int8": (int,), "float8": (float, int), "timestamptz": (datetime,),
}  # fmt: skip
_MOST = {"int2": 1 << 15, "int4": 1 << 31, "int8": 1 << 63}


def _fits(value: Any, type_: str) -> bool:  # noqa: ANN401
    if not isinstance(value, _PYTHON.get(type_, ())) or isinstance(value, bool) != (
        type_ == "bool"
    ):
        return False
    return type_ not in _MOST or -_MOST[type_] <= value < _MOST[type_]


_GUARD = """
    CREATE FUNCTION weft.tripwire() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE v_row jsonb;
    BEGIN
        FOREACH v_row IN ARRAY ARRAY[to_jsonb(OLD), to_jsonb(NEW)] LOOP
            IF (CASE WHEN v_row ? 'tenant_id' THEN (v_row ->> 'tenant_id')::bigint = {tenant}
                ELSE (v_row ->> 'serves_tenant_id')::bigint = {tenant}
                    OR (v_row ->> 'batch_id')::bigint >= {first}
                    OR (v_row ->> 'user_id')::bigint >= {first} END)
            THEN
                RAISE EXCEPTION 'a row of % was touched', TG_TABLE_NAME USING ERRCODE = '{code}';
            END IF;
        END LOOP;
        RETURN coalesce(NEW, OLD);
    END $$;
"""


async def set_tripwires(
    admin: asyncpg.Connection, tables: Mapping[str, Sequence[str]], tenant_id: int, first: int
) -> None:
    """Let each change of a row of a tenant raise an error of its own."""
    await admin.execute(_GUARD.format(tenant=tenant_id, first=first, code=TOUCHED))
    for table, columns in tables.items():
        if {"tenant_id", "batch_id", "user_id", "serves_tenant_id"} & set(columns):
            await admin.execute(
                f"CREATE TRIGGER aaa_tripwire BEFORE INSERT OR UPDATE OR DELETE ON weft.{table} "
                "FOR EACH ROW EXECUTE FUNCTION weft.tripwire()"
            )


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


@pytest.fixture
async def tenants(
    api: LiveApi, database: dict[str, str], admin: asyncpg.Connection, tmp_path: Path
) -> tuple[FullTenant, FullTenant]:
    """Give the one who looks, and the one who is looked at."""
    logs = tmp_path / "logs"
    ours = await fill(api, database, admin, logs, word=WORD, first=OURS)
    theirs = await fill(api, database, admin, logs, word=CANARY, first=THEIRS)
    await move_sequences(admin, 900_000)
    return ours, theirs


@pytest.fixture
async def admin(database: dict[str, str]) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database["admin"])
    await prepare_connection(connection)
    yield connection
    await connection.close()


@pytest.fixture
async def session(database: dict[str, str]) -> AsyncIterator[Session]:
    connection = await asyncpg.connect(database["weft_api"])
    await prepare_connection(connection)
    yield Session(connection)
    await connection.close()


async def look(
    session: Session, catalogue: Catalogue, draws: Draws, tenant_id: int, *, is_own: bool = False
) -> dict[str, str]:
    """Call every function that takes a tenant; return the first call of each that told or changed
    anything of the tenant with the canary. `is_own`: or that was about it, and was not refused.
    """
    found: dict[str, str] = {}
    for name, parameters in catalogue.functions.items():
        if name in WITHOUT_TENANT or name in PREVIOUS:
            continue
        names = [one.name for one in parameters]
        for _ in range(DRAWS_OF_ONES_OWN if is_own else DRAWS):
            arguments = draws.arguments(name, parameters, tenant_id)
            outcome = await session.outcome(name, names, arguments)
            said = outcome
            for text in sorted(filter(None, draws.texts), key=len, reverse=True):
                said = said.replace(text, "") if len(text) > 1 else said
            is_about = is_own and outcome[0] != "!" and any(map(NUMBER.match, draws.texts))
            if is_about or CANARY in said or NUMBER.search(said) or outcome == f"!{TOUCHED}":
                found[name] = f"{dict(zip(names, arguments, strict=True))}: {outcome}"
                break
    return found


async def seen_in_tables(
    dsn: str, catalogue: Catalogue, tenants: tuple[FullTenant, FullTenant]
) -> dict[str, set[str]]:
    """Return by tenant in which tables the canary is seen."""
    api = await asyncpg.connect(dsn)
    seen = {}
    for tenant in tenants:
        async with api.transaction():
            await api.execute("SELECT set_config('weft.tenant', $1, true)", str(tenant.tenant_id))
            seen[tenant.word] = {
                table
                for table in catalogue.read
                if CANARY in str([dict(row) for row in await api.fetch(f"TABLE weft.{table}")])
            }
    await api.close()
    return seen


async def test_nothing_tells_or_changes_anything_of_another_tenant(
    tenants: tuple[FullTenant, FullTenant], admin: asyncpg.Connection, session: Session,
    database: dict[str, str],
) -> None:  # fmt: skip
    ours, theirs = tenants
    catalogue = Catalogue(admin)
    await catalogue.load()
    rows, own_rows = await catalogue.rows_of(theirs), await catalogue.rows_of(ours)
    await set_tripwires(admin, catalogue.tables, theirs.tenant_id, first=THEIRS)
    draws = Draws(random.Random(13), rows, own_rows)  # noqa: S311 (draws arguments)
    leaks = await look(session, catalogue, draws, ours.tenant_id)
    reached = await look(session, catalogue, draws, theirs.tenant_id, is_own=True)
    seen = await seen_in_tables(database["weft_api"], catalogue, tenants)
    takes_tenant = {
        name: any(one.name.endswith("tenant_id") for one in parameters)
        for name, parameters in catalogue.functions.items()
    }

    assert leaks == {}
    assert seen[WORD] == SHARED.keys()
    assert seen[CANARY] > SHARED.keys() | {"batch", "job_label", "queue"}
    assert {name for name, takes in takes_tenant.items() if not takes} == WITHOUT_TENANT.keys()
    assert PREVIOUS | UNREACHED.keys() <= takes_tenant.keys()
    # What the draws cannot reach proves nothing.
    assert {name for name, takes in takes_tenant.items() if takes} <= (
        reached.keys() | PREVIOUS | UNREACHED.keys()
    )
    assert {table for table, found in rows.items() if not found} <= EMPTY


LOCAL = {"j", "g", "u", "n", "payloads/{s}"}
"""Parameters that count within a batch."""
ENDLESS = {"GET /v1/events"}
MISSING = {int: 987_654, str: "missing"}
_WHEN = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def paths_of(route: str, ours: FullTenant, theirs: FullTenant) -> Iterator[tuple[str, str, Any]]:
    """Yield paths in which one parameter is theirs, and the same with one that does not exist."""
    parameters = re.findall(r"([\w-]*)\}?/\{(\w+)\}", route)
    names = [
        whole if (whole := f"{before}/{{{name}}}") in theirs.ids else name
        for before, name in parameters
    ]
    for place, name in enumerate(names):
        if name in LOCAL:
            continue
        value = theirs.ids[name]
        pair = []
        for other in (value, MISSING[type(value)]):
            values = [other if n == place else ours.ids[one] for n, one in enumerate(names)]
            pair.append(re.sub(r"\{\w+\}", "{}", route).format(*values))
        yield pair[0], pair[1], value


def known(answer: httpx.Response, value: Any) -> tuple[int, str]:  # noqa: ANN401
    """Return an answer without what differs between two requests."""
    text = re.sub(r'"trace_id":"[0-9a-f]+"', "", answer.text)
    text = text.replace(str(value), "X").replace(str(MISSING[type(value)]), "X")
    return answer.status_code, _WHEN.sub("T", text)


@pytest.fixture
def no_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the code allow everything to everybody; tokens still say who asks."""

    async def allow(*_: object, **__: object) -> None:
        pass

    monkeypatch.setattr("weft.api.http.rights.require", lambda *_: None)
    for module in ("secrets", "resubmit", "submit"):
        monkeypatch.setattr(f"weft.api.use_cases.{module}.require_owner", allow)


def naming(theirs: FullTenant) -> list[tuple[str, str, Any, Any]]:
    """Return requests whose bodies or queries name something of theirs, as `<>`."""
    ids = theirs.ids
    project, queue = ids["billing-projects/{p}"], ids["q"]
    cron = {"cron": "0 2 * * *"}
    job = {"command": ["true"]}
    return [
        ("POST", "/v1/batches", {"billing_project": "<>"}, project),
        ("POST", "/v1/batches", {"jobs": [job | {"queue": "<>"}]}, queue),
        ("POST", "/v1/batches",
         {"jobs": [job | {"secrets": [{"name": "<>", "env": "A"}]}]}, ids["secret"]),
        ("POST", "/v1/schedules",
         cron | {"document": {"billing_project": "<>", "jobs": [{}]}}, project),
        ("POST", "/v1/queue-reroute", {"to": "<>"}, queue),
        ("PUT", "/v1/queues",
         {"dry_run": True, "queues": [{"name": "x", "priority": 1, "users": ["<>"]}]}, ids["user"]),
        *(("GET", f"/v1/{path}?batch=<>", None, ids["b"])
          for path in ("events", "operations", "dead-letters", "trail")),
        ("GET", "/v1/batches?q=<>", None, theirs.word),
        ("GET", "/v1/batches?name=<>", None, f"{theirs.word}-batch"),
        ("GET", "/v1/trail?user=<>", None, f"{theirs.word}-ann"),
    ]  # fmt: skip


@pytest.mark.usefixtures("no_checks")
async def test_without_the_checks_of_the_code_each_route_still_knows_its_tenant_only(
    api: LiveApi, tenants: tuple[FullTenant, FullTenant], admin: asyncpg.Connection
) -> None:
    ours, theirs = tenants
    catalogue = Catalogue(admin)
    await catalogue.load()
    await set_tripwires(admin, catalogue.tables, theirs.tenant_id, first=THEIRS)
    async with api.client(**ours.header) as http:
        wrong = await ask_with_names(http, theirs)
        n_asked = await ask_routes(http, api.app.litestar.state.rights, tenants, wrong)

    assert wrong == {}
    assert n_asked > 70


async def ask_with_names(http: httpx.AsyncClient, theirs: FullTenant) -> dict[str, Any]:
    """Name something of theirs in bodies and queries; return what differs from what is not."""
    wrong = {}
    for method, path, body, value in naming(theirs):
        hidden, missing = [
            await http.request(
                method, path.replace("<>", str(one)),
                json=json.loads(json.dumps(body).replace("<>", str(one))) if body else None,
            )
            for one in (value, MISSING[type(value)])
        ]  # fmt: skip
        if known(hidden, value) != known(missing, value):
            wrong[f"{method} {path}"] = (hidden.text, missing.text)
    return wrong


async def ask_routes(
    http: httpx.AsyncClient, rights: Mapping[str, Right | None],
    tenants: tuple[FullTenant, FullTenant], wrong: dict[str, Any],
) -> int:  # fmt: skip
    """Ask each route about something of theirs; note what differs from what does not exist, and
    return how many requests these were.
    """
    n_asked = 0
    for name in sorted(rights):
        method, _, route = name.partition(" ")
        if rights[name] in {None, Right.ADMINISTER} or name in ENDLESS:
            continue
        body = None if method == "GET" else BODIES.get(method, BODIES.get(route, {}))
        params = {"bytes": 2} if "payloads" in route else None
        if "{" not in route:
            if method == "GET":
                found = await http.get(route)
                if found.status_code >= 500 or CANARY in found.text:
                    wrong[name] = found.text
            continue
        for path, other, value in paths_of(route, *tenants):
            hidden, missing = [
                await http.request(method, one, params=params, json=body) for one in (path, other)
            ]
            n_asked += 1
            is_same = known(hidden, value) == known(missing, value)
            if not is_same or CANARY in hidden.text.replace(str(value), ""):
                wrong[f"{method} {path}"] = (hidden.status_code, hidden.text, missing.text)
    return n_asked
