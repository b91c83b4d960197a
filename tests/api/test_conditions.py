"""What blocked jobs wait for together: seen and changed by persons."""

import pytest
from httpx import AsyncClient

from api.live import LiveWorker
from weft.core.ends.conditions import Ask

pytestmark = pytest.mark.slow
ASK = Ask("quota", "tcp", {"host": "db.example", "port": "5432"})


async def block(http: AsyncClient, worker: LiveWorker, n_jobs: int = 2) -> int:
    """Let jobs wait for a condition; return its number."""
    await http.post("/v1/batches", json={"jobs": [{"count": n_jobs, "command": ["true"]}]})
    claimed = await worker.claim_and_start()
    await worker.block(claimed, ASK)
    (found,) = (await http.get("/v1/conditions")).json()["items"]
    return int(found["condition_id"])


async def test_many_jobs_are_one_incident(http: AsyncClient, worker: LiveWorker) -> None:
    number = await block(http, worker, 2)
    found = (await http.get(f"/v1/conditions/c{number}")).json()
    job = found["jobs"][0]
    why = (await http.get(f"/v1/batches/{job['batch_id']}/jobs/{job['job_id']}/why")).json()

    assert (found["condition"], found["tester"], found["n_jobs"]) == ("quota", "tcp", 2)
    assert found["parameters"] == ASK.parameters
    assert len(found["jobs"]) == 2
    (cause,) = why["causes"]
    assert (cause["kind"], cause["command"]) == ("condition", f"weft condition test c{number}")
    assert cause["text"].startswith(
        "waits with 1 other for tcp host=db.example port=5432 (quota): not tested yet, "
    )


async def test_pages_and_numbers_of_others(http: AsyncClient, worker: LiveWorker) -> None:
    number = await block(http, worker)
    page = (await http.get("/v1/conditions?limit=1")).json()
    after = (await http.get(f"/v1/conditions?cursor={page['cursor']}")).json()
    wrong = await http.get("/v1/conditions/x")
    gone = await http.get(f"/v1/conditions/{number + 1}")

    assert [one["condition_id"] for one in page["items"]] == [number]
    assert after["items"] == []
    assert (wrong.status_code, wrong.json()["code"]) == (400, "API.INVALID_ID")
    assert (gone.status_code, gone.json()["code"]) == (404, "API.CONDITION_NOT_FOUND")


async def test_a_person_tests_releases_and_gives_up(http: AsyncClient, worker: LiveWorker) -> None:
    number = await block(http, worker)
    path = f"/v1/conditions/{number}"
    before = (await http.get(path)).json()
    tested = await http.post(f"{path}/test", json={})
    released = await http.post(f"{path}/release", json={"n": 1})
    none = await http.post(f"{path}/release", json={"n": 0})
    failed = await http.post(f"{path}/fail", json={})

    assert tested.json()["next_test_at"] < before["next_test_at"]
    assert released.status_code == 200
    assert none.status_code == 400
    assert failed.json()["failed_by"] == "user tester"
