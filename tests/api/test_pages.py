"""The pages as a browser without scripts gets them."""

import html
import re
from collections.abc import Mapping
from typing import Any, Final

import asyncpg
import httpx
import pytest
from httpx import AsyncClient

from api.live import NO_TLS, LiveApi, LiveWorker, submit
from weft.api.app import route_rights
from weft.api.html.assets import assets
from weft.core.notes import Note
from weft.core.states import AttemptKey
from weft.ports.store import KeptFile, ProgressReport
from weft.wire.log_format import STDERR, STDOUT
from weft.wire.usage_format import UsageSample

HOSTILE = "<script>alert(1)</script>\u202e\"'><img src=x onerror=alert(2)>"
PATHS = (
    "/ui",
    "/ui/batches",
    "/ui/batches/1",
    "/ui/batches/1/groups",
    "/ui/batches/1/jobs/1",
    "/ui/batches/1/dag",
    "/ui/batches/1/dag.svg",
    "/ui/batches/1/time",
    "/ui/batches/1/groups/0",
    "/ui/batches/1/groups/0/tree",
    "/ui/incidents",
    "/ui/queues",
    "/ui/pools/default",
    "/ui/workers",
    "/ui/costs",
    "/ui/conditions",
    "/ui/system",
    "/ui/pools",
    "/ui/costs/default",
)


def _token_in(page: httpx.Response) -> Mapping[str, str]:
    found = re.search(r'name="csrf_token" value="([0-9a-f]+)"', page.text)
    assert found is not None, page.text
    return {"csrf_token": found[1]}


async def test_pages_without_anything_say_how_to_begin(browser: AsyncClient) -> None:
    for path in ("/ui", "/ui/batches"):
        page = await browser.get(path)
        assert page.status_code == 200, page.text
        assert "weft run echo hello" in page.text
    assert "weft worker" in (await browser.get("/ui/workers")).text
    root = await browser.get("/")
    assert (root.status_code, root.headers["location"]) == (303, "/ui")


