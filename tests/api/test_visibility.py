"""What a user sees of the batches of others: nothing, on no route, unless they share a project
with them or were granted it.
"""

import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from httpx import AsyncClient

from api.live import LiveApi, LiveWorker, add
from api.problems import code_of, problem_of
from api.test_answers import DOCUMENT
from benches.route_bodies import QUERIES, document_of
from cases import cases
from weft.api.app import PERMISSIONS_OF_ROUTES as PERMISSIONS
from weft.api.app import route_rights
from weft.core.access.rights import Permission, Right
from weft.core.ends.conditions import Ask

NOBODY = 987_654
Header = Mapping[str, str]


@pytest.fixture
async def ann(http: AsyncClient) -> Header:
    return await add(http, "ann")


@pytest.fixture
async def stranger(http: AsyncClient) -> Header:
    """Add bob, who is no member of any project."""
    bob = await add(http, "bob")
    answer = await http.request("DELETE", "/v1/billing-projects/default/members/bob")
    assert answer.status_code == 200, answer.text
    return bob


async def submit(http: AsyncClient, header: Header, **document: Any) -> int:  # noqa: ANN401
    made = await http.post("/v1/batches", json={**DOCUMENT, **document}, headers=header)
    assert made.status_code == 201, made.text
    return int(made.json()["id"])


def batch_routes(api: LiveApi) -> list[tuple[str, str]]:
    """Return method and path of each of the application's routes that name a batch."""
    return sorted(
        (method, path)
        for route in api.app.rights
        for method, _, path in [route.partition(" ")]
        if "{b}" in path
    )


async def ask(
    http: AsyncClient, header: Header, method: str, route: str, batch: int, job: int = 1
) -> httpx.Response:
    """Ask one route about a batch, with a body that it takes."""
    path = route.format(b=batch, j=job, a=1, g=1, u=1, d=1, s="0" * 64, n=1, user="ann")
    name = f"{method} {route}"
    body = None if method == "GET" else document_of(name)
    async with http.stream(
        method, path, params=QUERIES.get(name), json=body, headers=header
    ) as answer:
        if not answer.headers["content-type"].startswith("text/event-stream"):  # it may never end
            await answer.aread()
        return answer


def problem(answer: httpx.Response, batch: int) -> tuple[int, Mapping[str, Any]]:
    """Return an answer without what differs between two requests."""
    document = problem_of(answer)
    document["title"] = re.sub(rf"\b(b|batches/){batch}\b", r"\1", document["title"])
    return answer.status_code, document


async def test_stranger_gets_on_each_route_what_does_not_exist(
    api: LiveApi, http: AsyncClient, ann: Header, stranger: Header, worker: LiveWorker
) -> None:
    batch = await submit(http, ann)
    await worker.start(await worker.claim(1))
    wrong = {}
    routes = batch_routes(api)
    for method, route in routes:
        hidden = await ask(http, stranger, method, route, batch)
        missing = await ask(http, stranger, method, route, NOBODY)
        found = problem(hidden, batch)
        if found != problem(missing, NOBODY) or found[1]["code"] != "API.BATCH_NOT_FOUND":
            wrong[method, route] = (hidden.status_code, hidden.text, missing.text)

    assert len(routes) > 40
    assert wrong == {}
    assert (await http.get(f"/v1/batches/{batch}", headers=ann)).json()["state"] == "running"


async def test_lists_counts_and_streams_leave_out_what_one_may_not_see(
    http: AsyncClient, ann: Header, stranger: Header, worker: LiveWorker
) -> None:
    batch = await submit(http, ann)
    await worker.start(await worker.claim(1))
    gone = await submit(http, ann)
    removal = (await http.request("DELETE", f"/v1/batches/{gone}", headers=ann)).json()
    schedule = (
        await http.post(
            "/v1/schedules", json={"cron": "0 2 * * *", "document": {"jobs": [{}]}}, headers=ann
        )
    ).json()

    async def seen(header: Header) -> dict[str, Any]:
        lists = {
            path: (await http.get(path, headers=header)).json()["items"]
            for path in (
                "/v1/batches",
                "/v1/batches?q=all",
                "/v1/batches?name=all%20kinds",
                "/v1/operations",
                f"/v1/operations?batch={gone}",
                "/v1/schedules",
                "/v1/dead-letters",
            )
        }
        overview = (await http.get("/v1/overview", headers=header)).json()
        (machine,) = overview.pop("workers")
        counts = [overview[name] for name in ("pending", "ready", "running")]
        return {
            **{path: len(items) for path, items in lists.items()},
            "counts": counts,
            "jobs": len(machine["jobs"]),
            "n_running": machine["n_running"],
            "operation": (
                await http.get(f"/v1/operations/{removal['id']}", headers=header)
            ).status_code,
            "schedule": (
                await http.get(f"/v1/schedules/{schedule['schedule_id']}", headers=header)
            ).status_code,
            "events": (await http.get(f"/v1/events?batch={batch}", headers=header)).status_code
            if header is stranger
            else 200,
        }

    hers, his, all_of_it = [await seen(header) for header in (ann, stranger, {})]

    assert hers == all_of_it
    assert sum(hers["counts"]) > 2
    assert {name for name, found in hers.items() if found in (0, 404)} == {"/v1/dead-letters"}
    assert his == {
        **dict.fromkeys(hers, 0),
        "counts": [0, 0, 0],
        "operation": 404,
        "schedule": 404,
        "events": 404,
        "n_running": 1,
    }


