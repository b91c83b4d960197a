"""Visits: an administrator of the site looks into another tenant, and changes nothing there."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest
from httpx import AsyncClient

from api.fakes import RecordingStore, SilentNotices, client_of
from api.full_tenant import FullTenant, fill
from api.hidden_pairs import answer_of
from api.live import DEADLINE_S, Dsns, EventReader, LiveApi, LiveWorker, add, trail, until
from api.problems import code_of, problem_of
from api.test_tenants import create
from cases import cases, part
from contexts import async_fixture_of
from weft.api.app import Application, create_app
from weft.api.http import visits as visiting
from weft.api.http.doors import DoorPaths
from weft.api.http.visits import AGAIN_S, Visits
from weft.core.access.rights import Right, UserRole
from weft.core.errors import TenantNotFound
from weft.ports.store import Action, Caller, Visited
from weft.run.doors import api_doors
from weft.settings import Settings
from weft.store.turns import user_of

LIVE_DOORS = api_doors()
DOOR_PATHS = DoorPaths(LIVE_DOORS)
WORD, FIRST = "canary", 700_000
HEADER = "x-weft-visit"
ACME = {HEADER: "acme"}
QUERY = {
    "GET /v1/batch-actions": "?action=cancel&q=all",
    "GET /v1/batches/{b}/logs": "?find=o",
    "GET /v1/sources/{source}/history": "?key=a",
}
"""What a path needs behind it."""
OF_ONESELF = {"GET /ui/sessions", "GET /v1/sessions", "GET /v1/tokens"}
OF_THE_SITE = {
    "GET /ui/system",
    "GET /v1/system",
    "GET /v1/tenants",
    "GET /v1/worker-link/notices",
}
KEYS = {"GET /v1/callbacks/secret", "GET /v1/sinks/{sink}/deliveries"}
OF_OPERATORS = {"GET /v1/dead-messages", "GET /v1/dead-messages/{dead}"}
"""Texts that nobody of the tenant has written."""
HIDDEN = OF_ONESELF | OF_THE_SITE | OF_OPERATORS | KEYS
NAMED = {"GET /v1/saved-queries/{saved}", "GET /v1/whoami"}
"""What is another one for each user of the tenant."""
STREAMS = {
    "GET /ui/batches/{b}/jobs/{j}/log/live",
    "GET /ui/events",
    "GET /v1/events",
    "GET /v1/batches/{b}/jobs/{j}/file",
    "GET /v1/batches/{b}/jobs/{j}/note",  # a path, a title
}
COUNTING = {
    "GET /metrics",
    "GET /ui/batches/{b}",
    "GET /ui/batches/{b}/jobs/{j}",
    "GET /ui/batches/{b}/time",
    "GET /v1/batches/{b}/timeline",
    "GET /v1/limits",
    "GET /ui/pools/{p}",
    "GET /v1/pools/{p}/cost",
}
"""They show times and costs of what runs in more ways than can be left out by name."""
MOVES = re.compile(
    r'"trace_id":"[0-9a-f]+"|\d{4}-\d\d-\d\d[T ][\d:.]+(Z|\+00:00)?|data-\w+="[^"]*"|(?<=is) now'
    r'| for [\d.]+ m?s| in [\d.]+ m?s|"(\w+_ms|cost|usage|at)":[\d.e-]+|<p class="who">.*?</p>'
    r'|<form [^>]*class="visit".*?</form>\n|, <a href="[^"]*">yours</a>'
    r'|<p><a href="/v1[^>]* download=.*?</a></p>|(, )?<a href="/v1[^>]* download=.*?</a>\n?'
)
"""What differs between two answers: times, who asks, and downloads."""
SAID_APART = re.compile(r'[0-9a-f]{32}|acme|nowhere|"timeStamp":"[^"]*"')
"""What differs between refusals of two names: the names, the trace and the time."""
NUMBERS = re.compile(r"[\d.,e+-]+( (ms|s|min)\b)?")


class _Store(RecordingStore):
    """Each role is the token of a user who has it; there is one other tenant."""

    def __init__(self) -> None:
        super().__init__()
        self.visits: list[tuple[Action, str]] = []

    async def authenticate(self, token: str) -> Caller | None:
        role, _, scope = token.partition("/")
        scopes = frozenset(map(Right, scope.split("+"))) if scope else None
        return Caller(1, 1, "ada", UserRole(role), scopes=scopes)

    async def begin_visit(self, action: Action, name: str) -> Visited | None:
        self.visits.append((action, name))
        return Visited(2, "acme", "ada of tenant local") if name == "acme" else None


@pytest.fixture
def store() -> _Store:
    return _Store()


@pytest.fixture
async def app(store: _Store, tmp_path: Path) -> Application:
    return create_app(store, SilentNotices(), None, Settings(home=tmp_path), doors=api_doors())  # type: ignore[arg-type]  # doubles


client = async_fixture_of(lambda app: client_of(app, authorization="Bearer admin"))
"""A client whose token is that of an administrator of the site."""


def routes_of(app: Application) -> dict[str, Right]:
    """Return the routes that ask for a token, with their rights."""
    rights = app.rights
    return {name: right for name, right in rights.items() if right is not None}


def is_door(route: str) -> bool:
    return DOOR_PATHS.door_of(route.partition(" ")[2]) is not None


async def reader_of(api: LiveApi, tenant: FullTenant) -> dict[str, str]:
    """Add an administrator to the tenant, with a token that only reads; return its header."""
    async with api.client(**tenant.header) as http:
        boss = await add(http, "boss", role="tenant-admin")
        scopes = {"name": "reads", "scopes": ["read", "manage"]}
        made = await http.post("/v1/tokens", json=scopes, headers=boss)
    return {"authorization": f"Bearer {made.json()['token']}"}


@pytest.mark.heavy
async def test_visitor_sees_on_each_route_what_administrators_of_the_tenant_see(
    api: LiveApi, http: AsyncClient, database: Dsns, admin: asyncpg.Connection, tmp_path: Path
) -> None:
    tenant = await fill(api, database, admin, tmp_path / "logs", word=WORD, first=FIRST)
    reader, visit = await reader_of(api, tenant), {HEADER: f"{WORD}-t"}
    await http.post("/v1/batches", json={"name": "at home", "jobs": [{}]})
    reads = {one for one in routes_of(api.app) if one.startswith("GET ") and not is_door(one)}
    wrong, n_telling = {}, 0
    for route in sorted(reads - HIDDEN - NAMED - STREAMS):
        path = tenant.ids.fill(route.partition(" ")[2]) + QUERY.get(route, "")
        n_left = 3  # what moves on meanwhile is not what differs
        while True:
            answers = [await answer_of(http, "GET", path, headers=one) for one in (visit, reader)]
            seen, expected = (MOVES.sub("", one.text) for one in answers)
            if route in COUNTING:
                seen, expected = NUMBERS.sub("", seen), NUMBERS.sub("", expected)
            n_left -= 1
            if seen == expected or not n_left:
                break
        n_telling += WORD in seen
        if seen != expected or answers[0].status_code != 200:
            wrong[route] = (answers[0].status_code, seen, expected)

    assert wrong == {}
    assert n_telling > 50
    assert reads > HIDDEN | NAMED | STREAMS | COUNTING


async def test_visitor_changes_nothing_on_any_route(app: Application, client: AsyncClient) -> None:
    wrong = {}
    for route, right in routes_of(app).items():
        method, _, path = route.partition(" ")
        if method == "GET":
            continue
        answer = await client.request(method, path, headers=ACME)
        is_refused = answer.status_code == 403 and (
            "on a visit to tenant acme" in answer.text
            if is_door(route)
            else code_of(answer) == "API.NOT_IN_VISIT"
        )
        if is_refused is (right == Right.READ):
            wrong[route] = (answer.status_code, answer.text)

    assert wrong == {}


async def test_visitor_is_not_shown_what_is_not_of_the_tenant(
    app: Application, client: AsyncClient
) -> None:
    """What is of oneself or of the site, keys, and what doors have."""
    refused = {
        route
        for route in routes_of(app)
        if route.startswith("GET ")
        and not route.endswith("events")
        and (await client.get(route.partition(" ")[2], headers=ACME)).status_code == 403
    }

    assert {one for one in refused if not is_door(one)} == HIDDEN
    assert refused - HIDDEN == {
        one for one in routes_of(app) if is_door(one) and one.startswith("GET ")
    }


TOKENS = (*(role for role in UserRole if role != UserRole.ADMIN), "admin/read", "admin/administer")


@cases(("n", "token"), [*enumerate(TOKENS)])
async def test_others_are_told_that_no_tenant_exists(
    app: Application, client: AsyncClient, store: _Store, n: int, token: str
) -> None:
    """On every route, before anything is asked of the database; as an administrator is told of
    a name that no tenant has.
    """
    wrong = {}
    told = (await client.get("/v1/batches", headers={HEADER: "nowhere"})).json()
    store.visits.clear()
    bearer = {"authorization": f"Bearer {token}"}
    for route in part([*routes_of(app)], n, len(TOKENS)):
        method, _, path = route.partition(" ")
        answers = [
            await client.request(method, path, headers={**bearer, HEADER: name})
            for name in ("acme", "nowhere")
        ]
        texts = [SAID_APART.sub("", one.text) for one in answers]
        if texts[0] != texts[1] or {one.status_code for one in answers} != {404}:
            wrong[route] = [one.text for one in answers]
    refused = await client.get("/v1/batches", headers={**bearer, HEADER: "nowhere"})

    assert wrong == {}
    assert store.visits == []
    assert told.pop("trace_id")
    assert problem_of(refused) == told
    assert (told["code"], told["title"]) == (
        "API.TENANT_NOT_FOUND",
        'tenant "nowhere" does not exist',
    )


async def test_name_that_no_tenant_can_have_is_not_looked_up(
    client: AsyncClient, store: _Store
) -> None:
    for name in ["%00", "a%00b", "x" * 257]:
        answer = await client.get("/v1/batches", headers={HEADER: name})

        assert (answer.status_code, answer.json()["code"]) == (404, "API.TENANT_NOT_FOUND")
        assert store.visits == []


async def test_empty_name_is_none(client: AsyncClient, store: _Store) -> None:
    """As an empty variable is."""
    answer = await client.get("/v1/whoami", headers={HEADER: ""})

    assert (answer.status_code, answer.json()["user"]) == (200, "ada")
    assert store.visits == []


async def test_visit_that_goes_on_is_recorded_once_a_minute(store: _Store) -> None:
    now = 100.0
    visits = Visits(store, clock=lambda: now)
    ada = Caller(1, 1, "ada", UserRole.ADMIN, token_id=7)
    scope = {
        "path": "/v1/batches",
        "scheme": "http",
        "client": ("10.0.0.1", 1),
        "state": {"trace_id": "0" * 32},
    }
    found = [await visits.caller_of(scope, ACME, ada) for _ in range(3)]
    for caller in (Caller(1, 1, "ada", UserRole.ADMIN, token_id=8), ada):
        await visits.caller_of(scope, ACME, caller)
    n_recorded = len(store.visits)
    now += AGAIN_S
    await visits.caller_of(scope, ACME, ada)
    for _ in range(2):
        with pytest.raises(TenantNotFound):
            await visits.caller_of(scope, {HEADER: "nowhere"}, ada)
    action, name = store.visits[0]

    assert (n_recorded, len(store.visits)) == (2, 5)
    assert (name, action.name, action.path, action.address) == (
        "acme",
        "visit",
        "/v1/batches",
        "10.0.0.1",
    )
    assert {(one.tenant_id, one.user_id, one.user_name) for one in found} == {
        (2, 1, "ada of tenant local")
    }
    assert user_of(found[0]) == user_of(ada) == (1, 1)


async def test_visits_are_in_the_trail_of_the_tenant(http: AsyncClient, database: Dsns) -> None:
    """Those that were refused a change, too; nothing of it is in that of the visitor's own."""
    ann = await create(http, "acme")
    made = await http.post("/v1/batches", json={"jobs": [{}]}, headers=ann)
    path = f"/v1/batches/{made.json()['id']}"
    visit = {HEADER: "ACME"}
    seen = [await http.get(one, headers=visit) for one in (path, "/v1/batches")]
    refused = [
        (await http.post(f"{path}/cancel", json={}, headers=visit)).status_code for _ in range(2)
    ]
    at_home = await http.get("/v1/batches", headers={HEADER: "local"})
    found = await trail(http, database, headers=ann)
    own = await trail(http, database)

    assert [one.status_code for one in seen] == [200, 200]
    assert refused == [403, 403]
    assert at_home.json()["items"] == []
    assert [(one["user"], one["action"], one["path"], one["refused"]) for one in found[1:]] == [
        ("tester of tenant local", "visit", path, None),
        ("tester of tenant local", "cancel_batch", f"{path}/cancel", "API.NOT_IN_VISIT"),
    ]
    assert found[1]["address"] == "127.0.0.1"
    assert found[1]["trace_id"] == seen[0].headers["x-trace-id"]
    assert {one["tenant"] for one in found} == {"acme"}
    assert {one["action"] for one in own} == {"create_tenant"}
    assert (await http.get(path, headers=ann)).json()["cancelled"] is False
    assert [
        one["path"] for one in await trail(http, database, "?action=visit", headers=visit)
    ] == [path]
    all_of_it = await http.get("/v1/trail?all_tenants=true", headers=visit)
    assert (all_of_it.status_code, code_of(all_of_it)) == (403, "API.NOT_IN_VISIT")


