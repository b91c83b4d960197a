"""Guards that take longer than they may."""

import httpx
import pytest

from api.live import LiveApi, submit
from api.test_queues import SHORT, queues_of, save

COSTLY = {
    "name": "costly", "priority": 90,
    "guard": "||".join(rf"job.name.matches('\\w{{10}}[a-y]{n}$')" for n in range(10)),
}  # fmt: skip
"""It takes some 35 ms of each job with another name."""


@pytest.mark.heavy
async def test_a_guard_that_takes_too_long_counts_as_false(
    http: httpx.AsyncClient, api: LiveApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(http, COSTLY, SHORT)
    await submit(http, jobs=[{"timeout_s": 60, "queue": "short"}])
    monkeypatch.setattr(api.evaluation, "_one_s", 0.01)
    monkeypatch.setattr(api.evaluation, "_all_s", 10.0)
    await submit(http, jobs=[{"timeout_s": 60, "name": "a" * 100}, {"timeout_s": 60}])

    assert await queues_of(http, 2) == ["short", "short"]
    page = (await http.get("/metrics")).text
    assert 'weft_guard_failures_total{queue="costly",role="api"} 2.0' in page


async def test_guards_that_take_too_long_for_all_jobs_refuse_them(
    http: httpx.AsyncClient, api: LiveApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(http, COSTLY, SHORT)
    monkeypatch.setattr(api.evaluation, "_all_s", 0.5)
    jobs = [{"timeout_s": 60, "name": f"a{n}" * 40} for n in range(300)]
    refused = await http.post("/v1/batches", json={"jobs": jobs})

    assert refused.json()["code"] == "API.TOO_MANY_EVALUATIONS"
    assert "costly" in refused.json()["title"]
