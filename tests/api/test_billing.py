"""Costs and prices over HTTP."""

import httpx

from api.live import LiveWorker


async def test_project_has_costs_by_date(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    await http.post("/v1/batches", json={"jobs": [{}] * 3})
    await worker.work()
    project = (await http.get("/v1/billing-projects/default")).json()
    listed = (await http.get("/v1/billing-projects")).json()["items"]
    days = (await http.get("/v1/billing-projects/default/days")).json()["items"]
    earlier = await http.get(
        "/v1/billing-projects/default/days", params={"before": days[0]["date"]}
    )

    assert listed == [project]
    assert [day["cost"] for day in days] == [project["cost"]]
    assert project["cost"] > 0
    assert earlier.json()["items"] == []
    assert (await http.get("/v1/rates")).json()["items"][0]["rates"][0]["resource"] == "cpu"


async def test_wrong_project_and_date_are_named(http: httpx.AsyncClient) -> None:
    unknown = await http.get("/v1/billing-projects/x%27%3B--")
    wrong = await http.get("/v1/billing-projects/default/days", params={"before": "tomorrow"})

    assert (unknown.status_code, unknown.json()["code"]) == (404, "API.PROJECT_NOT_FOUND")
    assert wrong.status_code == 400
    assert wrong.json()["errors"] == [
        {"pointer": "?before", "message": "it is not a date such as 2026-01-31"}
    ]


async def test_days_come_in_pages(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    await http.post("/v1/batches", json={"jobs": [{}]})
    await worker.work()
    days = "/v1/billing-projects/default/days"
    page = (await http.get(days, params={"limit": 1})).json()
    after = await http.get(days, params={"limit": 1, "cursor": page["cursor"]})
    wrong = [await http.get(days, params={"cursor": one}) for one in ("ZDp4", "ZDo=", "ajoy")]

    assert len(page["items"]) == 1
    assert after.json() == {"items": [], "cursor": None}
    assert [one.json()["errors"][0]["pointer"] for one in wrong] == ["?cursor"] * 3