async def test_same_refusal_is_in_the_trail_of_each_tenant(
    http: AsyncClient, database: Dsns
) -> None:
    """Once a minute in each, and not in one of them alone."""
    found = {}
    for name in ("acme", "umbra"):
        ann = await create(http, name)
        await http.post("/v1/batches", json={"jobs": [{}]}, headers={HEADER: name})
        entries = await trail(http, database, headers=ann)
        found[name] = [(one["action"], one["refused"]) for one in entries]

    told = [("visit", None), ("create_batch", "API.NOT_IN_VISIT")]
    assert found == {"acme": told, "umbra": told}


async def test_what_is_ones_own_stays_at_home(http: AsyncClient) -> None:
    """Neither secrets and saved queries of the visitor are shown, nor those of users there."""
    ann = await create(http, "acme")
    for header, name in (({}, "mine"), (ann, "hers")):
        await http.put(f"/v1/secrets/{name}", json={"value": "x"}, headers=header)
        await http.put(f"/v1/saved-queries/{name}", json={"query": "all"}, headers=header)
    lists = [
        (await http.get(path, headers=ACME)).json()["items"]
        for path in ("/v1/secrets", "/v1/saved-queries", "/v1/shared-jobs")
    ]
    queries = [
        (await http.get(f"/v1/saved-queries/{name}", headers=ACME)).status_code
        for name in ("mine", "hers")
    ]
    who, own = [(await http.get("/v1/whoami", headers=one)).json() for one in (ACME, {})]

    assert lists == [[], [], []]
    assert queries == [404, 404]
    assert (who["tenant"], who["user"], who["rights"]) == (
        "acme",
        "tester of tenant local",
        ["read"],
    )
    assert (own["tenant"], own["user"], own["token_id"]) == ("local", "tester", who["token_id"])


