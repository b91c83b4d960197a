"""Changes by `PATCH`: names, attributes and priorities."""

from typing import Any

from httpx import AsyncClient

from api.live import LiveWorker, submit
from api.test_bad_input import assert_problem
from cases import cases

PATHS = ("/v1/batches/1", "/v1/batches/1/groups/1", "/v1/batches/1/jobs/1")
WRONG: list[tuple[Any, str, str]] = [
    ({"nmae": "x"}, "API.UNKNOWN_FIELD", "/nmae"),
    ({"name": 1}, "API.WRONG_TYPE", "/name"),
    ({"name": ""}, "API.INVALID_VALUE", "/name"),
    ({"name": "a\nb"}, "API.INVALID_VALUE", "/name"),
    ({"name": "x" * 257}, "API.INVALID_VALUE", "/name"),
    ({"attributes": []}, "API.WRONG_TYPE", "/attributes"),
    ({"attributes": {"a/b": 1}}, "API.WRONG_TYPE", "/attributes/a~1b"),
    ({"attributes": {"k": "x" * 1024}}, "API.INVALID_VALUE", "/attributes/k"),
    ({"attributes": {"": "x"}}, "API.INVALID_VALUE", "/attributes/"),
    ({"attributes": {"a\0b": None}}, "API.NUL_CHARACTER", "/attributes/a\0b"),
    ({"attributes": {"a\nb": None}}, "API.INVALID_VALUE", "/attributes/a\nb"),
    ({"attributes": {"": None}}, "API.INVALID_VALUE", "/attributes/"),
    ({"attributes": {str(n): "" for n in range(65)}}, "API.INVALID_VALUE", "/attributes"),
    ({"priority": 1001}, "API.WRONG_TYPE", "/priority"),
    ({"priority": -1001}, "API.WRONG_TYPE", "/priority"),
    ({"priority": "5"}, "API.WRONG_TYPE", "/priority"),
    ({"priority": 0.5}, "API.WRONG_TYPE", "/priority"),
    ({"priority": None}, "API.WRONG_TYPE", "/priority"),
    ([], "API.WRONG_TYPE", ""),
]


@cases("path", PATHS)
async def test_wrong_patch_is_refused_and_changes_nothing(client: AsyncClient, path: str) -> None:
    for document, code, pointer in WRONG:
        answer = await client.patch(path, json=document)

        assert_problem(answer, 400, code, pointer)


async def test_patch_is_json_by_its_own_name_too_but_only_there(http: AsyncClient) -> None:
    merge = {"content-type": "application/merge-patch+json"}
    batch = await submit(http, name="old", jobs=[{}])
    path = f"/v1/batches/{batch}"
    answer = await http.patch(path, content=b'{"name": "new"}', headers=merge)

    assert (answer.status_code, answer.json()["name"]) == (200, "new")
    for ask, where, id_ in ((http.patch, path, "b12"), (http.post, "/v1/batches", "12")):
        refused = await ask(where, json={"name": id_})
        assert_problem(refused, 400, "API.INVALID_VALUE", "/name")
    refused = await http.post("/v1/batches", content=b"{}", headers=merge)
    assert_problem(refused, 415, "API.UNSUPPORTED_MEDIA")


async def test_batch_group_and_job_are_edited_and_say_by_whom(http: AsyncClient) -> None:
    document = {
        "attributes": {str(n): "" for n in range(64)},
        "groups": [{"path": "/a/b"}],
        "jobs": [{"group": "/a/b", "name": "one"}],
    }
    path = f"/v1/batches/{(await http.post('/v1/batches', json=document)).json()['id']}"
    too_many = await http.patch(path, json={"attributes": {"one more": "x"}})
    batch = await http.patch(path, json={"name": "x", "attributes": None})
    group = await http.patch(f"{path}/groups/%2Fa", json={"name": "z", "attributes": {"k": "v"}})
    job = await http.patch(f"{path}/jobs/1", json={"name": None})
    below = await http.get(f"{path}/groups/%2Fz%2Fb")
    root = await http.patch(f"{path}/groups/0", json={"name": "as the batch"})
    nothing = await http.patch(path, json={})
    history = [(await http.get(f"{path}{of}/history")).json() for of in ("", "/groups/%2Fz")]

    assert_problem(too_many, 400, "API.INVALID_VALUE", "/attributes")
    assert (batch.json()["name"], batch.json()["attributes"]) == ("x", {})
    assert (group.json()["path"], group.json()["attributes"]) == ("/z", {"k": "v"})
    assert (job.json()["name"], below.status_code) == (None, 200)
    assert root.json()["name"] == nothing.json()["name"] == "as the batch"
    assert [[item["kind"] for item in page["items"]] for page in history] == [
        ["edited", "edited"],
        ["edited"],
    ]
    assert {item["actor"] for page in history for item in page["items"]} == {"user tester"}
    page = (await http.get(f"{path}/history?limit=1")).json()
    rest = (await http.get(f"{path}/history", params={"cursor": page["cursor"]})).json()
    assert [*page["items"], *rest["items"]] == history[0]["items"]