async def test_members_of_the_project_see_and_change_the_batch_until_it_is_deleted(
    http: AsyncClient, ann: Header, stranger: Header
) -> None:
    await http.post("/v1/billing-projects", json={"name": "genes"})
    for name in ("ann", "bob"):
        await http.put(f"/v1/billing-projects/genes/members/{name}")
    shared = await submit(http, ann, billing_project="genes")
    private = await submit(http, ann)
    listed = (await http.get("/v1/batches", headers=stranger)).json()["items"]
    cancelled = await http.post(f"/v1/batches/{shared}/cancel", headers=stranger)
    await http.request("DELETE", "/v1/billing-projects/genes/members/bob")
    left = (await http.get("/v1/batches", headers=stranger)).json()["items"]
    await http.put("/v1/billing-projects/genes/members/bob")
    back = (await http.get(f"/v1/batches/{shared}", headers=stranger)).status_code
    await http.patch("/v1/billing-projects/genes", json={"closed": True})
    deleted = await http.request("DELETE", "/v1/billing-projects/genes")

    assert [one["id"] for one in listed] == [shared]
    assert (cancelled.status_code, back, deleted.status_code) == (200, 200, 200)
    assert (await http.get(f"/v1/batches/{shared}", headers=stranger)).status_code == 404
    assert (await http.get(f"/v1/batches/{shared}", headers=ann)).status_code == 200
    assert left == []
    assert (await http.get(f"/v1/batches/{private}", headers=stranger)).status_code == 404


async def test_who_operates_the_tenant_sees_all_of_it(http: AsyncClient, ann: Header) -> None:
    batch = await submit(http, ann)
    seen = {}
    for role in ("viewer", "user", "operator", "tenant-admin"):
        header = await add(http, role, role=role)
        await http.request("DELETE", f"/v1/billing-projects/default/members/{role}")
        seen[role] = (await http.get(f"/v1/batches/{batch}", headers=header)).status_code

    assert seen == {"viewer": 404, "user": 404, "operator": 200, "tenant-admin": 200}


RIGHTS = route_rights()


def needed(method: str, route: str) -> Permission:
    name = f"{method} {route}"
    by_right = Permission.READ if RIGHTS[name] == Right.READ else Permission.WRITE
    return PERMISSIONS.get(name, by_right)


def test_what_routes_need() -> None:
    changing = {name for name in RIGHTS if "{b}" in name and not name.startswith("GET")}
    by_needs = {
        one: {name for name in changing if needed(*name.split()) == one} for one in Permission
    }

    assert by_needs[Permission.READ] == {"POST /v1/batches/{b}/resubmit"}
    assert by_needs[Permission.ALL] == {
        f"{method} /v1/batches/{{b}}{of}/permissions/{{user}}"
        for method in ("PUT", "DELETE")
        for of in ("", "/jobs/{j}")
    } | {"POST /v1/batches/{b}/jobs/{j}/exec"}
    assert {name.rsplit("/", 1)[1] for name in by_needs[Permission.EXECUTE]} == {
        "acknowledge",
        "answer",
        "answer-links",
        "cancel",
        "extend",
        "hold",
        "message",
        "redeliver",
        "release",
        "retry",
        "signal",
        "status",
    }


@pytest.mark.heavy
@cases("permission", list(Permission))
async def test_who_got_a_permission_may_do_what_it_says_and_no_more(
    api: LiveApi, http: AsyncClient, ann: Header, stranger: Header, permission: Permission
) -> None:
    batch = await submit(http, ann)
    path = f"/v1/batches/{batch}/permissions"
    shared = await http.put(f"{path}/BOB", json={"permission": permission.word}, headers=ann)
    listed = (await http.get(path, headers=stranger)).json()["items"]
    wrong = {}
    removal = ("DELETE", "/v1/batches/{b}")  # the last: it leaves no batch to ask about
    for method, route in sorted(batch_routes(api), key=lambda one: (one == removal, one)):
        answer = await ask(http, stranger, method, route, batch)
        code = code_of(answer)
        refused = (answer.status_code, code) == (403, "API.PERMISSION_MISSING")
        if refused is (needed(method, route) <= permission) or code == "API.BATCH_NOT_FOUND":
            wrong[method, route] = (answer.status_code, code)

    assert shared.json() == listed[0] | {"user": "bob", "permission": permission.word}
    assert (len(listed), listed[0]["granted_by"]) == (1, "user ann")
    assert wrong == {}