async def test_streams_are_those_of_the_tenant(http: AsyncClient, worker: LiveWorker) -> None:
    ann = await create(http, "acme")
    made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]}, headers=ann)
    batch = made.json()["id"]
    (job,) = await worker.claim_and_start()
    worker.write(job, (1, b"hello\n"))
    async with (
        http.stream("GET", "/v1/events", headers=ACME) as events,
        http.stream("GET", f"/v1/batches/{batch}/jobs/1/log?follow=true", headers=ACME) as output,
    ):
        reader, log = EventReader(events), EventReader(output)
        _, _, first = await log.next()
        await http.post("/v1/batches", json={"jobs": [{}]})
        await http.post(f"/v1/batches/{batch}/hold", json={}, headers=ann)
        told = await reader.event()

    assert first is not None
    assert (told["kind"], told["batch_id"]) == ("batch.held", batch)


async def test_streams_of_a_visit_end_so_that_those_that_go_on_are_recorded(
    http: AsyncClient, database: Dsns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their clients ask for them again, as when the server stops."""
    ann = await create(http, "acme")
    monkeypatch.setattr(visiting, "AGAIN_S", 0.05)
    async with asyncio.timeout(DEADLINE_S):
        for _ in range(2):
            async with http.stream("GET", "/v1/events", headers=ACME) as events:
                async for _ in events.aiter_bytes():
                    pass
    found = await trail(http, database, "?action=visit", headers=ann)

    assert [one["path"] for one in found] == ["/v1/events"] * 2


async def test_visit_from_each_address_is_recorded(store: _Store) -> None:
    """Else nobody saw from where a token is used that is used elsewhere, too."""
    visits, ada = Visits(store), Caller(1, 1, "ada", UserRole.ADMIN, token_id=7)
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.1", None):
        scope = {
            "path": "/v1/batches",
            "scheme": "http",
            "state": {"trace_id": "0" * 32},
            "client": address and (address, 1),
        }
        await visits.caller_of(scope, ACME, ada)

    assert [action.address for action, _ in store.visits] == ["10.0.0.1", "10.0.0.2", None]


async def test_streams_of_a_visit_last_no_longer_than_the_token(store: _Store) -> None:
    visits, ada = Visits(store), Caller(1, 1, "ada", UserRole.ADMIN)
    scope = {"path": "/v1/events", "scheme": "http", "state": {"trace_id": "0" * 32}}
    found = await visits.caller_of(scope, ACME, replace(ada, expires_at=7.0))

    assert found.expires_at == 7.0


async def test_who_administers_the_site_no_longer_visits_no_longer(http: AsyncClient) -> None:
    await create(http, "acme")
    root = await add(http, "root", role="admin")
    before = await http.get("/v1/batches", headers={**root, **ACME})
    await http.patch("/v1/users/root", json={"role": "operator"})
    await until(http, 404, {**root, **ACME})

    assert before.status_code == 200
    assert (await http.get("/v1/batches", headers=root)).status_code == 200


async def test_streams_of_a_visit_end_with_the_role(http: AsyncClient) -> None:
    """Long before they would be asked for again."""
    await create(http, "acme")
    root = await add(http, "root", role="admin")
    began = asyncio.get_running_loop().time()
    async with http.stream("GET", "/v1/events", headers={**root, **ACME}) as events:
        pieces = events.aiter_bytes()
        await anext(pieces)
        await http.patch("/v1/users/root", json={"role": "operator"})
        async with asyncio.timeout_at(began + AGAIN_S / 2):
            async for _ in pieces:
                pass


async def test_names_of_tenants_are_percent_encoded(http: AsyncClient) -> None:
    await create(http, "Ünï 100%")
    who = await http.get("/v1/whoami", headers={HEADER: "%C3%BCn%C3%AF%20100%25"})

    assert who.json()["tenant"] == "Ünï 100%"


async def test_only_queues_are_tried_on_a_visit(http: AsyncClient) -> None:
    """It is a POST that only reads."""
    ann = await create(http, "acme")
    await http.put("/v1/queues", json={"queues": [{"name": "theirs", "priority": 1}]}, headers=ann)
    tried = await http.post("/v1/queue-test", json={"jobs": [{}]}, headers=ACME)

    assert tried.status_code == 200, tried.text
    assert "theirs" in tried.text


async def test_description_names_the_header_where_it_counts(
    app: Application, client: AsyncClient
) -> None:
    """On what a visit shows, with the 404 that it may bring."""
    paths = (await client.get("/openapi.json")).json()["paths"]
    named = {
        f"{method.upper()} {path}"
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "X-Weft-Visit" in {one["name"] for one in operation["parameters"]}
    }
    reads = {one for one in routes_of(app) if one.startswith(("GET /v1", "GET /metrics"))}

    assert named == {*reads, "POST /v1/queue-test"} - HIDDEN
    assert "404" in paths["/metrics"]["get"]["responses"]
