"""Jobs that failed over HTTP: dead letters, reasons, and batches that run on."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import httpx
import pytest
from httpx import AsyncClient

from api.live import TOKEN, LiveApi, LiveWorker, submit
from api.test_pages import _token_in
from api.test_visits import QUERY, STREAMS
from weft import aio
from weft.api.app import route_rights
from weft.client.api import Api
from weft.wire.answers.field_types import GroupStateWord
from weft_pages import incidents

WRONG: list[dict[str, Any]] = [
    {},
    {"note": ""},
    {"note": "a\0b"},
    {"note": "x" * 1001},
    {"note": "n", "cause": "1"},
    {"note": "n", "jobs": []},
    {"note": "n", "jobs": [0]},
    {"note": "n", "jobs": "all"},
    {"note": "n", "until": "2026-11-22T10:00:00"},
    {"note": "n", "more": 1},
    {"note": "n", "cause": "0f3a9c41d27e", "jobs": [1]},
]


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
        "cause=xyz",
        "reason=bad",
        "batch=c1",
        "acknowledged=1",
        "cursor=x",
        "limit=0",
        "x=1",
    ):
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


SETTINGS = {"reasons_attempts_max": 3}
"""Three attempts are counted in one request."""


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
            ("exit", 3, 4),
            ("exit", 4, 4),
        ]
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


async def test_failed_jobs_stand_by_cause_with_one_button(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http, jobs=[{"command": ["false"], "count": 5}, {"command": ["no"]}])
    claimed = await worker.claim_and_start()
    await worker.end(claimed[:5], exit_code=3)
    await worker.end(claimed[5:], exit_code=4)
    page = await browser.get("/ui/incidents")
    batch = await browser.get(f"/ui/batches/{batch_id}")

    assert page.text.count(f'action="/ui/batches/{batch_id}/retry"') == 1
    assert page.text.count(f'action="/ui/batches/{batch_id}/jobs/6/retry"') == 1
    of_cause = re.search(
        r'href="(/ui/incidents\?batch=\d+&amp;cause=[0-9a-f]+)"><b>5 jobs', page.text
    )
    assert of_cause is not None
    assert ">Retry all 5 …<" in page.text
    assert "exit code 3" in page.text
    assert of_cause[1] in batch.text
    jobs = await browser.get(of_cause[1].replace("&amp;", "&"))
    assert re.findall(r"jobs/(\d)\"", jobs.text) == ["1", "2", "3", "4", "5"]
    assert ">Retry all 5 …<" in jobs.text
    causes = re.findall(r'name="cause" value="([0-9a-f]{12})"', page.text)
    assert len(causes) == 1
    assert not re.search(rf">{causes[0]}<", page.text)
    assert f'name="cause" value="{causes[0]}"' in batch.text
    path = f"/ui/batches/{batch_id}/retry"
    wrong = await browser.post(path, data={**_token_in(page), "cause": "x"})
    assert wrong.status_code == 400
    answer = await browser.post(path, data={**_token_in(page), "cause": causes[0]})
    assert answer.status_code == 303
    (operation,) = (await http.get("/v1/operations")).json()["items"]
    assert operation["kind"].startswith("retry")


async def test_a_cause_is_one_row_however_many_jobs_it_has(
    browser: httpx.AsyncClient,
    http: httpx.AsyncClient,
    worker: LiveWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And its own page has all of them."""
    monkeypatch.setattr(incidents, "LETTERS", 2)
    monkeypatch.setattr(incidents, "CAUSES", 2)
    await submit(http, jobs=[{"command": ["false"]}] * 8)
    claimed = await worker.claim_and_start()
    for code, some in ((3, claimed[:4]), (4, claimed[4:7]), (5, claimed[7:])):
        await worker.end(some, exit_code=code)
    first = await browser.get("/ui/incidents")
    (link,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
    rest = await browser.get(html.unescape(link))
    counts = re.findall(r"<b>(\d) jobs</b>", first.text + rest.text)
    (of_four,) = re.findall(r'href="([^"]+)"><b>4 jobs</b>', first.text + rest.text)

    assert sorted(counts) == ["3", "4"]
    assert (first.text + rest.text).count(">Retry<") == 1
    found, path = [], html.unescape(of_four)
    while path:
        page = (await browser.get(path)).text
        found += re.findall(r'jobs/(\d)"', page)
        path = html.unescape((re.findall(r'rel="next" href="([^"]+)"', page) or [""])[0])
    assert found == ["1", "2", "3", "4"]
    for wrong in ({"batch": "x"}, {"cause": "x"}, {"cursor": "x"}):
        assert (await browser.get("/ui/incidents", params=wrong)).status_code == 400


async def test_no_retry_is_offered_in_a_cancelled_group(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http, jobs=[{"command": ["false"], "group": "/late"}, {}])
    await worker.end((await worker.claim_and_start())[:1], exit_code=3)
    for is_offered in (True, False):
        for page in ("/ui/incidents", f"/ui/batches/{batch_id}/jobs/1"):
            assert ("/jobs/1/retry" in (await browser.get(page)).text) is is_offered, page
        await http.post(f"/v1/batches/{batch_id}/groups/1/cancel")


async def test_a_job_says_its_error_once_and_is_held_and_released(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http, jobs=[{"command": ["false"]}] * 2)
    path = f"/ui/batches/{batch_id}/jobs/2"
    page = await browser.get(path)
    assert (">Hold<" in page.text, ">Release<" in page.text) == (True, False)
    assert (await browser.post(f"{path}/hold", data=_token_in(page))).status_code == 303
    page = await browser.get(path)
    assert (">Hold<" in page.text, ">Release<" in page.text) == (False, True)
    (one,) = await worker.claim_and_start()
    await worker.end([one], exit_code=3, message="no such reference")
    assert (await browser.post(f"{path}/release", data=_token_in(page))).status_code == 303
    assert ">Hold<" in (await browser.get(path)).text
    failed = (await browser.get(f"/ui/batches/{batch_id}/jobs/1")).text

    assert failed.count("no such reference") == 1
    assert "exit code 3" in failed


async def test_jobs_come_before_costs_with_their_index_and_command(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    job = {"name": "resize", "count": 2, "command": ["sh", "-c", "echo one two"]}
    batch_id = await submit(http, jobs=[job])
    await worker.end(await worker.claim())
    batch = (await browser.get(f"/ui/batches/{batch_id}")).text
    shown = (await browser.get(f"/ui/batches/{batch_id}/jobs/2")).text

    assert "<bdi>resize</bdi>[1]" in batch
    assert batch.index('id="jobs"') < batch.index('id="costs"')
    assert "sh -c &#39;echo one two&#39;</pre>" in shown
    assert "<bdi>trace_id</bdi>" not in shown
    assert "update 1" not in shown
    assert "assigned" not in shown
    assert shown.index('id="live"') < shown.index("</header>")
    assert 'href="/ui/batches?q=state+%3D+running"' in (await browser.get("/ui")).text
