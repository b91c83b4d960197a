"""`POST /v1/batches/{b}/retry` and `…/resubmit`."""

from typing import Any

import httpx

from api.live import LiveWorker, submit
from api.test_bad_input import assert_problem
from cases import cases


async def failed(http: httpx.AsyncClient, worker: LiveWorker) -> str:
    """Submit two jobs, of which one fails; return the path of their batch."""
    made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}] * 2})
    one, two = await worker.claim(2)
    await worker.end([one])
    await worker.end([two], exit_code=3)
    return f"/v1/batches/{made.json()['id']}"


AS_NEW = {
    "failed": True,
    "name": "again",
    "env": {"A": "1"},
    "queue": "default",
    "priority": 3,
    "resources": {"cpu": 0.5, "memory": "100Mi"},
    "max_attempts": 2,
    "timeout_s": 60,
}


@cases(("kind", "document"), [("retry", {"jobs": [2]}), ("resubmit", AS_NEW)])
async def test_request_begins_one_operation(
    http: httpx.AsyncClient, worker: LiveWorker, kind: str, document: dict[str, Any]
) -> None:
    path, key = f"{await failed(http, worker)}/{kind}", {"Idempotency-Key": kind}
    answers = [await http.post(path, json=document, headers=key) for _ in range(2)]
    operation = answers[0].json()
    other = await http.post(path, json={}, headers=key)

    assert [one.status_code for one in answers] == [202, 202]
    assert (operation["kind"], operation["state"], operation["total"]) == (kind, "running", 2)
    assert answers[1].json() == operation
    assert_problem(other, 409, "API.IDEMPOTENCY_CONFLICT")


async def test_wrong_requests_are_refused(http: httpx.AsyncClient, worker: LiveWorker) -> None:
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
    for query, document, status, code, pointer in [
        ("", {"jobs": [1]}, 409, "API.JOB_NOT_FAILED", None),
        ("", {"jobs": [3]}, 404, "API.JOB_NOT_FOUND", None),
        ("", {"jobs": [0]}, 400, "API.WRONG_TYPE", "/jobs/0"),
        ("?q=x", {"jobs": [2]}, 400, "API.INVALID_DOCUMENT", "/jobs"),
        ("?group=0", {"jobs": [2]}, 400, "API.INVALID_DOCUMENT", "/jobs"),
        ("?cause=0123456789ab", {"jobs": [2]}, 400, "API.INVALID_DOCUMENT", "/jobs"),
        ("?cause=0123456789ab&q=x", {}, 400, "API.INVALID_PARAMETER", "?cause"),
        ("?cause=0123456789ab&group=0", {}, 400, "API.INVALID_PARAMETER", "?cause"),
        ("?cause=12", {}, 400, "API.INVALID_PARAMETER", "?cause"),
        ("?group=7", {}, 404, "API.GROUP_NOT_FOUND", None),
        ("?q=exit_code%20%3D", {}, 400, "API.INVALID_QUERY", "?q"),
        ("", {"force": True}, 400, "API.UNKNOWN_FIELD", "/force"),
    ]:
        answer = await http.post(f"{path}/retry{query}", json=document)
        assert_problem(answer, status, code, *([pointer] if pointer else []))


async def test_retry_of_the_whole_lifts_the_limit_of_failures(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    made = await http.post(
        "/v1/batches", json={"jobs": [{"command": ["true"]}], "cancel_after_n_failures": 1}
    )
    path = f"/v1/batches/{made.json()['id']}"
    await worker.end(await worker.claim(1), exit_code=3)
    refused = [
        await http.post(f"{path}/retry", json={"jobs": [1]}),
        await http.post(f"{path}/retry?q=exit_code%20%3D%203", json={}),
    ]

    for answer in refused:
        assert_problem(answer, 409, "API.BATCH_CANCELLED")
        assert "Retry the whole batch" in answer.json()["hint"]
    assert (await http.post(f"{path}/retry", json={})).status_code == 202


async def test_running_batch_is_not_resubmitted(http: httpx.AsyncClient) -> None:
    batch = await submit(http, jobs=[{"command": ["true"]}])
    path = f"/v1/batches/{batch}/resubmit"
    assert_problem(await http.post(path, json={"failed": True}), 409, "API.BATCH_RUNNING")
