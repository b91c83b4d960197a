"""Jobs that have ended in Agave are taken over with their ids, dates and histories."""

import json
from typing import Any

import httpx
import pytest

from api.live import TOKEN, LiveApi
from cases import cases
from weft import aio
from weft.core.errors import InvalidValue
from weft.run.doors import api_doors
from weft.wire.documents.imports import IMPORTED_MAX
from weft_aloe.dumps import read_dump

LIVE_DOORS = api_doors()
AT = "2024-05-01T1{}:00:00Z"
JOB: dict[str, Any] = {
    "id": "a-007",
    "name": "old one",
    "owner": "tester",
    "appId": "count-1.0",
    "status": "FAILED",
    "created": AT.format(0),
    "ended": AT.format(3),
    "lastStatusMessage": "exit code 3",
    "memoryPerNode": 2,
    "maxHours": 1.5,
    "inputs": {"data": "x"},
    "archive": True,
}
EVENTS = [
    {
        "jobId": "a-007",
        "status": "RUNNING",
        "created": AT.format(2),
        "createdBy": "tester",
        "description": "It runs.",
    },
    {"jobUuid": "a-007", "status": "STAGING_INPUTS", "created": AT.format(1)},
    {"jobId": "a-007", "status": "PERMISSION_GRANT", "created": AT.format(2)},
]


def lines(*documents: object) -> list[bytes]:
    return [json.dumps(one).encode() + b"\n" for one in documents]


async def imported(http: httpx.AsyncClient, *jobs: Any, **more: object) -> httpx.Response:  # noqa: ANN401 (JSON)
    return await http.post("/v1/imports", json={"door": "aloe", "jobs": jobs, **more})


async def test_imported_jobs_are_shown_by_their_door(http: httpx.AsyncClient) -> None:
    """With their ids and dates, once; they are searched, hidden and submitted again as others."""
    jobs, problems = read_dump(lines(EVENTS[0], JOB, *EVENTS[1:], {**JOB, "id": "b-007"}))
    assert problems == []
    checked = await imported(http, *jobs, check=True)
    assert checked.json() == {"n_new": 0, "n_known": 0}
    assert (await http.get("/jobs/v2/a-007")).status_code == 404
    for told in ({"n_new": 2, "n_known": 0}, {"n_new": 0, "n_known": 2}):
        assert (await imported(http, *jobs)).json() == told

    job = (await http.get("/jobs/v2/a-007")).json()["result"]
    shown = [job[name] for name in ("status", "created", "started", "ended", "lastStatusMessage")]
    dates = [AT.format(hour) for hour in (0, 2, 3)]
    assert shown == ["FAILED", *dates, "exit code 3"]
    assert (job["remoteJobId"], job["memoryPerNode"], job["maxRunTime"]) == (None, 2, "01:30:00")
    history = (await http.get("/jobs/v2/a-007/history")).json()["result"]
    words = ["PENDING", "STAGING_INPUTS", "RUNNING", "FAILED"]
    assert [one["status"] for one in history] == words
    found = (await http.get("/jobs/v2?status=FAILED&name=old one")).json()["result"]
    assert {one["id"] for one in found} == {"a-007", "b-007"}
    assert (await http.get("/jobs/v2?status=FINISHED")).json()["result"] == []
    assert (await http.get("/jobs/v2/a-007/outputs/listings")).json()["result"] == []
    assert (await http.get("/jobs/v2/a-007/outputs/media/x")).status_code == 404
    assert (await http.post("/jobs/v2/a-007/stop")).status_code == 409
    assert (await http.delete("/jobs/v2/b-007")).status_code == 200
    assert (await http.get("/jobs/v2/b-007")).status_code == 404
    for visible, left in (("false", "b-007"), ("true", "a-007")):
        (found,) = (await http.get(f"/jobs/v2?visible={visible}")).json()["result"]
        assert found["id"] == left
    batches = (await http.get("/v1/batches")).json()["items"]
    (batch,) = [one for one in batches if one["name"] == "old one"]
    assert (batch["created_at"][:13], batch["n_jobs"], batch["cost"]) == ("2024-05-01T10", 0, 0)