async def test_job_of_an_array_gets_a_label_of_its_own(http: AsyncClient) -> None:
    array = {"count": 3, "name": "part", "attributes": {"a": "1", "b": "2"}}
    path = f"/v1/batches/{await submit(http, jobs=[array])}/jobs"
    two = await http.patch(f"{path}/2", json={"attributes": {"a": None, "c": "3"}})
    three = await http.patch(f"{path}/3", json={"name": None})
    same = await http.patch(f"{path}/1", json={"name": "part"})
    jobs = (await http.get(path)).json()["items"]

    assert (two.status_code, three.status_code, same.status_code) == (200, 200, 200)
    assert [(job["name"], job["attributes"]) for job in jobs] == [
        ("part", {"a": "1", "b": "2"}),
        ("part", {"b": "2", "c": "3"}),
        (None, {"a": "1", "b": "2"}),
    ]


async def test_groups_keep_their_names_if_others_do_not_fit(http: AsyncClient) -> None:
    """Those of the tree into a path; sets are told from numbers."""
    groups = [{"path": "/a"}, {"path": "/c"}, {"name": "s"}]
    path = f"/v1/batches/{await submit(http, groups=groups)}/groups"
    for group, name in (("1", None), ("1", "a/b"), ("s", None), ("s", "a/b"), ("s", "g7")):
        answer = await http.patch(f"{path}/{group}", json={"name": name})
        assert_problem(answer, 400, "API.INVALID_VALUE", "/name")
    assert_problem(await http.patch(f"{path}/1", json={"name": "c"}), 409, "API.GROUP_EXISTS")
    # A name as any other: paths of groups are no files.
    assert (await http.patch(f"{path}/1", json={"name": ".."})).json()["path"] == "/.."


async def test_what_is_not_there_cannot_be_edited(http: AsyncClient) -> None:
    await http.post("/v1/batches", json={"jobs": [{}]})
    for path in ["/v1/batches/9", "/v1/batches/1/groups/9", "/v1/batches/1/jobs/9"]:
        for document in ({"name": "x"}, {"priority": 5}):
            assert (await http.patch(path, json=document)).status_code == 404


async def test_job_has_its_priority_at_once(http: AsyncClient) -> None:
    path = f"/v1/batches/{await submit(http, jobs=[{}, {}])}/jobs/2"
    answer = await http.patch(path, json={"priority": -7, "name": "late"})
    history = (await http.get(f"{path}/history")).json()["items"]

    assert (answer.status_code, answer.json()["priority"], answer.json()["name"]) == (
        200,
        -7,
        "late",
    )
    assert [one["subtype"] for one in history[1:]] == ["edited", "prioritized"]
    assert {one["actor"] for one in history[1:]} == {"user tester"}


async def test_job_that_has_ended_keeps_everything(http: AsyncClient, worker: LiveWorker) -> None:
    batch = await submit(http, jobs=[{"command": ["true"]}])
    path = f"/v1/batches/{batch}/jobs/1"
    await worker.end(await worker.claim(1))
    answer = await http.patch(path, json={"priority": 5, "name": "late"})
    same = await http.patch(path, json={"priority": 0})

    assert_problem(answer, 409, "API.JOB_ENDED")
    assert "success" in answer.json()["detail"]
    assert (same.status_code, same.json()["name"]) == (200, None)


async def test_batch_and_groups_answer_with_an_operation(http: AsyncClient) -> None:
    document = {"groups": [{"path": "/a"}, {"name": "s"}], "jobs": [{"group": "/a"}, {}]}
    batch = (await http.post("/v1/batches", json=document)).json()["id"]
    path = f"/v1/batches/{batch}"
    answers = [
        await http.patch(path + of, json={"priority": 5, "name": name})
        for of, name in (("", "x"), ("/groups/%2Fa", "z"), ("/groups/s", "t"), ("/groups/0", "y"))
    ]
    operations = [answer.json() for answer in answers]
    listed = (await http.get(f"/v1/operations?batch={batch}")).json()["items"]

    assert [answer.status_code for answer in answers] == [202] * 4
    assert {one["kind"] for one in operations} == {"set_priority"}
    assert {(one["state"], one["done"], one["total"]) for one in operations} == {("running", 0, 2)}
    assert [one["id"] for one in listed] == [one["id"] for one in operations][::-1]
    assert (await http.get(f"/v1/operations/{operations[0]['id']}")).json() == operations[0]
    assert (await http.get(path)).json()["name"] == "y"
    assert (await http.get(f"{path}/groups/%2Fz")).status_code == 200
    history = (await http.get(f"{path}/groups/t/history")).json()["items"]
    assert [one["kind"] for one in history] == ["prioritized", "edited"]