async def test_sharing_is_told_and_ends(http: AsyncClient, ann: Header, stranger: Header) -> None:
    batch = await submit(http, ann)
    path = f"/v1/batches/{batch}/permissions"
    for _ in range(2):
        await http.put(f"{path}/bob", json={"permission": "read"}, headers=ann)
    found = (await http.get("/v1/batches", headers=stranger)).json()["items"]
    ended = [
        (await http.request("DELETE", f"{path}/bob", headers=ann)).json()["permission"]
        for _ in range(2)
    ]
    owner = await http.put(f"{path}/ann", json={"permission": "read"}, headers=ann)
    nobody = await http.put(f"{path}/nobody", json={"permission": "read"}, headers=ann)
    history = (await http.get(f"/v1/batches/{batch}/history", headers=ann)).json()["items"]
    told = [(one["actor"], one["message"]) for one in history if "shared" in str(one)]

    assert [one["id"] for one in found] == [batch]
    assert ended == [None, None]
    assert (await http.get(f"/v1/batches/{batch}", headers=stranger)).status_code == 404
    assert owner.json()["permission"] == "all"
    assert (nobody.status_code, nobody.json()["code"]) == (404, "API.USER_NOT_FOUND")
    assert sorted(told) == [("user ann", "bob"), ("user ann", "bob: read")]


async def test_only_the_owner_resubmits(http: AsyncClient, ann: Header, stranger: Header) -> None:
    """The copy has values of variables that others see masked."""
    batch = await submit(http, ann, jobs=[{"command": ["true"], "env": {"MY_TOKEN": "hush"}}])
    path = f"/v1/batches/{batch}"
    await http.put(f"{path}/permissions/bob", json={"permission": "all"}, headers=ann)
    refused = await http.post(f"{path}/resubmit", json={}, headers=stranger)
    allowed = await http.post(f"{path}/resubmit", json={}, headers=ann)

    assert (refused.status_code, refused.json()["code"]) == (403, "API.FORBIDDEN")
    assert allowed.status_code == 202


async def test_operations_are_seen_as_long_as_the_batch(
    http: AsyncClient, ann: Header, stranger: Header
) -> None:
    batch = await submit(http, ann)
    shared = f"/v1/batches/{batch}/permissions/bob"
    await http.put(shared, json={"permission": "execute"}, headers=ann)
    begun = await http.post(f"/v1/batches/{batch}/retry", json={}, headers=stranger)
    path = f"/v1/operations/{begun.json()['id']}"
    before = (await http.get(path, headers=stranger)).status_code
    await http.request("DELETE", shared, headers=ann)

    assert before == 200
    assert (await http.get(path, headers=stranger)).status_code == 404
    assert (await http.get(path, headers=ann)).status_code == 200


async def test_jobs_in_a_batch_of_another_need_the_queues_of_both(
    http: AsyncClient, ann: Header, stranger: Header
) -> None:
    queue = {"name": "vip", "priority": 1, "guard": "true", "users": ["ann"]}
    saved = await http.put("/v1/queues", json={"queues": [queue]})
    batch = await submit(http, ann)
    await http.put(
        f"/v1/batches/{batch}/permissions/bob", json={"permission": "write"}, headers=ann
    )
    path, job = f"/v1/batches/{batch}/updates", {"command": ["true"]}
    named = {"jobs": [{**job, "queue": "vip"}]}
    refused = await http.post(path, json=named, headers=stranger)
    routed = (await http.post(path, json={"jobs": [job]}, headers=stranger)).json()
    allowed = await http.post(path, json=named, headers=ann)
    found = await http.get(f"/v1/batches/{batch}/jobs/{routed['first_job']}", headers=ann)

    assert (saved.status_code, allowed.status_code) == (200, 201)
    assert refused.status_code == 400
    assert "bob may not use the queue 'vip'" in refused.text
    assert found.json()["queue"] == "default"


async def test_who_sees_a_batch_no_longer_is_not_told_its_owner(
    http: AsyncClient, ann: Header, stranger: Header
) -> None:
    batch = await submit(http, ann)
    path, shared = f"/v1/batches/{batch}", f"/v1/batches/{batch}/permissions/bob"
    await http.put(shared, json={"permission": "read"}, headers=ann)
    before = await http.post(f"{path}/resubmit", json={}, headers=stranger)
    await http.request("DELETE", shared, headers=ann)
    after = await http.post(f"{path}/resubmit", json={}, headers=stranger)

    assert (before.status_code, after.status_code) == (403, 404)


