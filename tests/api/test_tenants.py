"""Tenants over HTTP: who makes them, and that two of them share workers and nothing else."""

import json
from typing import Any, get_args

import httpx
from httpx import AsyncClient

from api.live import Commands, LiveApi, LiveWorker
from weft.aio import Client
from weft.wire.documents.engines import EngineOptions
from weft.wire.documents.tenants import AllowedKind

MISSING = 999_999


async def create(http: AsyncClient, name: str) -> dict[str, str]:
    answer = await http.post("/v1/tenants", json={"name": name, "admin": "ann"})
    assert answer.status_code == 201, answer.text
    return {"authorization": f"Bearer {answer.json()['token']}"}


def text_of(answer: httpx.Response, number: int | str) -> dict[str, Any]:
    """Return a refusal without what was asked for, and without its trace id."""
    problem = answer.json()
    return {
        name: str(value).replace(str(number), "N")
        for name, value in problem.items()
        if name != "trace_id"
    }


async def test_jobs_of_two_tenants_run_on_the_shared_pool(
    http: AsyncClient, worker: LiveWorker
) -> None:
    headers = [await create(http, name) for name in ("acme", "umbra")]
    batches = []
    for header in headers:
        made = await http.post("/v1/batches", json={"jobs": [{}, {}]}, headers=header)
        assert made.status_code == 201, made.text
        batches.append(made.json()["id"])
    ran = await worker.work()
    listed = [(await http.get("/v1/batches", headers=one)).json()["items"] for one in headers]
    projects = [
        (await http.get("/v1/billing-projects", headers=one)).json()["items"] for one in headers
    ]

    assert ran == 4
    assert [[one["id"] for one in items] for items in listed] == [[one] for one in batches]
    assert {one["state"] for (one,) in listed} == {"success"}
    assert [(one["name"], one["members"]) for (one,) in projects] == [("default", ["ann"])] * 2


async def test_things_of_another_tenant_do_not_exist(http: AsyncClient, api: LiveApi) -> None:
    b = (await http.post("/v1/batches", json={"jobs": [{}]})).json()["id"]
    token = (await http.get("/v1/tokens")).json()["items"][0]["token_id"]
    ann = await create(http, "acme")
    async with api.client(**ann) as stranger:
        for method, path, n in (
            ("GET", "/v1/batches/{}", b),
            ("POST", "/v1/batches/{}/cancel", b),
            ("DELETE", "/v1/batches/{}", b),
            ("GET", "/v1/batches/{}/jobs/1/log", b),
            ("DELETE", "/v1/tokens/{}", token),
        ):
            found, missing = [
                await stranger.request(method, path.format(one)) for one in (n, MISSING)
            ]

            assert (found.status_code, missing.status_code) == (404, 404), path
            assert text_of(found, n) == text_of(missing, MISSING)
    assert (await http.get(f"/v1/batches/{b}")).json()["cancelled"] is False


async def test_tenant_admins_see_and_make_no_tenants(http: AsyncClient) -> None:
    ann = await create(http, "acme")
    refused = [
        await http.get("/v1/tenants", headers=ann),
        await http.post("/v1/tenants", json={"name": "b", "admin": "ann"}, headers=ann),
        await http.post("/v1/users", json={"name": "b", "role": "admin"}, headers=ann),
    ]
    only = (await http.post("/v1/tokens", json={"name": "a", "scopes": ["administer"]})).json()
    scoped = {"authorization": f"Bearer {only['token']}"}
    by_scope = await http.post("/v1/tenants", json={"name": "b", "admin": "ann"}, headers=scoped)
    listed = (await http.get("/v1/tenants", headers=scoped)).json()["items"]

    assert [one.status_code for one in (*refused, by_scope)] == [403] * 4
    assert by_scope.json()["title"] == "you may not give the role tenant-admin"
    assert [(one["name"], one["n_users"]) for one in listed] == [("local", 1), ("acme", 1)]


