"""Rates over the API: what a document says, and what is refused."""

import httpx

from api.live import LiveWorker

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