async def shown_conditions(http: AsyncClient, header: Header, number: int) -> dict[str, Any]:
    """Return what the API and the pages show of conditions: counts, and answers about one."""
    one = f"/v1/conditions/c{number}"
    links = {
        path: (await http.get(path, headers=header)).text.count(f'href="/ui/conditions/{number}"')
        for path in ("/ui", "/ui/conditions", "/ui/incidents")
    }
    counts = (await http.get("/metrics", headers=header)).text
    listed = (await http.get("/v1/conditions", headers=header)).json()["items"]
    test = await http.post(f"{one}/test", json={}, headers=header)
    press = await http.post(f"/ui/conditions/{number}/test", data={}, headers=header)
    return {
        **links,
        "listed": [(row["condition_id"], row["n_jobs"]) for row in listed],
        "overview": (await http.get("/v1/overview", headers=header)).json()["conditions"],
        "metrics": float(
            next(
                line for line in counts.splitlines() if line.startswith("weft_conditions")
            ).split()[-1]
        ),
        "answers": [
            (await http.get(path, headers=header)).status_code
            for path in (one, f"/ui/conditions/{number}")
        ],
        "tests": [test.status_code, press.status_code],
    }


async def test_conditions_of_others_do_not_exist(
    http: AsyncClient, ann: Header, stranger: Header, worker: LiveWorker
) -> None:
    ask = Ask("quota", "tcp", {"host": "db.example", "port": "5432"})

    async def block(header: Header) -> int:
        batch = await submit(http, header, jobs=[{"count": 2, "command": ["true"]}])
        claimed = await worker.claim_and_start()
        await worker.block(claimed, ask)
        return batch

    await block(ann)
    (found,) = (await http.get("/v1/conditions")).json()["items"]
    number = found["condition_id"]
    hers, his, all_of_it = [
        await shown_conditions(http, header, number) for header in (ann, stranger, {})
    ]
    refused = [
        [
            problem_of(await http.request(method, f"/v1/conditions/{of}{path}", headers=stranger))
            for method, path in (("GET", ""), ("POST", "/test"))
        ]
        for of in (number, NOBODY)
    ]
    for both, of in zip(refused, (number, NOBODY), strict=True):
        for one in both:
            one["title"] = one["title"].replace(str(of), "N")

    assert hers == all_of_it
    assert (hers["listed"], hers["overview"]) == ([(number, 2)], 1)
    assert {key: his[key] for key in his if his[key] not in (0, [])} == {
        "answers": [404, 404],
        "tests": [404, 404],
    }
    assert refused[0] == refused[1]

    await http.put("/v1/billing-projects/default/members/bob")
    batch = await block(stranger)
    await http.request("DELETE", "/v1/billing-projects/default/members/bob")
    ours = await shown_conditions(http, stranger, number)
    named = (await http.get(f"/v1/conditions/{number}", headers=stranger)).json()["jobs"]

    assert ours["listed"] == [(number, 2)]
    assert ours["answers"] == [200, 200]
    assert [one["batch_id"] for one in named] == [batch] * 2
    assert (await shown_conditions(http, {}, number))["listed"] == [(number, 4)]


async def test_queues_of_others_are_not_counted(
    http: AsyncClient, ann: Header, stranger: Header
) -> None:
    queue = {"name": "vip", "priority": 1, "guard": "true", "users": ["ann"]}
    await http.put("/v1/queues", json={"queues": [queue]})
    await submit(http, ann, jobs=[{"count": 3, "command": ["true"]}])

    async def shown(header: Header) -> tuple[Any, ...]:
        rows = (await http.get("/v1/queues", headers=header)).json()["items"]
        one = (await http.get("/v1/queues/vip", headers=header)).json()
        counts = (await http.get("/metrics", headers=header)).text
        page = (await http.get("/ui/queues", headers=header)).text.partition("vip")[2]
        return (
            [(row["name"], row["n_waiting"], row["n_running"]) for row in rows],
            (one["n_waiting"], one["n_running"]),
            'weft_queue_jobs{queue="vip"' in counts,
            re.findall(r'<td class="n" data-label="(?:Waiting|Running)">([0-9–]+)', page)[:2],
        )

    whole = ([("vip", 3, 0), ("default", 0, 0)], (3, 0), True, ["3", "0"])
    assert await shown(ann) == await shown({}) == whole
    assert await shown(stranger) == (
        [("vip", None, None), ("default", 0, 0)],
        (None, None),
        False,
        ["–", "–"],
    )
