"""Workers over HTTP: their states."""

from httpx import AsyncClient

from api.live import LiveWorker


async def test_worker_is_cordoned_and_uncordoned(http: AsyncClient, worker: LiveWorker) -> None:
    cordoned = await http.post("/v1/workers/w1/cordon", json={"reason": "new disk"})
    again = await http.post("/v1/workers/w1/cordon", json={}, params={"pool": "default"})
    await http.post("/v1/batches", json={"jobs": [{}]})
    nothing = await worker.claim()
    shown = (await http.get("/v1/workers/w1")).json()
    page = (await http.get("/metrics")).text
    uncordoned = (await http.post("/v1/workers/w1/uncordon")).json()

    assert (cordoned.status_code, cordoned.json()["state"]) == (200, "cordoned")
    assert (cordoned.json()["changed"], again.json()["changed"]) == (True, False)
    assert nothing == []
    assert shown["cordon_reason"] == shown["history"][0]["reason"] == "new disk"
    assert shown["history"][0]["actor"] == "user tester"
    assert 'weft_workers{role="api",state="cordoned"} 1.0' in page
    assert 'weft_workers{role="api",state="active"} 0.0' in page
    assert (uncordoned["state"], uncordoned["cordon_reason"]) == ("active", None)
    assert await worker.work() == 1


async def test_workers_that_have_ended_are_listed_if_asked_for(
    http: AsyncClient, worker: LiveWorker
) -> None:
    await worker.store.leave(1)
    found = [
        [(one["worker"], one["state"]) for one in (await http.get(path)).json()["items"]]
        for path in ("/v1/workers", "/v1/workers?all=true")
    ]
    refused = await http.post("/v1/workers/w1/cordon")

    assert found == [[], [("w1", "deleted")]]
    assert (refused.status_code, refused.json()["code"]) == (409, "WORKER.ENDED")
    assert "weft worker" in refused.json()["hint"]


async def test_what_is_wrong_is_told(http: AsyncClient, worker: LiveWorker) -> None:
    del worker
    for path, body, status, code in [
        ("nobody/cordon", {}, 404, "WORKER.NOT_FOUND"),
        ("no%2Fbody/uncordon", {}, 404, "WORKER.NOT_FOUND"),
        ("w%00/cordon", {}, 400, "API.INVALID_ID"),
        ("w1/lose", {}, 409, "WORKER.AT_WORK"),
        ("w1/cordon?pool=nowhere", {}, 404, "WORKER.NOT_FOUND"),
        ("w1/cordon?x=1", {}, 400, "API.INVALID_PARAMETER"),
        ("w1/cordon", {"reason": "x" * 1001}, 400, "API.WRONG_TYPE"),
        ("w1/cordon", {"why": "x"}, 400, "API.UNKNOWN_FIELD"),
        ("w1/uncordon", {"reason": "x"}, 400, "API.UNKNOWN_FIELD"),
    ]:
        answer = await http.post(f"/v1/workers/{path}", json=body)

        assert (answer.status_code, answer.json()["code"]) == (status, code)
