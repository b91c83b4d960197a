"""Whatever is sent to Agave's door, it never answers with a 5xx."""

import json
import random
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.hidden_pairs import statements
from api.live import TOKEN, LiveApi
from api.test_hail_any_input import RAW, SEGMENTS, VALUES, mutated
from weft.client.aio import Client
from weft.extensions.doors.aloe.searching import _ALL, _FIELDS
from weft.run.doors import api_doors

LIVE_DOORS = api_doors()
MUTATIONS = 400
APP = {
    "name": "any", "version": "1", "templatePath": "wrapper.sh", "executionSystem": "default",
    "inputs": [{"id": "data", "value": {"validator": "[a-z/:.]+"}}],
    "parameters": [{"id": "say", "value": {"validator": "[a-z]+"}}, {"id": "n", "value": {
        "type": "number"}}],
}  # fmt: skip
FULL = {
    "name": "n", "appId": "any-1", "batchQueue": "default", "nodeCount": 1,
    "processorsOnEachNode": 1, "memoryPerNode": "1GB", "maxRunTime": "01:00:00", "archive": True,
    "archiveOnAppError": True, "archiveSystem": "weft", "archivePath": "${JOB_TENANT}/${JOB_NAME}",
    "inputs": {"data": "http://a.example/x"}, "parameters": {"say": "x", "n": 3},
    "notifications": [{"url": "http://a.example/${JOB_ID}", "event": "*", "persistent": False,
                       "policy": {"retryStrategy": "DELAYED", "retryLimit": 3}}],
}  # fmt: skip
TEXTS = (
    "", "x", "a,b", ",", "*", "%", "_", "\\", "a\\*", "'", '"', "{0}", "{", "}", "9" * 40, "-1",
    "1e308", "nan", "0001-01-01", "9999-12-31T23:59:59Z", "9999-12-31,9999-12-31", "now", "true",
    "FINISHED", "RUNNING,FAILED", "99999:59:59", "1 TB", "999999999999TB",
    "²", "\ud7ff", "a" * 3000,
)  # fmt: skip


@pytest.fixture
async def jobs(api: LiveApi, http: httpx.AsyncClient, tmp_path: Path) -> httpx.AsyncClient:
    """Give a client, after a job was submitted."""
    folder = tmp_path / "any"
    folder.mkdir()
    (folder / "app.json").write_text(json.dumps(APP))
    (folder / "wrapper.sh").write_text("exit 0\n")
    async with Client(api.url, TOKEN) as client:
        await client.add_app(folder)
    answer = await http.post("/jobs/v2", json=FULL)
    assert answer.status_code == 201, answer.text
    return http


async def test_a_submission_asks_for_each_thing_once(jobs: httpx.AsyncClient) -> None:
    """Its answer is what a look at the new job says."""
    before = statements()
    made = (await jobs.post("/jobs/v2", json={**FULL, "inputs": {}})).json()["result"]
    calls = {name: n - before.get(name, 0) for name, n in statements().items()}
    calls = {name: n for name, n in calls.items() if n}
    found = (await jobs.get(f"/jobs/v2/{made['id']}")).json()["result"]

    assert calls == dict.fromkeys(("find_apps", "list_stores", "tenant_name", "submit"), 1)
    assert made == found


@pytest.mark.heavy
async def test_each_link_of_a_job_answers_in_the_envelope(jobs: httpx.AsyncClient) -> None:
    (known,) = (await jobs.get("/jobs/v2")).json()["result"]
    whole = (await jobs.get(f"/jobs/v2/{known['id']}")).json()["result"]
    answers = {name: await jobs.get(link["href"]) for name, link in whole["_links"].items()}
    wrong = [name for name, one in answers.items() if "version" not in one.json()]

    assert {"executionSystem", "archiveSystem", "owner"} <= answers.keys()
    assert not wrong


@pytest.mark.heavy
async def test_no_body_ends_in_an_error_of_the_server(jobs: httpx.AsyncClient) -> None:
    chance = random.Random(1)  # noqa: S311 (no secret)
    (known,) = (await jobs.get("/jobs/v2")).json()["result"]
    one = f"/jobs/v2/{known['id']}"
    bodies: dict[str, Any] = {
        "/jobs/v2": FULL, one: {"action": "reset"}, f"{one}/resubmit": {"ignore": True},
        f"{one}/pems": {"username": "ann", "permission": "READ"},
        f"{one}/pems/ann": {"permission": "ALL"},
    }  # fmt: skip
    wrong, taken = [], 0
    for number in range(MUTATIONS):
        for path, body in bodies.items():
            if number % 5 and path != "/jobs/v2":
                continue
            sent = json.dumps(mutated(body, chance)).encode()
            if chance.randrange(8) == 0:
                sent = chance.choice(RAW)
            answer = await jobs.post(
                path, content=sent, headers={"content-type": "application/json"}
            )
            taken += answer.status_code == 201
            if answer.status_code >= 500:
                wrong.append((path, sent[:200], answer.status_code, answer.text))

    assert wrong == []
    assert taken > MUTATIONS // 8


@pytest.mark.heavy
async def test_no_search_and_no_path_ends_in_an_error_of_the_server(
    jobs: httpx.AsyncClient, api: LiveApi
) -> None:
    """Each field with each operator and some texts, and each order."""
    wrong = []

    async def ask(method: str, path: str, **parameters: str) -> None:
        answer = await jobs.request(method, path, params=parameters)
        if answer.status_code >= 500:
            wrong.append((path, parameters, answer.status_code, answer.text))

    chance = random.Random(2)  # noqa: S311 (no secret)
    for field in sorted(_FIELDS):
        for operator in sorted(_ALL):
            for text in chance.sample(TEXTS, 2):
                await ask("GET", "/jobs/v2", **{f"{field}.{operator}": text, "limit": "2"})
        for way in ("asc", "desc"):
            await ask("GET", "/jobs/v2", sortBy=field, sort=way, offset="1")
    for value in VALUES:
        await ask("GET", "/jobs/v2", limit=str(value)[:100], offset=str(value)[:100])
    for route in api.app.rights:
        method, _, path = route.partition(" ")
        for text in SEGMENTS if path.startswith(("/jobs", "/apps")) and "{" in path else ():
            await ask(method, re.sub(r"{\w+}", text, path))

    assert wrong == []
