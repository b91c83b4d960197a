"""The door for Agave on a server: what a submission asks for, and where documents lead."""

import asyncpg
import httpx
import pytest

from api.agave_door import FULL, submitted
from api.hidden_pairs import statements
from weft.run.doors import api_doors
from weft_aloe.searching import _FIELDS

LIVE_DOORS = api_doors()
SETTINGS = {"source_paths": "/", "door_search_timeout_s": 0.02}
SEARCHES = [
    *(f"/jobs/v2?sort=asc&sortBy={field}" for field in _FIELDS),
    "/jobs/v2?inputs=x",
    *(f"/jobs/v2?{field}.in=1" for field, kind in _FIELDS.items() if kind in {"text", "number"}),
    *(f"/jobs/v2/search/status/{status}" for status in ("RUNNING", "PENDING", "FAILED")),
    *(f"/ga4gh/tes/v1/tasks?{term}" for term in ("state=RUNNING", "name_prefix=x", "tag_key=x")),
]


async def test_a_submission_asks_for_each_thing_once(http: httpx.AsyncClient) -> None:
    """Its answer is what a look at the new job says."""
    await submitted(http)
    before = statements()
    made = (await http.post("/jobs/v2", json={**FULL, "inputs": {}})).json()["result"]
    calls = {name: n - before.get(name, 0) for name, n in statements().items()}
    calls = {name: n for name, n in calls.items() if n}
    found = (await http.get(f"/jobs/v2/{made['id']}")).json()["result"]

    assert calls == dict.fromkeys(("find_apps", "list_stores", "tenant_name", "submit"), 1)
    assert made == found


@pytest.mark.heavy
async def test_each_link_of_a_job_answers_in_the_envelope(http: httpx.AsyncClient) -> None:
    whole = (await http.get(f"/jobs/v2/{await submitted(http)}")).json()["result"]
    answers = {name: await http.get(link["href"]) for name, link in whole["_links"].items()}
    wrong = [name for name, one in answers.items() if "version" not in one.json()]

    assert {"executionSystem", "archiveSystem", "owner"} <= answers.keys()
    assert not wrong


@pytest.mark.heavy
async def test_searches_of_doors_end_soon(
    http: httpx.AsyncClient, admin: asyncpg.Connection
) -> None:
    """Whatever they search or sort by, they say by what few jobs are found."""
    async with admin.transaction():
        await admin.execute("LOCK TABLE weft.batch")  # so none comes to an end
        answers = {path: await http.get(path) for path in SEARCHES}
    wrong = {path: one.text for path, one in answers.items() if one.status_code != 400}
    assert not wrong
    assert {one.text.count("door_search_timeout_s") for one in answers.values()} == {1}
    said = {one.json().get("message", "") for path, one in answers.items() if "tes" not in path}
    assert all("name, appId, status, endTime" in one for one in said)
    assert (await http.get("/jobs/v2")).json()["result"] == []
