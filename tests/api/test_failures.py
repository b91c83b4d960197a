"""Jobs that failed over HTTP: dead letters, reasons, and batches that run on."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from httpx import AsyncClient

from api.live import TOKEN, LiveApi, LiveWorker
from api.test_visits import QUERY, STREAMS
from weft import aio
from weft.api.app import route_rights
from weft.client.api import Api
from weft.settings import Settings
from weft.wire.answers.batches import GroupStateWord

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


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Let three attempts be counted in one request."""
    return Settings(home=tmp_path, reasons_attempts_max=3)


async def failed_batch(client: Api, worker: LiveWorker) -> int:
    """Make a batch of which 8 jobs fail, 3 of them in a group."""
    jobs = [{"group": "/a" if n % 4 == 0 else "/"} for n in range(12)]
    batch = int((await client.create_batch({"jobs": jobs}))["id"])
    claimed = sorted(await worker.claim(), key=lambda one: one.job_id)
    await worker.end(claimed[::3])
    await worker.end(claimed[1::3], exit_code=3)
    await worker.end(claimed[2::3], exit_code=4)
    return batch


async def test_pages_are_added_up(api: LiveApi, worker: LiveWorker) -> None:
    async with Api(api.url, TOKEN) as client, aio.Client(api.url, TOKEN) as objects:
        batch = await failed_batch(client, worker)
        counts = await client.count_reasons(batch)
        of_group = await client.count_reasons(batch, group="/a")
        b = await objects.get_batch(batch)
        group = await (b.job_tree()).get_path("/a")

        assert [(one["reason"], one["exit_code"], one["n_jobs"]) for one in counts] == [
            ("exit", 3, 4), ("exit", 4, 4)
        ]  # fmt: skip
        assert [one["first_job"] for one in counts] == [2, 3]
        assert {one["exit_code"]: one["n_jobs"] for one in of_group} == {3: 1, 4: 1}
        assert await b.count_reasons() == counts
        some = await client.count_reasons(batch, enough=4)
        assert sum(one["n_jobs"] for one in some) == 6  # two pages
        assert await group.count_reasons() == of_group


async def test_a_page_says_where_the_next_one_begins(api: LiveApi, worker: LiveWorker) -> None:
    async with Api(api.url, TOKEN) as client:
        batch = await failed_batch(client, worker)
    async with api.client() as http:
        path = f"/v1/batches/{batch}/reasons"
        first = (await http.get(path)).json()
        second = (await http.get(path, params={"cursor": first["cursor"]})).json()
        foreign = await http.get(path, params={"cursor": first["cursor"], "group": "/a"})
        missing = await http.get(path, params={"group": "/none"})

    assert [sum(one["n_jobs"] for one in page["items"]) for page in (first, second)] == [3, 3]
    assert foreign.status_code == 400
    assert missing.status_code == 404


WORDS = [*get_args(GroupStateWord)]


def states_in(document: Any) -> Iterator[str]:  # noqa: ANN401 (any document)
    """Yield the states of batches and groups."""
    if isinstance(document, dict) and document.get("state") in WORDS:
        yield document["state"]
    if isinstance(document, dict | list):
        for part in document.values() if isinstance(document, dict) else document:
            yield from states_in(part)


async def test_no_document_and_no_page_says_failure_before_the_end(
    http: AsyncClient, browser: AsyncClient, worker: LiveWorker
) -> None:
    batch = {"jobs": [{"group": "/g", "count": 2}], "groups": [{"path": "/g"}]}
    b = (await http.post("/v1/batches", json=batch)).json()["id"]
    await worker.end(await worker.claim(1), exit_code=1)
    schemas = (await http.get("/openapi.json")).json()
    kinds = [
        f'schemas/{name}"'
        for name, kind in schemas["components"]["schemas"].items()
        if kind.get("properties", {}).get("state", {}).get("enum") == sorted(WORDS)
    ]
    reads = {
        route
        for route in route_rights()
        if route.startswith("GET ") and {*re.findall(r"{(\w+)}", route)} <= {"b", "g"}
    }
    seen = set()
    for route in reads - STREAMS:
        path = route.removeprefix("GET ").format(b=b, g=1)
        answer = await (browser if "/ui" in path else http).get(path + QUERY.get(route, ""))
        if "json" in answer.headers.get("content-type", ""):
            states = set(states_in(answer.json()))
            assert states <= {"running"}, route
            seen |= {route} if states else set()
        else:
            assert not re.search(r"\bs-failure\b", answer.text), route
            seen |= {route} if "running, 1 failed" in answer.text else set()
    described = {
        f"GET {path}"
        for path, asked in schemas["paths"].items()
        if any(kind in json.dumps(asked.get("get")) for kind in kinds)
    }
    assert described & reads == {route for route in seen if "/v1" in route}
    assert len(seen) > len(described)