async def test_dates_of_a_job_without_events_are_kept(http: httpx.AsyncClient) -> None:
    dates = {"remoteStarted": AT.format(1), "remoteEnded": AT.format(2)}
    jobs, problems = read_dump(lines({**JOB, **dates}))
    assert problems == []
    await imported(http, *jobs)

    job = (await http.get("/jobs/v2/a-007")).json()["result"]
    shown = [job[name] for name in ("startTime", "remoteStarted", "remoteEnded", "ended")]
    assert shown == [AT.format(hour) for hour in (1, 1, 2, 3)]


async def test_clients_import_any_number_of_jobs(api: LiveApi) -> None:
    """None if one of the last is wrong; `check` takes over none."""
    jobs, _ = read_dump(lines(*({**JOB, "id": f"{n}-007"} for n in range(IMPORTED_MAX + 1))))
    async with aio.Client(url=api.url, token=TOKEN) as client:
        with pytest.raises(InvalidValue):
            await client.import_jobs("aloe", [*jobs[:-1], {**jobs[-1], "user": "nobody"}])
        for given, told in (
            ({"check": True}, (0, 0)),
            ({}, (len(jobs), 0)),
            ({}, (0, len(jobs))),
        ):
            found = await client.import_jobs("aloe", jobs, **given)
            assert (found["n_new"], found["n_known"]) == told


async def test_nothing_is_imported_if_a_job_is_wrong(http: httpx.AsyncClient) -> None:
    (job,), _ = read_dump(lines(JOB))
    for wrong, at in (
        ({"user": "nobody"}, "/jobs/1/user"),
        ({"id": job["id"]}, "/jobs/1/id"),
        ({"created_at": "2999-01-01T00:00:00Z"}, "/jobs/1/created_at"),
        ({"ended_at": AT.format(0).replace("2024", "2023")}, "/jobs/1/ended_at"),
        ({"ended_at": "2999-01-01T00:00:00Z"}, "/jobs/1/ended_at"),
    ):
        answer = await imported(http, job, {**job, "id": "c-007", **wrong})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, at)
    assert (await http.get("/jobs/v2/a-007")).status_code == 404


@cases(
    ("document", "field"),
    [
        ({**JOB, "status": "RUNNING"}, "status"),
        ({**JOB, "status": "GONE"}, "status"),
        ({**JOB, "owner": None}, "owner"),
        ({**JOB, "created": "soon"}, "created"),
        ({**JOB, "ended": AT.format("x")}, "ended"),
        ({**JOB, "created": AT.format(4)}, "ended"),
        ({**JOB, "started": "then"}, "started"),
        ({**JOB, "inputs": "x"}, "inputs"),
        ({**JOB, "name": "x" * 256}, "name"),
        ({**JOB, "id": 7}, "id"),
        (JOB, "id"),
        ({"jobId": "a-007", "status": "RUNNING"}, "created"),
        ({"jobId": "z-007", "status": "RUNNING", "created": AT.format(1)}, "jobId"),
        ({**JOB, "id": "c", "name": "a\0b"}, ""),
        ([], ""),
        ({"status": "RUNNING"}, "jobId"),
        ({**JOB, "id": "d", "appId": None}, "appId"),
        ({name: JOB[name] for name in JOB if name != "appId"} | {"id": "d"}, "appId"),
    ],
)
def test_wrong_lines_are_named(document: object, field: str) -> None:
    is_other = isinstance(document, dict) and "appId" in document and document is not JOB
    first = {**JOB, "id": "first"} if is_other else JOB
    _, problems = read_dump([*lines(first, document)])

    assert [(one.line, one.field) for one in problems] == [(2, field)]
