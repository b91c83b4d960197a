"""What jobs say about when they may run, on a real database."""

from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import msgspec

from api.live import LiveWorker
from api.test_bad_input import assert_problem

LATE = "2100-01-01T00:00:00"


async def create(http: httpx.AsyncClient, *jobs: dict[str, Any]) -> Any:  # noqa: ANN401 (a document)
    answer = await http.post("/v1/batches", json={"jobs": list(jobs)})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def documents(http: httpx.AsyncClient, batch: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await http.get(f"/v1/batches/{batch}/jobs")).json()["items"]
    return found


async def test_job_waits_until_its_date_which_its_document_shows_in_utc(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch = await create(
        http,
        {"not_before": f"{LATE}+02:00"},
        {"not_before": "1999-12-31T23:59:59Z"},
        {},
        {"not_before": f"{LATE}Z", "count": 2},
    )
    jobs = await documents(http, batch)

    assert await worker.work() == 2
    assert [job.get("not_before") for job in jobs] == [
        "2099-12-31T22:00:00Z", "1999-12-31T23:59:59Z", None, f"{LATE}Z", f"{LATE}Z",
    ]  # fmt: skip
    assert {job["state"] for job in await documents(http, batch)} == {"ready", "success"}


async def test_msgpack_has_times_of_its_own(http: httpx.AsyncClient) -> None:
    at = datetime.now(UTC).replace(microsecond=5) + timedelta(hours=1)
    answer = await http.post(
        "/v1/batches",
        content=msgspec.msgpack.encode({"jobs": [{"not_before": at}]}),
        headers={"content-type": "application/msgpack"},
    )
    (job,) = await documents(http, answer.json()["id"])

    assert datetime.fromisoformat(job["not_before"]) == at


async def test_jobs_with_one_key_take_turns(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    array = await create(http, {"concurrency_key": {"key": "db", "n": 2}, "count": 5})
    others = await create(http, {"concurrency_key": {"key": "db", "n": 2}}, {})
    claimed = await worker.claim_and_start(9)
    await worker.end(claimed)

    assert len(claimed) == 3
    assert await worker.work() == 4
    assert [job["concurrency_key"] for job in await documents(http, array)] == [
        {"key": "db", "n": 2}
    ] * 5
    assert "concurrency_key" not in (await documents(http, others))[1]


async def test_preemptible_jobs_say_so_in_their_documents(http: httpx.AsyncClient) -> None:
    batch = await create(http, {"preemptible": True, "count": 2}, {"preemptible": True}, {})

    shown = [job.get("preemptible") for job in await documents(http, batch)]
    assert shown == [True, True, True, None]


async def test_job_that_waits_for_a_key_shows_who_has_it(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    first = await create(http, {"concurrency_key": {"key": "shown", "n": 1}})
    other = await create(http, {"concurrency_key": {"key": "shown", "n": 1}})

    async def holders(batch: int) -> object:
        answer = await http.get(f"/v1/batches/{batch}/jobs/1")
        return answer.json().get("key_holders")

    assert await holders(first) is None
    assert await holders(other) == [{"batch_id": first, "job_id": 1}]
    assert await worker.work() == 2
    assert await holders(other) is None


async def test_job_asks_for_licences_in_its_resources(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    answer = await http.put("/v1/licences/matlab", json={"n": 2})
    assert answer.json()["n"] == 2
    batch = await create(
        http,
        {"resources": {"cpu": 1, "matlab": 2}, "count": 2},
        {"resources": {"matlab": 0}},
        {"resources": {"matlab": 1}},
    )
    jobs = await documents(http, batch)
    waiting = (await http.get(f"/v1/batches/{batch}/jobs/2/why")).json()["causes"][0]
    refused = await http.post("/v1/batches", json={"jobs": [{"resources": {"matlab": 3}}]})

    assert [job.get("licences") for job in jobs] == [
        {"matlab": 2},
        {"matlab": 2},
        None,
        {"matlab": 1},
    ]
    assert waiting["kind"] == "licence"
    assert "2 of 2 are used, 2 by b" in waiting["text"]
    assert_problem(refused, 400, "API.NOT_ENOUGH_LICENCES", "/jobs/0/resources/matlab")
    assert "asks for 3 matlab; there are 2 in all" in refused.text
    assert await worker.work() == 4
    assert (await http.delete("/v1/licences/matlab")).json() == {"licence": "matlab"}
    assert (await http.delete("/v1/licences/matlab")).json()["code"] == "WORKER.LICENCE_NOT_FOUND"
    gone = await http.post("/v1/batches", json={"jobs": [{"resources": {"matlab": 1}}]})
    assert "no worker offers this" in gone.text


async def test_wrong_name_of_a_licence_is_refused(http: httpx.AsyncClient) -> None:
    for name in ["cpu", "gpu", "queue", "A", "1a", "a b"]:
        answer = await http.put(f"/v1/licences/{name}", json={"n": 2})

        assert answer.status_code == 400
        assert answer.json()["code"] == "WORKER.BAD_LICENCE_NAME"


async def test_wrong_value_is_refused_with_its_place(http: httpx.AsyncClient) -> None:
    for field, value, code in [
        ("not_before", LATE, "API.WRONG_TYPE"),
        ("not_before", "tomorrow", "API.WRONG_TYPE"),
        ("not_before", 12, "API.WRONG_TYPE"),
        ("not_before", "0001-01-01T00:00:00+23:59", "API.INVALID_VALUE"),
        ("not_before", "9999-12-31T23:59:59-23:59", "API.INVALID_VALUE"),
        ("deadline", "1969-12-31T23:00:00Z", "API.INVALID_VALUE"),
        ("concurrency_key", "db", "API.WRONG_TYPE"),
        ("preemptible", "yes", "API.WRONG_TYPE"),
    ]:
        answer = await http.post("/v1/batches", json={"jobs": [{}, {field: value}]})

        assert_problem(answer, 400, code, f"/jobs/1/{field}")


async def test_wrong_key_is_refused(http: httpx.AsyncClient) -> None:
    for value, pointer in [
        ({"key": ""}, "/key"),
        ({"key": "a\0b"}, "/key"),
        ({"key": "x" * 300}, "/key"),
        ({"n": 2}, "/key"),
        ({"key": "db", "n": 0}, "/n"),
        ({"key": "db", "n": 3_000_000_000}, "/n"),
        ({"key": "db", "m": 1}, "/m"),
    ]:
        answer = await http.post("/v1/batches", json={"jobs": [{"concurrency_key": value}]})

        assert answer.status_code == 400
        assert [one["pointer"] for one in answer.json()["errors"]] == [
            f"/jobs/0/concurrency_key{pointer}"
        ]


async def test_latest_start_is_the_deadline_without_the_time_limit(
    http: httpx.AsyncClient, admin: asyncpg.Connection
) -> None:
    batch = await create(
        http, {"deadline": f"{LATE}Z", "timeout_s": 90}, {"deadline": f"{LATE}Z", "count": 3}, {}
    )
    rows = await admin.fetch(
        "SELECT first_job, last_job, deadline - latest_start AS time_limit, due_at = latest_start "
        "AS due FROM weft.job_deadline ORDER BY 1"
    )
    jobs = await documents(http, batch)

    assert [tuple(row) for row in rows] == [
        (1, 1, timedelta(seconds=90), True), (2, 4, timedelta(0), True),
    ]  # fmt: skip
    assert [job.get("deadline") for job in jobs] == [*[f"{LATE}Z"] * 4, None]
    assert not any("latest_start" in job for job in jobs)


RATE = {"key": "api", "n": 10, "per_s": 2.0}


async def test_rate_is_shown_as_it_was_sent(http: httpx.AsyncClient) -> None:
    sent = {"jobs": [{"command": ["true"], "rate": RATE}]}
    batch = (await http.post("/v1/batches", json=sent)).json()

    job = (await http.get(f"/v1/batches/{batch['id']}/jobs/1")).json()
    assert job["rate"] == RATE


async def test_rate_of_a_batch_is_shown_and_kept_when_it_is_submitted_again(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    sent = {"jobs": [{"command": ["true"], "count": 3}], "rate": RATE | {"n": 2, "per_s": 60.0}}
    batch = (await http.post("/v1/batches", json=sent)).json()
    claimed = await worker.claim()
    why = (await http.get(f"/v1/batches/{batch['id']}/jobs/3/why")).json()
    again = await http.post(f"/v1/batches/{batch['id']}/resubmit", json={})
    listed = (await http.get("/v1/operations")).json()["items"]

    assert (await http.get(f"/v1/batches/{batch['id']}")).json()["rate"] == sent["rate"]
    assert len(claimed) == 2
    assert "2 of 2 starts in 60 s" in str(why)
    assert again.status_code == 202
    assert [one["kind"] for one in listed] == ["resubmit"]


async def test_queue_says_how_many_of_its_jobs_start_in_a_second(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    queues = [{"name": "slow", "priority": 1, "max_starts_per_s": 1}]
    await http.put("/v1/queues", json={"queues": queues})
    batch = (
        await http.post(
            "/v1/batches", json={"jobs": [{"command": ["true"], "queue": "slow", "count": 2}]}
        )
    ).json()
    claimed = await worker.claim()
    why = (await http.get(f"/v1/batches/{batch['id']}/jobs/2/why")).json()

    assert [one.job_id for one in claimed] == [1]
    assert "1 of 1 starts in 1 s in queue slow" in str(why)
    assert (await http.get("/v1/queues/slow")).json()["max_starts_per_s"] == 1
