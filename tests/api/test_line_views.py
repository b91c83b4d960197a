"""What people see of production lines: one document, metrics, pages, and sources as incidents."""

import json
from typing import Any

import asyncpg
import pytest
from httpx import AsyncClient

from api.ask_lines import HRSI, SINK
from api.live import Dsns, LiveApi, add, as_admin, leading
from api.test_sources import SETUP, TOML, find

TOLD = """
SELECT a.name, o.name FROM weft.batch b
JOIN weft.sink a ON a.sink_id = b.sink_id JOIN weft.sink o ON ARRAY[o.sink_id] = b.more_sinks
"""
LINE = HRSI + SETUP.replace('job = "snow"', 'job = "snow"\nlifecycle = "hrsi"', 1)


async def apply(http: AsyncClient, name: str, text: str) -> None:
    answer = await http.put(f"/v1/setups/{name}", content=text, headers=TOML)
    assert answer.status_code == 200, answer.text


async def read(database: Dsns, error: str | None) -> None:
    """Let a driver read the source: it fails, or finds nothing."""
    await as_admin(database, "UPDATE weft.source SET next_at = clock_timestamp()")
    async with leading(database["weft_driver"]) as (store, epoch):
        (due,) = await store.due_sources(epoch, (), limit=9)
        await store.store_items(epoch, due, (), cursor={"at": "2027"}, next_in_s=3600, error=error)


async def lines(http: AsyncClient, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    answer = await http.get("/v1/lines", **options)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def sample(http: AsyncClient, name: str) -> str:
    """Return the value of a metric; empty: it is not shown."""
    page = (await http.get("/metrics")).text
    return next((one.split()[-1] for one in page.splitlines() if one.startswith(name)), "")


async def stranger(http: AsyncClient) -> dict[str, str]:
    """Return the header of a user who is a member of no project."""
    una = await add(http, "una")
    answer = await http.request("DELETE", "/v1/billing-projects/default/members/una")
    assert answer.status_code == 200, answer.text
    return una


@pytest.fixture
async def line(api: LiveApi, http: AsyncClient, database: Dsns) -> None:
    """Apply a line, of which one item has a job and another one waits."""
    await apply(http, "snow", LINE)
    await apply(http, "sinks", SINK)
    await find(database, "a")
    await api.app.beside[0].submit_due()
    await find(database, "b")


async def test_jobs_of_a_source_tell_all_sinks_of_their_template(
    api: LiveApi, http: AsyncClient, database: Dsns, admin: asyncpg.Connection
) -> None:
    """So do those of a batch, which names each once."""
    both = SINK + SINK.replace("wekeo", "lineage")
    line = LINE.replace("[job.snow]", '[job.snow]\nsink = ["wekeo", "lineage"]')
    await apply(http, "snow", line + both)
    await find(database, "a")
    await api.app.beside[0].submit_due()
    asked = {"lifecycle": "hrsi", "sink": ["wekeo", "lineage"], "jobs": [{"command": ["true"]}]}
    answer = await http.post("/v1/batches", json=asked)
    assert answer.status_code == 201, answer.text
    told = await admin.fetch(TOLD)
    assert [tuple(row) for row in told] == [("wekeo", "lineage")] * 2
    for sinks in (["wekeo", "wekeo"], []):
        answer = await http.post("/v1/batches", json={**asked, "sink": sinks})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/sink")


@pytest.mark.usefixtures("line")
async def test_lines_tell_of_sources_sinks_and_statuses(http: AsyncClient, database: Dsns) -> None:
    await read(database, None)
    found = await lines(http)
    (source,) = found["sources"]
    assert (source["cursor"], source["n_waiting"]) == ({"at": "2027"}, 1)
    assert [(one["key"], one["job"]) for one in source["last_items"]] == [
        ("b", None),
        ("a", "b1.j1"),
    ]
    assert found["statuses"] == [{"lifecycle": "hrsi", "status": "ready", "n_jobs": 1}]
    assert [one["sink"] for one in found["sinks"]] == ["wekeo"]
    assert await sample(http, 'weft_source_waiting_items{role="api",source="scenes"}') == "1.0"
    status = 'weft_status_jobs{lifecycle="hrsi",role="api",status="ready"}'
    assert await sample(http, status) == "1.0"
    assert (
        await sample(http, 'weft_sink_messages{role="api",sink="wekeo",state="given_up"}') == "0.0"
    )

    una = await stranger(http)
    assert await lines(http, headers=una) == {"sources": [], "sinks": [], "statuses": []}
    assert "scenes" not in (await http.get("/metrics", headers=una)).text


@pytest.mark.usefixtures("line")
async def test_source_that_fails_is_an_incident_until_it_is_read(
    http: AsyncClient, browser: AsyncClient, database: Dsns
) -> None:
    una = await stranger(http)
    for error, seen in (("no such directory", True), (None, False)):
        await read(database, error)
        for path in ("/ui", "/ui/incidents"):
            page = (await browser.get(path)).text
            assert ("no such directory" in page, "/ui/lines/scenes" in page) == (seen, seen), path
            assert "no such directory" not in (await http.get(path, headers=una)).text
        for headers, n in (({}, int(seen)), (una, 0)):
            overview = (await http.get("/v1/overview", headers=headers)).json()
            assert overview["incidents"] == n
        up = await sample(http, 'weft_source_up{role="api",source="scenes"}')
        assert up == f"{float(not seen)}"
    await read(database, "away")
    await http.patch("/v1/sources/scenes", json={"paused": True})
    assert "away" not in (await browser.get("/ui/incidents")).text


@pytest.mark.usefixtures("line")
async def test_pages_lead_from_a_source_to_its_items_and_their_status(
    http: AsyncClient, browser: AsyncClient
) -> None:
    page = (await browser.get("/ui/lines")).text
    for part in (
        'href="/ui/lines/scenes"',
        'href="/ui/batches/1/jobs/1"',
        "wekeo",
        "Statuses of <bdi>hrsi</bdi>",
    ):
        assert part in page
    page = (await browser.get("/ui/lines/scenes")).text
    assert page.index("<bdi>b</bdi>") < page.index("<bdi>a</bdi>")
    assert "<bdi>a</bdi>" not in (await browser.get("/ui/lines/scenes?state=new")).text
    assert (await browser.get("/ui/lines/scenes?state=odd")).status_code == 400
    assert (await browser.get("/ui/lines/none")).status_code == 404
    una = await stranger(http)
    assert (await http.get("/ui/lines/scenes", headers=una)).status_code == 404
    job = (await browser.get("/ui/batches/1/jobs/1")).text
    assert 'class="badge status"><bdi>ready</bdi><' in job
    assert "<b><bdi>initialized</bdi></b>" in job
    answer = (await http.get("/v1/batches/1/jobs/1")).json()
    assert json.dumps(answer).count('"status": "ready"') == 1


async def test_metrics_without_lines_ask_nothing_of_them(
    http: AsyncClient, database: Dsns
) -> None:
    await as_admin(database, "REVOKE EXECUTE ON FUNCTION weft.overview_lines FROM weft_api")
    page = await http.get("/metrics")
    assert page.status_code == 200
    assert "weft_jobs" in page.text
    await apply(http, "snow", LINE)
    assert (await http.get("/metrics")).status_code == 500
