"""Dead letters over HTTP."""

from typing import Any

from httpx import AsyncClient

from api.live import LiveWorker

WRONG: list[dict[str, Any]] = [
    {}, {"note": ""}, {"note": "a\0b"}, {"note": "x" * 1001}, {"note": "n", "cause": "1"},
    {"note": "n", "jobs": []}, {"note": "n", "jobs": [0]}, {"note": "n", "jobs": "all"},
    {"note": "n", "until": "2026-11-22T10:00:00"}, {"note": "n", "more": 1},
    {"note": "n", "cause": "0f3a9c41d27e", "jobs": [1]},
]  # fmt: skip


async def failed(http: AsyncClient, worker: LiveWorker, n_jobs: int = 3) -> int:
    """Submit jobs that fail, each with a code of its own but the last two; return their batch."""
    batch = (await http.post("/v1/batches", json={"jobs": [{}] * n_jobs})).json()["id"]
    for code, one in enumerate(await worker.claim(n_jobs)):
        await worker.end([one], exit_code=min(code + 1, n_jobs - 1))
    return int(batch)


async def test_pages_of_dead_letters_fit_together(http: AsyncClient, worker: LiveWorker) -> None:
    batch = await failed(http, worker)
    path = f"/v1/dead-letters?batch={batch}&limit=2"
    first = (await http.get(path)).json()
    second = (await http.get(f"{path}&cursor={first['cursor']}")).json()
    causes = (await http.get(f"/v1/batches/{batch}/failures?limit=1")).json()

    jobs = [one["job_id"] for one in first["items"] + second["items"]]
    assert sorted(jobs) == [1, 2, 3]
    assert second["cursor"] is None
    assert (causes["n_jobs"], causes["n_causes"], causes["causes"][0]["n_jobs"]) == (3, 2, 2)
    other = await http.get(f"/v1/dead-letters?cursor={first['cursor']}")
    assert other.status_code == 400


async def test_wrong_filters_are_refused(http: AsyncClient) -> None:
    for query in (
        "cause=xyz", "reason=bad", "batch=c1", "acknowledged=1", "cursor=x", "limit=0", "x=1",
    ):  # fmt: skip
        assert (await http.get(f"/v1/dead-letters?{query}")).status_code == 400, query


async def test_wrong_acknowledgements_are_refused(http: AsyncClient, worker: LiveWorker) -> None:
    batch = await failed(http, worker, 2)
    for body in WRONG:
        answer = await http.post(f"/v1/batches/{batch}/failures/acknowledge", json=body)
        assert answer.status_code in {400, 422}, body

    listed = (await http.get(f"/v1/dead-letters?batch={batch}")).json()["items"]
    assert len(listed) == 2


async def test_acknowledged_jobs_have_a_note(http: AsyncClient, worker: LiveWorker) -> None:
    batch = await failed(http, worker)
    path = f"/v1/batches/{batch}/failures/acknowledge"
    cause = (await http.get(f"/v1/batches/{batch}/failures")).json()["causes"][0]["cause"]
    answer = (await http.post(path, json={"note": "known", "cause": cause})).json()
    seen = (await http.get(f"/v1/dead-letters?batch={batch}&acknowledged=true")).json()["items"]

    assert answer["n_jobs"] == 2
    assert {one["acknowledged"]["note"] for one in seen} == {"known"}
    assert (await http.get(f"/v1/batches/{batch}/failures?all=true")).json()["n_acknowledged"] == 2
    missing = await http.post("/v1/batches/999999/failures/acknowledge", json={"note": "n"})
    assert missing.status_code == 404
