"""Sets and operations over HTTP."""

from typing import Any

import httpx

from api.live import LiveWorker, submit
from cases import cases


async def test_jobs_are_put_into_sets_when_they_are_made(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    pca = {"name": "pca", "kind": "set", "attributes": {"a": "1"}}
    jobs = [{"group": "/x", "groups": ["pca", "vep"]}, {"groups": ["pca"]}, {"group": "/x/y"}]
    batch = await submit(http, groups=[pca, {"path": "/x"}], jobs=jobs)
    await worker.work()
    groups = (await http.get(f"/v1/batches/{batch}/groups")).json()["items"]
    shown = {(g["kind"], g["path"] or g["name"]): g["n_succeeded"] for g in groups}

    assert shown == {
        ("tree", "/"): 3,
        ("tree", "/x"): 2,
        ("tree", "/x/y"): 1,
        ("set", "pca"): 2,
        ("set", "vep"): 1,
    }
    pca = (await http.get(f"/v1/batches/{batch}/groups/pca")).json()
    assert (pca["attributes"], pca["complete"]) == ({"a": "1"}, True)
    job = (await http.get(f"/v1/batches/{batch}/jobs/1")).json()
    assert len(job["groups"]) == 2


async def test_bunches_name_sets_by_number(http: httpx.AsyncClient) -> None:
    batch = await submit(http, jobs=[])
    made = (await http.post(f"/v1/batches/{batch}/groups", json={"name": "old"})).json()
    at = f"/v1/batches/{batch}/updates"
    update = (await http.post(at, json={"n_jobs": 2, "n_groups": 1})).json()["update_id"]
    body: dict[str, Any] = {"first": 1, "groups": [{"name": "new", "kind": "set"}]}
    assert (await http.post(f"{at}/{update}/groups", json=body)).status_code == 201
    body = {"first": 1, "jobs": [{"groups": [1, -made["group_id"]]}, {"groups": [1]}]}
    assert (await http.post(f"{at}/{update}/jobs", json=body)).status_code == 201
    assert (await http.post(f"{at}/{update}/commit", json={})).status_code == 200

    new = (await http.get(f"/v1/batches/{batch}/groups/new")).json()
    old = (await http.get(f"/v1/batches/{batch}/groups/old")).json()
    assert (new["n_ready"], old["n_ready"]) == (2, 1)


async def test_set_is_made_and_filled_by_hand(http: httpx.AsyncClient) -> None:
    batch = await submit(http, jobs=[{}] * 4)
    made = await http.post(f"/v1/batches/{batch}/groups", json={"name": "random"})
    again = await http.post(f"/v1/batches/{batch}/groups", json={"name": "random"})
    assert (made.status_code, again.headers["idempotent-replay"]) == (201, "true")

    at = f"/v1/batches/{batch}/groups/random/members"
    first = (await http.post(at, json={"jobs": [1, 3]})).json()
    second = (await http.post(at, json={"jobs": [3, 4, 3]})).json()
    assert (first["added"], first["n_members"]) == (2, 2)
    assert (second["added"], second["n_members"]) == (1, 3)
    missing = await http.post(at, json={"jobs": [1, 5]})
    assert (missing.status_code, missing.json()["code"]) == (404, "API.JOB_NOT_FOUND")
    tree = await http.post(f"/v1/batches/{batch}/groups/%2F/members", json={"jobs": [1]})
    assert (tree.status_code, tree.json()["code"]) == (400, "API.NOT_A_SET")


async def test_tree_group_is_made_alone(http: httpx.AsyncClient) -> None:
    batch = await submit(http, jobs=[])
    made = await http.post(f"/v1/batches/{batch}/groups", json={"path": "/a/b"})

    assert made.status_code == 201
    assert (made.json()["path"], made.json()["kind"]) == ("/a/b", "tree")
    again = await http.post(f"/v1/batches/{batch}/groups", json={"path": "/a/b"})
    assert (again.status_code, again.json()["code"]) == (409, "API.GROUP_EXISTS")


async def test_bad_names_of_sets_are_refused(http: httpx.AsyncClient) -> None:
    batch = await submit(http, jobs=[])
    for name in ["7", "g7", "a/b", "", "x" * 300, "a\u0000b"]:
        answer = await http.post(f"/v1/batches/{batch}/groups", json={"name": name})

        assert answer.status_code == 400
        assert answer.json()["errors"][0]["pointer"] == "/name"


async def test_query_set_is_an_operation(http: httpx.AsyncClient) -> None:
    batch = await submit(http, jobs=[{}] * 4)
    at, key = f"/v1/batches/{batch}/groups", {"idempotency-key": "k"}
    begun = await http.post(at, params={"q": "job_id > 2"}, json={"name": "x"}, headers=key)
    again = await http.post(at, params={"q": "job_id > 2"}, json={"name": "x"}, headers=key)
    other = await http.post(at, params={"q": "job_id > 1"}, json={"name": "x"}, headers=key)

    assert begun.status_code == 202
    operation = begun.json()
    assert (operation["kind"], operation["state"]) == ("fill_set", "running")
    assert (operation["done"], operation["total"]) == (0, 4)
    assert again.json()["id"] == operation["id"]
    assert other.status_code == 409
    assert (await http.get(f"{at}/x")).status_code == 404
    listed = (await http.get("/v1/operations", params={"batch": f"b{batch}"})).json()["items"]
    assert [one["id"] for one in listed] == [operation["id"]]
    missing = await http.get("/v1/operations/99")
    assert (missing.status_code, missing.json()["code"]) == (404, "API.OPERATION_NOT_FOUND")


async def test_query_that_makes_no_sense_begins_nothing(http: httpx.AsyncClient) -> None:
    batch = await submit(http)
    answer = await http.post(f"/v1/batches/{batch}/groups", params={"q": "cost >"}, json={})

    assert answer.status_code == 400
    assert "column" in answer.text
    assert (await http.get("/v1/operations")).json()["items"] == []


@cases("group", [{"name": "pca"}, {"path": "/a"}])
async def test_declared_group_that_is_there_is_refused_as_in_a_bunch(
    http: httpx.AsyncClient, group: dict[str, str]
) -> None:
    batch = await submit(http, groups=[group])
    at = f"/v1/batches/{batch}/updates"
    small = await http.post(at, json={"groups": [{"path": "/new"}, group], "jobs": [{}]})
    update = (await http.post(at, json={"n_groups": 1})).json()["update_id"]
    name = group.get("name", "a")
    kind = "set" if "name" in group else "tree"
    body = {"first": 1, "groups": [{"name": name, "kind": kind}]}
    bunch = await http.post(f"{at}/{update}/groups", json=body)

    for refused in (small, bunch):
        assert (refused.status_code, refused.json()["code"]) == (409, "API.GROUP_EXISTS")
    assert [one["pointer"] for one in small.json()["errors"]] == [f"/groups/1/{next(iter(group))}"]
    assert (await http.get(f"/v1/batches/{batch}")).json()["n_jobs"] == 1
    assert (await http.get(f"/v1/batches/{batch}/groups/%2Fnew")).status_code == 404
