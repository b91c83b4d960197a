"""`PATCH` with a priority: of a job at once, of a batch or a group as an operation."""

from httpx import AsyncClient

from api.live import LiveWorker, submit
from api.test_bad_input import assert_problem


async def test_job_has_its_priority_at_once(http: AsyncClient) -> None:
    path = f"/v1/batches/{await submit(http, jobs=[{}, {}])}/jobs/2"
    answer = await http.patch(path, json={"priority": -7, "name": "late"})
    history = (await http.get(f"{path}/history")).json()["items"]

    assert (answer.status_code, answer.json()["priority"], answer.json()["name"]) == (
        200, -7, "late",
    )  # fmt: skip
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
