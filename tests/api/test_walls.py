"""Between tenants the database refuses by itself, whatever the code forgets.

Two properties, each over all there is: everything that the login of the api may call or read, and
every route, with the checks of the code switched off.
"""

import json
import random
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from httpx import AsyncClient

from api.catalogue import TOUCHED, Catalogue, Draws, Session, raise_counts, set_tripwires
from api.full_tenant import FullTenant, fill, move_sequences
from api.hidden_pairs import ANSWERS, MISSING, NOT_FOUND, SKIPPED, answers_of, naming, paths_of
from api.live import EventReader, LiveApi
from benches.route_bodies import MAKING, QUERIES, body_of
from weft.core.access.rights import Right
from weft.run.doors import api_doors
from weft.store.database import prepare_connection

LIVE_DOORS = api_doors()
pytestmark = [pytest.mark.slow, pytest.mark.heavy]
CANARY, WORD = "canary", "usual"
DRAWS, DRAWS_OF_ONES_OWN = 24, 400
OURS, THEIRS, LATER = 300_000, 700_000, 900_000
"""Where their numbers begin, and those of what is made when both are there."""
NUMBER = re.compile(r"(?<!\.)\b7000\d\d\b")
"""A number of theirs."""

WITHOUT_TENANT = {
    "accept_invitation": "the invitation is the proof",
    "admit_user": "the issuer of a web token names the tenant, by configuration",
    "authenticate": "a token is the proof",
    "begin_visit": "of administrators of the site",
    "check_login": "of this connection alone",
    "cordon_worker": "of administrators of the site",
    "create_tenant": "of administrators of the site",
    "drain_worker": "of administrators of the site",
    "events_now": "a position in time, and nothing of an event",
    "granted_batches": "it asks for the caller of the transaction",
    "licence_limits": "licences are the site's",
    "list_licences": "licences are the site's",
    "list_rates": "prices are the site's",
    "find_tenant": "of administrators of the site",
    "get_system": "of administrators of the site",
    "list_stale_secrets": "of administrators of the site; the values are encrypted",
    "list_tenants": "of administrators of the site",
    "live_jobs": "the tenant is the one of the transaction",
    "login_owner": "the digest of a token is the proof",
    "may_see": "asked about rows that row security has let through",
    "member_projects": "it asks for the caller of the transaction",
    "list_whole_trail": "of administrators of the site",
    "next_source_work": "each api makes jobs of the items of all tenants",
    "take_source": "each api makes jobs of the items of all tenants",
    "next_schedule_run": "each api runs the schedules of all tenants",
    "open_session": "the code of a login link is the proof",
    "lose_worker": "of administrators of the site",
    "pool_offers": "it says whom each serves: test_pools asks as another tenant",
    "record_request": "adds an entry to the trail, and the api says whose it is",
    "remove_licence": "licences are the site's",
    "reseal_secrets": "of administrators of the site",
    "save_pools": "of administrators of the site",
    "schema_range": "of the installation",
    "set_licence": "licences are the site's",
    "set_tenant_quota": "of administrators of the site",
    "take_schedule_runs": "each api runs the schedules of all tenants",
    "uncordon_worker": "of administrators of the site",
    "wait_for_events": "a listener of this api",
}
"""Functions that no tenant limits, and why that is right."""

UNREACHED = {
    "answer_job": "it takes a job that waits for an answer",
    "save_app": "it takes a folder of which all parts are there, by its digest",
    "item_history": "it takes the key of an item beside its source",
    "list_topic_runs": "it takes the id of a job of another scheduler",
    "list_foreign_jobs": "it takes the words of a door's search",
    "rerun_items": "it takes the key of an item, or a series, beside its source",
    "save_store": "it takes words that no row has",
    "read_app_part": "it takes the digest of a folder",
    "remove_app": "it returns nothing",
    "list_transports": "it tells of queues only whose connection has the name that is drawn",
    "change_status": "it takes a job with a lifecycle and a status that may follow",
    "postpone_items": "it takes the number of a taking, and returns nothing",
    "list_messages": "it takes the name of a sink",
    "redeliver_message": "it takes a message that was not delivered, of its sink",
    "decide_message": "it takes a message that a check has stopped, of its sink",
    "settle_given_up": "it takes the name of a sink",
    "begin_ordered_query": "it prepares a transaction and returns nothing",
    "cancel_operation": "no operation of the draws is on many batches",
    "add_schedule": "its document names fields that no row has",
    "create_batch": "its document names fields that no row has",
    "was_project": "no project of the draws is deleted",
    "resubmit_batch": "of the changes that are drawn hardly any makes a sound batch",
}
"""Functions of which hardly any draw is sound, and why; other tests call them."""
EMPTY = {
    "admission",
    "answered_request",
    "app_use",
    "attempt_staging",
    "attempt_stop",
    "attempt_watch",
    "block_request",
    "cascade",
    "core_sweep",
    "empty_batch",
    "group_bunch",
    "held_ready",
    "job_file",
    "late_job",
    "output_term",
    "parent_end",
    "parent_share",
    "place",
    "preemption",
    "queue_count",
    "removed_usage",
    "service",
    "resubmitted_span",
    "skipped_batch",
    "transport_cancel",
    "transport_depth",
    "transport_offer",
    "topic_run",
    "view_login",
    "job_cache",
}
"""Tables that only rare situations fill, or that are empty most of the time."""