async def test_tenant_is_set_by_its_administrators_and_those_of_the_site(
    http: AsyncClient, api: LiveApi, command: Commands
) -> None:
    ann, eve = [await create(http, name) for name in ("acme", "umbra")]
    only = (await http.post("/v1/tokens", json={"name": "m", "scopes": ["manage"]})).json()
    scoped = {"authorization": f"Bearer {only['token']}"}
    for headers, edit in ((ann, "cancel"), ({}, "finish"), (ann, "cancel")):
        changed = await http.patch(
            "/v1/tenants/ACME", json={"on_user_removal": edit}, headers=headers
        )
        assert (changed.status_code, changed.json()["on_user_removal"]) == (200, edit)
    for headers in (eve, scoped):
        for method, body in (("GET", None), ("PATCH", {"on_user_removal": "finish"})):
            found, missing = [
                await http.request(method, f"/v1/tenants/{name}", json=body, headers=headers)
                for name in ("acme", "nowhere")
            ]
            assert (found.status_code, found.json()["code"]) == (404, "API.TENANT_NOT_FOUND")
            assert text_of(found, "acme") == text_of(missing, "nowhere")
    wrong = await http.patch("/v1/tenants/acme", json={"on_user_removal": "pause"})
    listed = (await http.get("/v1/tenants")).json()["items"]
    async with Client(url=api.url, token=ann["authorization"].removeprefix("Bearer ")) as client:
        of_client = await client.set_tenant("acme", on_user_removal="cancel")
        assert await client.get_tenant("acme") == of_client
    await http.post("/v1/users", json={"name": "bob"})
    printed = [
        await command(*words)
        for words in (
            ["tenant", "set", "acme", "--on-user-removal", "finish"],
            ["tenant", "show", "acme", "--json"],
            ["tenant", "ls"],
            ["user", "rm", "bob"],
            ["user", "rm", "bob", "--cancel-batches"],
            ["user", "rm", "bob", "--finish-batches"],
        )
    ]

    assert wrong.status_code == 400
    assert [one["on_user_removal"] for one in listed] == ["finish", "cancel", "finish"]
    assert [one[0] for one in printed] == [0] * 6
    assert printed[0][2] == "weft: tenant acme: 1 user; batches of removed users finish\n"
    assert json.loads(printed[1][1]) == {**of_client, "on_user_removal": "finish"}
    assert printed[2][1].splitlines()[2].split() == ["acme", "1", "finish"]
    assert [one[2] for one in printed[3:]] == [
        f"weft: bob is removed; {end}\n"
        for end in ("their batches finish", "batches cancelled: 0", "their batches finish")
    ]


async def test_name_is_taken_whether_in_capitals_or_not(http: AsyncClient) -> None:
    await create(http, "Acme")
    again = await http.post("/v1/tenants", json={"name": "aCME", "admin": "eve"})

    assert (again.status_code, again.json()["code"]) == (409, "API.TENANT_EXISTS")


async def test_jobs_choose_what_their_tenant_allows(http: AsyncClient, command: Commands) -> None:
    """What it does not allow is refused by field; others choose on."""
    ann = await create(http, "acme")
    words = ["tenant", "set", "acme", "--allow", "image=docker://here/*", "--allow", "account="]
    done, nothing = await command(*words), await command("tenant", "set", "acme")
    assert (done[0], nothing[0]) == (0, 2)
    engine = {"account": "climate", "partition": "long"}
    ours, theirs = [
        {"container": {"image": f"docker://{where}/bwa:1"}} for where in ("here", "there")
    ]
    jobs = [theirs, ours, {"command": ["true"], "engine": engine}]
    answers = [
        await http.post("/v1/batches", json={"jobs": some}, headers=headers)
        for headers, some in ((ann, jobs), (ann, [ours]), ({}, jobs))
    ]
    refused = answers[0].json()

    assert (
        "its jobs may choose of account: none\nweft: its jobs may choose of image: doc" in done[2]
    )
    assert answers[0].status_code == 400
    assert [(one["pointer"], one["message"]) for one in refused["errors"]] == [
        (f"/jobs/{at}", f"the tenant does not allow its jobs the {what}")
        for at, what in (
            ("0/container/image", "image docker://there/bwa:1; allowed: docker://here/*"),
            ("2/engine/account", "account climate; allowed: none"),
        )
    ]
    assert [one.status_code for one in answers[1:]] == [201, 201]


def test_tenants_list_what_jobs_choose() -> None:
    """But for the number of nodes, which takes no more than the job has."""
    *choices, nodes = EngineOptions.__struct_fields__
    assert (get_args(AllowedKind), nodes) == (("image", *choices), "nodes")