PNG: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x02\x00\x00\x00\x02IEND\xaeB`\x82"
NOTES: Final = (
    Note("report", "markdown", b"# <script>x</script>"),
    Note("loss", "table", b'a,b\n1,"<b>2"\n'),
    Note("good", "link", b"https://example.org/"),
    Note("bad", "link", b"javascript:alert(1)"),
    Note("curve", "picture", PNG),
)


async def test_pages_show_a_batch_its_jobs_and_their_output(
    browser: AsyncClient, http: AsyncClient, worker: LiveWorker
) -> None:
    jobs = [{"name": "good", "command": ["true"]}, {"name": "bad", "command": ["false"]}]
    batch_id = await submit(http, name="night run", jobs=jobs)
    good, bad = await worker.claim_and_start()
    said = ProgressReport(batch_id, good.job_id, good.attempt, 40.5, "<b>epoch")
    await worker.store.record_progress(worker.incarnation_id, [said])
    key = AttemptKey(batch_id, good.job_id, good.attempt)
    for note in NOTES:
        await worker.store.record_note(worker.incarnation_id, key, note)
    worker.write(good, (STDOUT, b"\x1b[31mred\x1b[0m \x1b]0;title\x07done\n"), (STDERR, b"<b>\n"))
    await worker.end([good], output=(28, 4))
    await worker.end([bad], exit_code=3)

    home = await browser.get("/ui")
    assert "night run" in home.text
    batch = await browser.get(f"/ui/batches/{batch_id}")
    assert "2 of 2 jobs have ended" in batch.text
    assert "Why jobs failed" in batch.text
    assert '<table class="stack">' in batch.text  # its buttons are in sight on a phone
    assert f'href="/ui/batches/{batch_id}/jobs/2"' in batch.text
    assert f'data-events="/ui/events?batch={batch_id}"' in batch.text
    failed = await browser.get(f"/ui/batches/{batch_id}", params={"q": "state = failed"})
    assert "bad" in failed.text
    assert ">good<" not in failed.text
    job = await browser.get(f"/ui/batches/{batch_id}/jobs/1")
    assert '<span class="a-f1">red</span> \ufffd]0;title\ufffddone\n</pre>' in job.text
    assert "&lt;b&gt;" in job.text
    assert "Attempts" in job.text
    assert "&lt;script&gt;x" in job.text
    assert "<td><bdi>&lt;b&gt;2</bdi></td>" in job.text
    assert '<a href="https://example.org/" rel="noopener noreferrer">' in job.text
    assert "javascript:" not in job.text
    shown = await browser.get(f"/v1/batches/{batch_id}/jobs/1/note", params={"title": "curve"})
    assert (shown.status_code, shown.content) == (200, PNG)
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert "<dd><bdi>40.5 %, &lt;b&gt;epoch</bdi>, " in job.text
    proxy = {"name": "proxy", "command": ["true"], "service": {}}
    service = await submit(http, name="services", jobs=[proxy])
    page = await browser.get(f"/ui/batches/{service}/jobs/1")
    assert "<dt>Service</dt><dd>always, 0 restarts</dd>" in page.text
    groups = await browser.get(f"/ui/batches/{batch_id}/groups")
    assert "2 of 2" in groups.text
    incidents = await browser.get("/ui/incidents")
    assert f"b{batch_id}.j2" in incidents.text
    for path, text in (
        ("/ui/workers", "w1"),
        ("/ui/queues", "default"),
        ("/ui/costs", "default"),
        ("/ui/costs/default", "cpu"),
    ):
        page = await browser.get(path)
        assert page.status_code == 200, page.text
        assert f"<bdi>{text}</bdi>" in page.text


async def test_texts_of_others_stay_text(browser: AsyncClient, http: AsyncClient) -> None:
    hostile = HOSTILE.replace("\u202e", "")  # names are printable, values of attributes are not
    batch_id = await submit(
        http,
        name=hostile,
        attributes={"a": HOSTILE},
        jobs=[{"name": hostile, "command": [HOSTILE]}],
    )
    for path in (
        "/ui",
        "/ui/batches",
        f"/ui/batches/{batch_id}",
        f"/ui/batches/{batch_id}/jobs/1",
    ):
        page = await browser.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text, path
        assert "<img src=x" not in page.text, path
        assert "\u202e" not in page.text, path
        assert "unsafe-inline" not in page.headers["content-security-policy"]
        assert "style=" not in page.text, path
    for path in ("/ui/batches", f"/ui/batches/{batch_id}"):
        page = await browser.get(path, params={"q": HOSTILE})
        assert page.status_code == 400
        assert "<script>alert" not in page.text


async def test_link_leads_to_a_project_with_any_name(
    browser: AsyncClient, http: AsyncClient
) -> None:
    for name in ("a/b c", "/", "a?b=#c", "50%"):
        made = await http.post("/v1/billing-projects", json={"name": name})
        assert made.status_code == 201, made.text
        costs = await browser.get("/ui/costs")
        (link,) = re.findall(rf'href="([^"]+)"><bdi>{re.escape(name)}</bdi>', costs.text)
        page = await browser.get(link)
        assert page.status_code == 200, (link, page.text)
        assert f"<bdi>{name}</bdi>" in page.text


async def test_list_goes_on_by_its_link(
    browser: AsyncClient, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft_pages.batches.BATCHES", 2)
    monkeypatch.setattr("weft_pages.batches.JOBS", 2)
    command = {"command": ["true"]}
    first, *_ = [await submit(http, name=f"n{i}", jobs=[command] * 3) for i in range(3)]

    page = await browser.get("/ui/batches", params={"q": "name =~ n"})
    assert "n0" not in page.text
    (older,) = re.findall(r'rel="next" href="([^"]+)"', page.text)
    last = await browser.get(older.replace("&amp;", "&"))
    assert "n0" in last.text
    assert 'rel="next"' not in last.text
    jobs = await browser.get(f"/ui/batches/{first}")
    (more,) = re.findall(r'rel="next" href="([^"]+)"', jobs.text)
    assert f"/ui/batches/{first}/jobs/3" in (await browser.get(more)).text


async def test_heads_of_the_list_sort_it(
    browser: AsyncClient, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second press turns the order round; a query and the next page keep it."""
    monkeypatch.setattr("weft_pages.batches.BATCHES", 2)
    ids = [await submit(http, name=name, jobs=[{}]) for name in "cab"]

    def links(page: httpx.Response) -> Mapping[str, str]:
        found = re.findall(r'<th scope="col"[^>]*><a href="([^"]+)">(\w+)<', page.text)
        return {name: href.replace("&amp;", "&") for href, name in found}

    def shown(page: httpx.Response) -> list[int]:
        return [int(one) for one in re.findall(r'<td><a href="/ui/batches/(\d+)">b', page.text)]

    page = await browser.get("/ui/batches", params={"q": "name != x"})
    assert links(page).keys() == {"Batch", "Name", "Created", "Completed"}
    assert page.text.count("aria-sort") == 1
    page = await browser.get(links(page)["Name"])
    assert 'aria-sort="ascending"><a href="/ui/batches?q=name' in page.text
    assert "without a name are left out" in page.text
    (more,) = re.findall(r'rel="next" href="([^"]+)"', page.text)
    assert shown(page) + shown(await browser.get(more.replace("&amp;", "&"))) == [
        ids[1],
        ids[2],
        ids[0],
    ]
    turned = await browser.get(links(page)["Name"])
    assert shown(turned) == [ids[0], ids[2]]
    assert 'name="reverse" value="true"' in turned.text
    completed = await browser.get(links(page)["Completed"])
    assert (shown(completed), completed.status_code) == ([], 200)
    assert (await browser.get("/ui/batches?sort=cost")).status_code == 400


async def test_buttons_do_what_they_say(
    browser: AsyncClient, http: AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(http, jobs=[{"command": ["true"]}] * 2)
    path = f"/ui/batches/{batch_id}"
    token = _token_in(await browser.get(path))

    async def press(action: str) -> Mapping[str, Any]:
        answer = await browser.post(f"{path}/{action}", data=token)
        assert (answer.status_code, answer.headers["location"][: len(path)]) == (303, path)
        found: Mapping[str, Any] = (await http.get(f"/v1/batches/{batch_id}")).json()
        return found

    assert (await press("hold"))["held"]
    assert ">Release<" in (await browser.get(path)).text
    assert not (await press("release"))["held"]
    await press("jobs/1/cancel")
    assert (await http.get(f"/v1/batches/{batch_id}/jobs/1")).json()["state"] == "cancelled"
    (left,) = await worker.claim_and_start()
    await worker.end([left], exit_code=1)
    await press("retry")
    assert (await http.get("/v1/operations")).json()["items"][0]["kind"] == "retry"
    assert (await press("cancel"))["cancelled"]
    for page in (path, f"{path}/jobs/1"):
        shown = (await browser.get(page)).text
        assert f'action="{page}/resubmit"' in shown
        assert f'action="{page}/retry"' not in shown
    made = await browser.post(f"{path}/resubmit", data=token)
    assert made.headers["location"].startswith("/ui/operations/")
    assert (await http.get("/v1/operations")).json()["items"][0]["kind"] == "resubmit"


async def test_buttons_of_a_job_do_what_they_say(
    browser: AsyncClient, http: AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(
        http, jobs=[{"command": ["true"], "timeout_s": 60, "env": {"API_TOKEN": "hunter2"}}]
    )
    path = f"/ui/batches/{batch_id}/jobs/1"
    (one,) = await worker.claim_and_start()
    page = await browser.get(path)
    assert "hunter2" not in page.text
    token = _token_in(page)
    for action, fields, status in (
        ("signal", {"signal": "USR1"}, 303),
        ("extend", {"by": "30m"}, 303),
        ("signal", {"signal": "KILL"}, 400),
        ("signal", {}, 400),
        ("extend", {"by": "soon"}, 400),
        ("extend", {"by": "1e300"}, 400),
        ("extend", {"by": "500d"}, 400),
    ):
        answer = await browser.post(f"{path}/{action}", data={**token, **fields})
        assert answer.status_code == status, (action, fields, answer.text)
    more = await http.post(f"/v1/batches/{batch_id}/jobs/1/extend", json={"by_s": 1})
    assert more.json()["extended_s"] == 1800 + 1
    left = [KeptFile(name, 2048, bytes(32)) for name in ("out/a b.txt", "<b>.txt")]
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    await worker.store.record_files(worker.incarnation_id, key, left, staging_ms=0, storing_ms=0)
    await worker.end([one], exit_code=1)
    page = await browser.get(path)
    assert f'href="/v1{path[3:]}/file?path=out%2Fa+b.txt&amp;attempt=1"' in page.text
    assert "<bdi>&lt;b&gt;.txt</bdi>" in page.text
    for kind in ("resubmit", "retry"):
        assert f'action="{path}/{kind}"' in page.text
        await browser.post(f"{path}/{kind}", data=token)
        assert (await http.get("/v1/operations")).json()["items"][0]["kind"] == kind


async def test_parents_and_children_of_a_job_go_on_by_links(
    browser: AsyncClient, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft_pages.jobs.NEIGHBOURS", 2)
    jobs: list[dict[str, Any]] = [{"command": ["true"]}] * 5
    below = [{"command": ["true"], "parents": [6]}] * 5
    middle = {"command": ["true"], "parents": [1, 2, 3, 4, 5]}
    batch_id = await submit(http, jobs=[*jobs, middle, *below])
    for name, numbers, state in (
        ("parents", range(1, 6), "ready"),
        ("children", range(7, 12), "pending"),
    ):
        step, seen = f"/ui/batches/{batch_id}/jobs/6", list[int]()
        while step:
            page = await browser.get(step)
            (part,) = re.findall(
                r"<dt>(?:Parents)</dt>.*" if name == "parents" else r"<dt>Jobs that.*", page.text
            )
            seen += map(int, re.findall(rf'href="/ui/batches/{batch_id}/jobs/(\d+)">j', part))
            assert f"s-{state}" in part
            found = re.search(r'rel="next" href="([^"]+)"', part)
            step = found[1] if found else ""
        assert seen == list(numbers)


async def test_page_of_a_job_draws_what_each_attempt_used(
    browser: AsyncClient, http: AsyncClient, worker: LiveWorker
) -> None:
    batch_id = await submit(
        http, jobs=[{"command": ["true"], "max_attempts": 2, "retry_on": ["exit"]}]
    )
    path = f"/ui/batches/{batch_id}/jobs/1"
    assert "Resource use" not in (await browser.get(path)).text
    for number, cores in ((1, 1), (2, 2)):
        (one,) = await worker.claim_and_start()
        samples = [UsageSample(1000 * n, 1000 * n * cores, n << 20) for n in (1, 2, 3)]
        text = (await browser.get(path)).text
        assert "There are no samples" in text
        assert ("epoch 4</bdi>" in text, "4, in attempt 1" in text) == (False, number == 2)
        said = ProgressReport(batch_id, 1, 1, 7, "epoch 4")
        await worker.store.record_progress(worker.incarnation_id, [said])
        await worker.keep_samples(AttemptKey(batch_id, 1, number), samples)
        await worker.end([one], exit_code=1)

    last, first = await browser.get(path), await browser.get(path, params={"usage": 1})
    for page, number, told in ((last, 2, "2.00"), (first, 1, "1.00")):
        assert f"Resource use of attempt {number}" in page.text
        assert f"Cores: at most {told}, reserved 1" in page.text
        assert "Memory: at most 3.0 MiB, reserved 512.0 MiB" in page.text
        assert page.text.count('<path class="u-') == 4
    assert (await browser.get(path, params={"usage": 3})).status_code == 404


async def test_every_form_needs_a_page_of_this_server(
    browser: AsyncClient, http: AsyncClient
) -> None:
    batch_id = await submit(http, jobs=[{"command": ["true"]}])
    token = _token_in(await browser.get("/ui"))
    rights = route_rights().items()
    forms = [
        one.partition(" ")[2] for one, right in rights if right and one.startswith("POST /ui")
    ]
    assert len(forms) >= 5

    for form in forms:
        path = form.format(b=batch_id, j=1, g=0, c=1, w="w1", o=1, session=1)
        for data, headers in (
            ({}, {}),
            ({"csrf_token": "0" * 64}, {}),
            (token, {"origin": "https://evil.example"}),
            (token, {"origin": "null"}),
        ):
            answer = await browser.post(path, data=data, headers=headers)
            assert answer.status_code == 403, (path, data, headers)
            assert "API.FOREIGN_REQUEST" in answer.text
            assert answer.headers["content-type"].startswith("text/html")
    batch = (await http.get(f"/v1/batches/{batch_id}")).json()
    assert (batch["held"], batch["cancelled"], batch["n_cancelled"]) == (False, False, 0)


async def test_strangers_and_viewers(
    api: LiveApi, browser: AsyncClient, http: AsyncClient
) -> None:
    batch_id = await submit(http, jobs=[{"command": ["true"]}])
    async with AsyncClient(base_url=api.url, verify=NO_TLS) as stranger:
        for path in PATHS:
            page = await stranger.get(path)
            assert page.status_code == 401
            assert "weft open" in page.text
            assert "<title>Not logged in" in page.text
            assert 'href="/login"' in page.text
            assert page.headers["content-type"].startswith("text/html")
    made = await http.post("/v1/tokens", json={"name": "looks", "scopes": ["read"]})
    bearer = {"authorization": f"Bearer {made.json()['token']}"}
    async with AsyncClient(base_url=api.url, headers=bearer, verify=NO_TLS) as viewer:
        page = await viewer.get(f"/ui/batches/{batch_id}")
        assert page.status_code == 200
        assert "<button>Hold" not in page.text
        refused = await viewer.post(f"/ui/batches/{batch_id}/hold", data={})
        assert refused.status_code == 403
    for path in ("/ui/batches/999", "/ui/batches/999/jobs/1", "/ui/nothing"):
        missing = await browser.get(path)
        assert missing.status_code == 404
        assert missing.headers["content-type"].startswith("text/html")


async def test_assets_are_kept_for_ever_below_their_digest(api: LiveApi) -> None:
    async with AsyncClient(base_url=api.url, verify=NO_TLS) as stranger:
        for asset in assets().values():
            answer = await stranger.get(asset.path)
            assert answer.status_code == 200
            assert answer.headers.get_list("cache-control") == [
                "public, max-age=31536000, immutable"
            ]
            assert answer.content == asset.data
        old = await stranger.get("/ui/assets/000000000000/weft.css")
        assert old.status_code == 404


def test_every_page_is_in_the_table_and_in_no_description(api: LiveApi) -> None:
    routes = {name for route in api.app.router.routes for name in route.names if " /ui" in name}
    assert routes == {one for one in route_rights() if " /ui" in one}


async def test_batch_says_its_pace_its_costs_and_the_columns_that_are_chosen(
    browser: AsyncClient, http: AsyncClient, worker: LiveWorker
) -> None:
    groups = [{"name": "stage1"}, {"name": "stage2"}]
    jobs = [
        {"command": ["true"], "group": f"/stage{n}", "attributes": {"k": f"v{n}"}} for n in (1, 2)
    ]
    batch_id = await submit(http, groups=groups, jobs=jobs, callback="https://example.com/done")
    first, second = await worker.claim_and_start()
    await worker.end([first])

    path = f"/ui/batches/{batch_id}"
    page = await browser.get(path)
    assert "Jobs an hour, on average" in page.text
    assert "Ends, at this rate" in page.text
    assert "Cost an hour, on average" in page.text
    assert re.search(r"<bdi>stage1</bdi></td><td class=\"n\">1 of 1", page.text)
    assert "<bdi>memory</bdi>" in page.text
    assert "<bdi>https://example.com/done</bdi>" in page.text
    assert '<th scope="col">Started</th>' in page.text
    few = await browser.get(path, params={"column": ["attributes", "cost"], "q": "k = v2"})
    assert "<bdi>k</bdi> = <bdi>v2</bdi>" in few.text
    assert '<th scope="col" class="n">Cost</th>' in few.text
    assert '<th scope="col">Started</th>' not in few.text
    assert 'value="cost" checked' in few.text
    wrong = await browser.get(path, params={"column": "secret"})
    assert wrong.status_code == 400
    await worker.end([second])
    over = await browser.get(path)
    assert "Ends, at this rate" not in over.text


async def test_costs_of_many_groups_come_by_their_numbers(
    browser: AsyncClient, http: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page never says that the dearest of some groups are the dearest of all."""
    monkeypatch.setattr("weft_pages.batches.DEAREST_GROUPS", 2)
    groups = [{"name": name} for name in "abc"]
    jobs = [{"command": ["true"], "group": f"/{'abc'[n % 3]}"} for n in range(101)]
    batch_id = await submit(http, groups=groups, jobs=jobs)
    path = f"/ui/batches/{batch_id}"
    query = {"q": "state = ready", "column": ["cost", "state"]}
    first = (await browser.get(path, params=query)).text
    assert "the first 2 groups by number, g1 to g2, the dearest of them first" in first
    more_jobs, more = map(html.unescape, re.findall(r'rel="next" href="([^"]+)"', first))
    assert more.endswith("q=state+%3D+ready&column=cost&column=state&groups=2#costs")
    assert "groups=" not in more_jobs
    second = (await browser.get(more)).text
    assert "the next 1 groups by number, g3 to g3" in second
    assert re.findall(r'<td class="name"><bdi>(\w)</bdi>', second) == ["c"]
    assert ">from the first</a>" in second
    assert 'value="state = ready"' in second
    last = (await browser.get(path, params={"groups": 3})).text
    assert "There are no more groups." in last


async def test_pages_of_a_batch_that_hardly_moves_and_of_a_deep_document(
    browser: AsyncClient,
    http: AsyncClient,
    worker: LiveWorker,
    admin: asyncpg.Connection,
) -> None:
    """An end in ten thousand years is no forecast; only the JSON of a job is whole."""
    deep: Any = 1
    for _ in range(80):
        deep = [deep]
    function = {"call": "math:hypot", "args": [deep]}
    jobs = [{"command": ["true"]}, {"function": function}, *[{"command": ["true"]}] * 400]
    batch_id = await submit(http, jobs=jobs)
    (first,) = await worker.claim_and_start(1)
    await worker.end([first])
    await admin.execute("UPDATE weft.job_group SET created_at = now() - interval '30 years'")

    page = await browser.get(f"/ui/batches/{batch_id}")
    job = await browser.get(f"/ui/batches/{batch_id}/jobs/2")

    assert (page.status_code, job.status_code) == (200, 200)
    assert "Ends, at this rate" not in page.text