SHARED = {
    "pool": "its name is shown to whom it serves: list_pools decides",
    "worker": "as its pool",
    "worker_incarnation": "as its pool",
}
"""Tables without a tenant, in which names of a tenant may stand."""


@pytest.fixture
async def tenants(
    api: LiveApi, database: dict[str, str], admin: asyncpg.Connection, tmp_path: Path
) -> tuple[FullTenant, FullTenant]:
    """Give the one who looks, and the one who is looked at."""
    logs = tmp_path / "logs"
    ours = await fill(api, database, admin, logs, word=WORD, first=OURS)
    theirs = await fill(api, database, admin, logs, word=CANARY, first=THEIRS)
    await move_sequences(admin, LATER)
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
        if name in WITHOUT_TENANT:
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
    """Return by tenant in which tables the canary, or a number of its tenant, is seen."""
    api = await asyncpg.connect(dsn)
    seen = {}
    for tenant in tenants:
        async with api.transaction():
            await api.execute("SELECT set_config('weft.tenant', $1, true)", str(tenant.tenant_id))
            texts = {
                table: str(
                    [
                        dict(row)
                        for row in await api.fetch(
                            f"SELECT {', '.join(columns)} FROM weft.{table}"  # noqa: S608
                        )
                    ]
                )
                for table, columns in catalogue.read.items()
            }
            seen[tenant.word] = {
                table for table, text in texts.items() if CANARY in text or NUMBER.search(text)
            }
    await api.close()
    return seen


@pytest.mark.timeout(300)  # it calls all functions
async def test_nothing_tells_or_changes_anything_of_another_tenant(
    tenants: tuple[FullTenant, FullTenant],
    admin: asyncpg.Connection,
    session: Session,
    database: dict[str, str],
) -> None:
    ours, theirs = tenants
    catalogue = Catalogue(admin)
    await catalogue.load()
    rows, own_rows = await catalogue.rows_of(theirs), await catalogue.rows_of(ours)
    await raise_counts(admin, catalogue.tables, theirs.tenant_id, THEIRS)
    await set_tripwires(admin, catalogue.tables, theirs.tenant_id, range(THEIRS, LATER))
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
    assert UNREACHED.keys() <= takes_tenant.keys()
    # What the draws cannot reach proves nothing.
    assert {name for name, takes in takes_tenant.items() if takes} <= (
        reached.keys() | UNREACHED.keys()
    )
    assert {table for table, found in rows.items() if not found} <= EMPTY


@pytest.fixture
def no_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the code allow everything to everybody; tokens still say who asks."""
    switch_checks_off(monkeypatch)


def switch_checks_off(monkeypatch: pytest.MonkeyPatch) -> None:

    async def allow(*_: object, **__: object) -> None:
        pass

    monkeypatch.setattr("weft.api.http.right_checks.require", lambda *_: None)
    for module in ("submission.owners", "api.use_cases.retry"):
        monkeypatch.setattr(f"weft.{module}.require_owner", allow)


@pytest.mark.timeout(300)  # it asks all routes for things of two tenants
async def test_without_the_checks_of_the_code_each_route_still_knows_its_tenant_only(
    api: LiveApi,
    tenants: tuple[FullTenant, FullTenant],
    admin: asyncpg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the checks, too, a route does as much for what another tenant has as for nothing."""
    ours, theirs = tenants
    catalogue = Catalogue(admin)
    await catalogue.load()
    await set_tripwires(admin, catalogue.tables, theirs.tenant_id, range(THEIRS, LATER))
    rights = api.app.rights
    asked = sorted(rights.keys() - SKIPPED.keys())
    wrong: dict[str, Any] = {}
    async with api.client(**ours.header, connection="close") as http:
        n_asked = await ask_routes(
            http, [one for one in asked if one not in MAKING], tenants, wrong
        )
        switch_checks_off(monkeypatch)
        await ask_with_names(http, theirs, wrong)
        asked.sort(key=lambda one: one in MAKING)
        n_asked += await ask_routes(http, asked, tenants, wrong)

    assert wrong == {}
    assert n_asked > 300
    refused = {name for name, right in rights.items() if right in {None, Right.ADMINISTER}}
    assert refused | {"GET /ui/events", "GET /v1/events"} == SKIPPED.keys()


