"""The door for clients of JobWeaver, by the requests that its documentation shows."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from e2e.conftest import Weft, until

SLEEP = {"action": "SLEEP", "durationMs": 10}
KEYS = {"timeStamp", "status", "errorCode", "message", "jobId"}


def job(*steps: object, retries: object = 0, **more: object) -> dict[str, Any]:
    payload = {"steps": steps}
    return {"jobType": "SIMULATION", "payload": payload, "maxRetryCount": retries, **more}


def submitted(http: httpx.Client, document: dict[str, Any], **headers: str) -> dict[str, str]:
    answer = http.post("/api/jobs", json=document, headers=headers)
    assert answer.status_code == 202, answer.text
    found: dict[str, str] = answer.json()
    return found


def state_of(http: httpx.Client, job_id: str) -> dict[str, Any]:
    found: dict[str, Any] = http.get(f"/internal/jobs/{job_id}/status").json()
    return found


def ended(http: httpx.Client, job_id: str) -> dict[str, Any]:
    until(lambda: state_of(http, job_id)["jobStatus"] in {"COMPLETED", "FAILED"})
    return state_of(http, job_id)


def test_job_is_run_and_shown(http: httpx.Client) -> None:
    """With the trace id of its request, in each answer."""
    unknown = {**SLEEP, "of": "a later version"}
    told = submitted(http, job(SLEEP, unknown, more=1), **{"X-Trace-Id": "trace of mine"})
    status = ended(http, told["jobId"])
    shown = http.get(f"/api/jobs/{told['jobId']}", headers={"X-Trace-Id": "another"})
    document = shown.json()
    (execution,) = http.get(f"/internal/executions/{told['jobId']}").json()["content"]

    assert told == {"jobId": str(UUID(told["jobId"])), "traceId": "trace of mine"}
    assert shown.headers["X-Trace-Id"] == "another"
    assert document.keys() >= {"id", "type", "traceId", "createdAt", "updatedAt", "status"}
    assert (document["id"], document["traceId"]) == (told["jobId"], "trace of mine")
    assert (document["type"], document["status"]) == ("SIMULATION", "COMPLETED")
    assert datetime.fromisoformat(document["createdAt"]) < datetime.fromisoformat(
        document["updatedAt"]
    )
    assert (status["retryCount"], status["maxRetries"], status["lastError"]) == (0, 0, None)
    assert (execution["outcome"], execution["errorMessage"]) == ("SUCCESS", None)
    assert execution["startedAt"] < execution["finishedAt"]


@pytest.mark.heavy
def test_failure_is_retried_after_ten_seconds_and_buried(http: httpx.Client) -> None:
    dead = submitted(http, job({"action": "FAIL", "message": "no luck"}, SLEEP))["jobId"]
    waits = submitted(http, job({"action": "FAIL"}, retries=3))["jobId"]
    twice = submitted(http, job({"action": "FAIL"}, retries=1))["jobId"]
    status = ended(http, dead)
    (execution,) = http.get(f"/internal/executions/{dead}").json()["content"]
    until(lambda: state_of(http, waits)["retryCount"] == 1)
    waiting = state_of(http, waits)
    due, failed = (datetime.fromisoformat(waiting[name]) for name in ("nextRunAt", "updatedAt"))

    assert (status["jobStatus"], status["retryCount"]) == ("FAILED", 1)
    assert status["lastError"] == execution["errorMessage"] == "no luck"
    assert (waiting["jobStatus"], waiting["maxRetries"]) == ("PENDING", 3)
    assert 9 < (due - failed).total_seconds() < 11
    buried = ended(http, twice)
    tries = http.get(f"/internal/executions/{twice}").json()["content"]
    first = datetime.fromisoformat(tries[-1]["finishedAt"])
    assert (buried["jobStatus"], buried["retryCount"], len(tries)) == ("FAILED", 2, 2)
    due = datetime.fromisoformat(buried["nextRunAt"])
    assert due == first + timedelta(seconds=10)


def test_message_of_a_failure_is_kept_whole(http: httpx.Client) -> None:
    message = "no luck, " * 1_800
    job_id = submitted(http, job({"action": "FAIL", "message": message}))["jobId"]
    status = ended(http, job_id)
    (execution,) = http.get(f"/internal/executions/{job_id}").json()["content"]

    assert status["lastError"] == execution["errorMessage"] == message


def test_lists_are_paged_newest_first(http: httpx.Client) -> None:
    ids = [submitted(http, job())["jobId"] for _ in range(3)]
    page = http.get("/api/jobs", params={"size": 2, "type": "SIMULATION"}).json()
    next_page = http.get("/api/jobs", params={"size": 2, "page": 1}).json()
    for one in ids:
        ended(http, one)
    states = http.get("/internal/jobs", params={"status": "COMPLETED", "size": 1}).json()
    oldest = http.get("/internal/jobs", params={"sort": "updatedAt,asc", "size": 1000}).json()
    beyond = http.get("/internal/jobs", params={"page": 2**31 - 1, "size": 1000}).json()

    assert [one["id"] for one in (*page["jobs"], *next_page["jobs"])][:3] == ids[::-1]
    assert page["totalPages"] == -(-page["totalElements"] // 2)
    assert (page["page"], page["size"]) == (0, 2)
    assert states["content"][0]["jobId"] in ids
    assert states["page"]["number"] == 0
    changes = [one["updatedAt"] for one in oldest["content"]]
    assert changes == sorted(changes)
    assert beyond["content"] == []
    assert beyond["page"]["totalElements"] >= 3


def test_same_key_means_one_job(http: httpx.Client) -> None:
    """Also for requests that come together, and after its end; another body is refused."""
    key = {"Idempotency-Key": str(uuid4())}
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda _: submitted(http, job(SLEEP), **key), range(8)))
    ended(http, told[0]["jobId"])
    again = submitted(http, job(SLEEP), **key, **{"X-Trace-Id": "later"})
    other = http.post("/api/jobs", json=job(), headers=key)

    assert all(one == told[0] for one in (*told, again))
    assert (other.status_code, other.json()["errorCode"]) == (409, "API.DUPLICATE_JOB")
    assert other.json()["jobId"] == told[0]["jobId"]


def test_what_is_wrong_is_named(http: httpx.Client) -> None:
    cases = [
        ("{", "JSON"),
        ("", "JSON"),
        ("[]", "object"),
        ({}, "jobType"),
        (job() | {"jobType": "OTHER"}, "jobType"),
        (job() | {"payload": None}, "payload"),
        (job(retries=-1), "maxRetryCount must be non-negative"),
        (job(retries=None), "maxRetry"),
        (job(retries=2**31), "maxRetryCount"),
        (job(retries=True), "maxRetryCount"),
        (job() | {"payload": {}}, "steps"),
        (job() | {"payload": {"steps": None}}, "steps"),
        (job(None), "payload.steps.0"),
        (job(SLEEP, {"action": "X"}), "payload.steps.1.action"),
        (job({"action": "SLEEP"}), "payload.steps.0.durationMs"),
        (job({**SLEEP, "durationMs": -1}), "payload.steps.0.durationMs"),
        (job({**SLEEP, "durationMs": 2**31}), "payload.steps.0.durationMs"),
        (job({"action": "LOG", "message": "\0"}), "payload.steps.0.message"),
    ]
    for document, named in cases:
        text = document if isinstance(document, str) else json.dumps(document)
        headers = {"content-type": "application/json", "x-trace-id": "t"}
        answer = http.post("/api/jobs", content=text, headers=headers)
        said = answer.json()

        assert (answer.status_code, answer.headers["x-trace-id"]) == (400, "t")
        assert said.keys() == KEYS
        assert (said["status"], said["errorCode"]) == (400, "API.INVALID_REQUEST")
        assert named in said["message"]


def test_refusals_have_five_keys(http: httpx.Client) -> None:
    for method, path, status, code in [
        ("GET", f"/api/jobs/{UUID(int=7)}", 404, "API.JOB_NOT_FOUND"),
        ("GET", f"/internal/jobs/{UUID(int=7)}/status", 404, "SCHEDULER.JOB_NOT_FOUND"),
        ("GET", "/api/jobs/seven", 400, "API.INVALID_REQUEST"),
        ("GET", f"/api/jobs/{UUID(int=7).hex}", 400, "API.INVALID_REQUEST"),
        ("GET", "/api/jobs?page=1_0", 400, "API.INVALID_REQUEST"),
        ("GET", "/internal/jobs?sort=color", 400, "SCHEDULER.INVALID_REQUEST"),
        ("GET", "/api/nothing", 404, "API.INVALID_REQUEST"),
        ("GET", "/internal/nothing", 404, "SCHEDULER.INVALID_REQUEST"),
        ("POST", "/internal/jobs", 405, "SCHEDULER.INVALID_REQUEST"),
        ("GET", "/api/jobs?page=-1", 400, "API.INVALID_REQUEST"),
        ("GET", "/api/jobs?size=0", 400, "API.INVALID_REQUEST"),
        ("GET", "/api/jobs?size=x", 400, "API.INVALID_REQUEST"),
        ("GET", "/api/jobs?type=OTHER", 400, "API.INVALID_REQUEST"),
        ("GET", "/internal/jobs?status=ODD", 400, "SCHEDULER.INVALID_REQUEST"),
        ("GET", "/internal/executions/seven", 400, "SCHEDULER.INVALID_REQUEST"),
        ("DELETE", f"/api/jobs/{UUID(int=7)}", 405, "API.INVALID_REQUEST"),
        ("GET", "/actuator/env", 404, "API.INVALID_REQUEST"),
    ]:
        answer = http.request(method, path)
        said = answer.json()

        assert (answer.status_code, said["errorCode"]) == (status, code)
        assert said.keys() == KEYS
        assert datetime.fromisoformat(said["timeStamp"]).tzinfo is not None
        assert said["jobId"] == (str(UUID(int=7)) if code.endswith("NOT_FOUND") else None)


def test_media_types_tokens_and_health(http: httpx.Client) -> None:
    xml = http.post("/api/jobs", content="<a/>", headers={"content-type": "text/xml"})
    nobody = http.get("/api/jobs", headers={"authorization": ""})

    assert (xml.status_code, xml.json().keys()) == (415, KEYS)
    assert (nobody.status_code, nobody.json().keys()) == (401, KEYS)
    nobodys = [httpx.get(http.base_url.join(f"/actuator/{one}")) for one in ("health", "info")]
    assert [one.json() for one in nobodys] == [{"status": "UP"}, {}]
    assert http.get(f"/internal/executions/{uuid4()}").json()["content"] == []


def test_any_number_of_retries_is_kept(http: httpx.Client) -> None:
    """Also one that weft would not reach."""
    for retries in (99, 9_999, 2**31 - 1):
        told = submitted(http, job(retries=retries))

        assert ended(http, told["jobId"])["maxRetries"] == retries


def test_weft_knows_its_jobs_by_their_ids(http: httpx.Client, weft: Weft) -> None:
    """Its batches, and what has failed for good."""
    told = submitted(http, job({"action": "FAIL", "message": "dead"}), **{"X-Trace-Id": "t-1"})
    ended(http, told["jobId"])
    batch = http.get(f"/api/jobs/{told['jobId']}").json()["weftJob"].partition(".")[0]
    document = http.get(f"/v1/batches/{batch[1:]}").json()
    letters = http.get("/v1/dead-letters").json()["items"]
    listed = weft.run("failures", "ls", batch).stdout.decode()
    queries = [f"foreign_id = {told['jobId']}", "foreign_trace = t-1"]
    found = [http.get("/v1/batches", params={"q": one}).json()["items"] for one in queries]
    log = (weft.home / "log" / "api.log").read_text().splitlines()

    assert (document["door"], document["foreign_id"]) == ("jobweaver", told["jobId"])
    assert document["foreign_trace"] == "t-1"
    (letter,) = [one for one in letters if one.get("foreign_id") == told["jobId"]]
    assert (letter["door"], letter["message"]) == ("jobweaver", "dead")
    assert told["jobId"] in listed
    assert [[one["id"] for one in page] for page in found] == [[document["id"]]] * len(queries)
    for words in (("status", batch), ("ls", queries[0])):
        assert f"jobweaver {told['jobId']}" in weft.run(*words).stdout.decode()
    (line, *_) = [one for one in log if told["jobId"] in one]
    assert "jobweaver" in line
    assert "t-1" in line


def test_cancelled_job_is_failed(http: httpx.Client, weft: Weft) -> None:
    """In the middle of a step; weft cancels it, because JobWeaver has no such request."""
    for step in (
        {**SLEEP, "durationMs": 3_600_000},
        {"action": "COMPUTE", "iterations": 2**31 - 1},
    ):
        told = submitted(http, job(step, retries=5))
        until(lambda: state_of(http, told["jobId"])["jobStatus"] == "RUNNING")  # noqa: B023
        weft_job = http.get(f"/api/jobs/{told['jobId']}").json()["weftJob"]
        running = http.get(f"/internal/executions/{told['jobId']}").json()["content"]
        assert weft.run("cancel", weft_job.partition(".")[0]).returncode == 0
        status = ended(http, told["jobId"])

        assert [one["outcome"] for one in running] in ([], ["RUNNING"])
        assert (status["jobStatus"], status["lastError"]) == ("FAILED", "cancelled")
        assert status["retryCount"] == 0
