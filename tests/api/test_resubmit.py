"""`POST /v1/batches/{b}/resubmit`."""

import httpx

from api.live import LiveWorker
from api.test_bad_input import assert_problem
from api.test_retry import failed


async def test_resubmission_is_an_operation(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    path = await failed(http, worker)
    key = {"Idempotency-Key": "as-new"}
    document = {
        "failed": True, "name": "again", "env": {"A": "1"}, "queue": "default", "priority": 3,
        "resources": {"cpu": 0.5, "memory": "100Mi"}, "max_attempts": 2, "timeout_s": 60,
    }  # fmt: skip
    answers = [await http.post(f"{path}/resubmit", json=document, headers=key) for _ in range(2)]
    operation = answers[0].json()
    other = await http.post(f"{path}/resubmit", json={}, headers=key)

    assert [one.status_code for one in answers] == [202, 202]
    assert (operation["kind"], operation["state"], operation["total"]) == (
        "resubmit",
        "running",
        2,
    )
    assert answers[1].json() == operation
    assert_problem(other, 409, "API.IDEMPOTENCY_CONFLICT")


async def test_wrong_resubmission_is_refused(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    path = await failed(http, worker)
    for document, status, code, pointer in [
        ({"force": True}, 400, "API.UNKNOWN_FIELD", "/force"),
        ({"name": ""}, 400, "API.INVALID_VALUE", "/name"),
        ({"attributes": {"": "x"}}, 400, "API.INVALID_VALUE", "/attributes/"),
        ({"env": {"A=B": "x"}}, 400, "API.INVALID_VALUE", "/env/A=B"),
        ({"priority": 1001}, 400, "API.WRONG_TYPE", "/priority"),
        ({"resources": {"cpu": -1}}, 400, "API.INVALID_VALUE", "/resources/cpu"),
        ({"resources": {"gpu": 1}}, 400, "API.UNKNOWN_FIELD", "/resources/gpu"),
        ({"queue": "nowhere"}, 400, "API.INVALID_VALUE", "/queue"),
        ({"billing_project": "nobody's"}, 404, "API.PROJECT_NOT_FOUND", None),
    ]:
        answer = await http.post(f"{path}/resubmit", json=document)

        assert_problem(answer, status, code, *([pointer] if pointer else []))


async def test_running_batch_is_refused(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
    running = f"/v1/batches/{made.json()['id']}/resubmit"
    refused = await http.post(running, json={"failed": True})

    assert_problem(refused, 409, "API.BATCH_RUNNING")