@pytest.mark.usefixtures("no_checks")
async def test_streams_of_two_tenants_tell_nothing_of_each_other(
    api: LiveApi, tenants: tuple[FullTenant, FullTenant]
) -> None:
    """Each hears all that has happened and happens to it, while the other one listens, too."""
    ours, theirs = tenants
    async with (
        api.client(**theirs.header) as their_http,
        api.client(**ours.header) as http,
        their_http.stream("GET", FROM_THE_BEGINNING) as their_stream,
        http.stream("GET", FROM_THE_BEGINNING) as stream,
    ):
        their_reader, reader = EventReader(their_stream), EventReader(stream)
        their_told = await until_held(their_reader, their_http, theirs.batch)
        told = await until_held(reader, http, ours.batch)
        their_told += await until_held(their_reader, their_http, theirs.batch)
        told += await until_held(reader, http, ours.batch)

    assert len(told) > 20
    assert {"condition", "operation"} <= {one["kind"].partition(".")[0] for one in told}
    assert [one for one in told if is_of(theirs, one)] == []
    assert [one for one in their_told if is_of(ours, one)] == []


FROM_THE_BEGINNING = "/v1/events?since=1-0"


async def until_held(reader: EventReader, http: AsyncClient, batch: int) -> list[dict[str, Any]]:
    """Begin and cancel an operation, hold and release a batch; return what a stream says until it
    says that.
    """
    held = {"action": "hold", "batches": [batch]}
    operation = (await http.post("/v1/batch-actions", json=held)).json()["id"]
    cancelled = await http.post(f"/v1/operations/{operation}/cancel", json={})
    assert cancelled.json()["state"] == "cancelled", cancelled.text
    for action in ("hold", "release"):
        await http.post(f"/v1/batches/{batch}/{action}", json={})
    told = [await reader.event()]
    while (told[-1]["batch_id"], told[-1]["kind"]) != (batch, "batch.released"):
        told.append(await reader.event())
    return told


def is_of(tenant: FullTenant, event: Mapping[str, Any]) -> bool:
    """Say whether an event names something of a tenant."""
    text = json.dumps({**event, "id": "", "trace_id": ""})
    first = tenant.batch // 100_000
    return tenant.word in text or bool(re.search(rf"\b{first}000\d\d\b", text))


async def ask_with_names(http: AsyncClient, theirs: FullTenant, wrong: dict[str, Any]) -> None:
    """Name something of theirs in bodies and queries; note what differs from what is not."""
    for method, path, body, value in naming(theirs):
        pair = []
        for one in (value, MISSING[type(value)]):
            text = json.dumps(body).replace('"<>"', json.dumps(one))
            more = {"json": json.loads(text)} if body else {}
            pair.append((path.replace("<>", str(one)), more))
        (hidden, missing), is_same = await answers_of(http, method, pair, value)
        if not is_same:
            wrong[f"{method} {path}"] = (hidden.text, missing.text)


async def ask_routes(
    http: AsyncClient,
    routes: Sequence[str],
    tenants: tuple[FullTenant, FullTenant],
    wrong: dict[str, Any],
) -> int:
    """Ask each route about something of theirs; note what differs from what does not exist, and
    return how many requests these were.
    """
    n_asked = 0
    for name in routes:
        method, _, route = name.partition(" ")
        body, kind = body_of(name)
        query = f"?{QUERIES[name]}" if name in QUERIES else ""
        if "{" not in route:
            if method == "GET":
                found = await http.get(route)
                if found.status_code >= 500 or CANARY in found.text:
                    wrong[name] = found.text
            continue
        for path, other, value in paths_of(route, *tenants):
            more = {"content": body, "headers": {"content-type": kind} if kind else None}
            pair = [(one + query, more) for one in (path, other)]
            (hidden, missing), is_same = await answers_of(http, method, pair, value)
            n_asked += 1
            is_same = is_same and hidden.status_code in {NOT_FOUND, ANSWERS.get(name)}
            if not is_same or CANARY in hidden.text.replace(str(value), ""):
                wrong[f"{method} {path}"] = (hidden.status_code, hidden.text, missing.text)
    return n_asked
