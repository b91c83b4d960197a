"""Pages for those who look after a site: the last hour, pools, workers, incidents and costs."""

import ast
import html
import re
from pathlib import Path

import httpx
import pytest

from api.live import LiveWorker, add, fold
from api.test_conditions import block
from weft.api.html.filters import page_of
from weft.core import why
from weft.core.ends.conditions import Ask
from weft.submission.translation import gates
from weft_pages import costs, incidents, queues

N_JOBS = 3


async def walk(http: httpx.AsyncClient, path: str, row: str) -> list[str]:
    """Return what a pattern finds on a page and on all that its link leads to."""
    found: list[str] = []
    for _ in range(9):
        page = await http.get(path)
        assert page.status_code == 200, page.text
        found += map(html.unescape, re.findall(row, page.text.partition("<main")[2]))
        after = re.search(r'rel="next" href="([^"]+)"', page.text)
        if after is None:
            return found
        path = html.unescape(after[1])
    raise AssertionError(f"{path} has no end")


async def test_home_draws_the_last_hour(
    http: httpx.AsyncClient, worker: LiveWorker, database: dict[str, str]
) -> None:
    await http.post("/v1/billing-projects", json={"name": "genes", "cost_max": 10})
    await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}] * N_JOBS})
    first, _second = await worker.claim_and_start(2)
    await worker.end([first])
    await fold(database["weft_driver"])
    minutes = (await http.get("/v1/overview/minutes")).json()["items"]
    page = (await http.get("/ui")).text

    assert len(minutes) == 60
    assert sum(one["n_succeeded"] for one in minutes) == 1
    assert (minutes[-1]["n_waiting"], minutes[-1]["n_running"]) == (1, 1)
    for series in ("n_running", "n_waiting", "n_succeeded"):
        assert f'<rect class="c-{series}"' in page
    assert '<rect class="c-n_failed"' not in page
    assert re.search(r'<meter max="2.0" value="\d', page)
    assert re.search(r"<bdi>genes</bdi></a></td><td class=\"n\">0</td>", page)
    bob = await add(http, "bob")
    others = (await http.get("/v1/overview/minutes", headers=bob)).json()["items"]
    assert {tuple(list(one.values())[1:]) for one in others} == {(0, 0, 0, 0, 0)}
    assert "<rect" not in (await http.get("/ui", headers=bob)).text.partition("Newest")[0]


async def test_pool_shows_who_runs_and_what_would_be_fair(
    http: httpx.AsyncClient, worker: LiveWorker, database: dict[str, str]
) -> None:
    bob = await add(http, "bob")
    job = {"command": ["true"], "resources": {"cpu": 0.5}}
    await http.post("/v1/batches", json={"jobs": [job] * 4})
    await worker.start(await worker.claim())
    await http.post("/v1/batches", json={"jobs": [job] * 8}, headers=bob)
    await fold(database["weft_driver"])
    shares = (await http.get("/v1/pools/default/shares")).json()["items"]
    his = (await http.get("/v1/pools/default/shares", headers=bob)).json()["items"]
    page = (await http.get("/ui/pools/default")).text

    names = ("user", "n_ready", "running_cpu", "fair_cpu")
    assert [[one[name] for name in names] for one in shares] == [
        ["bob", 8, 0, 1],
        ["tester", 0, 2, 1],
    ]
    assert his == shares[:1]
    assert page.index("<bdi>bob</bdi>") < page.index("<bdi>tester</bdi>", page.index("<main"))
    seen = (await http.get("/ui/pools/default", headers=bob)).text.partition("<main")[2]
    assert "<bdi>bob</bdi>" in seen
    assert "<bdi>tester</bdi>" not in seen
    for path in ("/ui/pools/nothing", "/v1/pools/nothing/shares"):
        assert (await http.get(path)).status_code == 404


async def test_guards_are_tested_on_the_page(http: httpx.AsyncClient) -> None:
    queue = {"name": "big", "priority": 1, "guard": "job.resources.cpu > 4", "pools": ["default"]}
    assert (await http.put("/v1/queues", json={"queues": [queue]})).status_code == 200
    for text, told, status in (
        ('{"jobs": [{"command": ["x"]}]}', "does not take it: <bdi>big</bdi>", 200),
        ('{"jobs": []}', "has no jobs", 200),
        ('{"jobs": [', "the body is not JSON", 400),
        ("</textarea><script>alert(1)</script>", "&lt;/textarea&gt;", 400),
    ):
        page = await http.post("/ui/queues/test", data={"document": text})
        assert (page.status_code, told in page.text) == (status, True), page.text
        assert "<script>alert" not in page.text


async def test_workers_are_cordoned_by_administrators_alone(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    assert worker.incarnation_id
    operator = await add(http, "op", role="operator")
    assert "/ui/workers/w1/cordon" in (await http.get("/ui/workers")).text
    assert "/ui/workers/w1/" not in (await http.get("/ui/workers", headers=operator)).text
    path = "/ui/workers/w1/cordon"
    assert (await http.post(path, data={"pool": "default"}, headers=operator)).status_code == 403
    await http.post("/v1/batches", json={"jobs": [{"command": ["true"], "name": "align"}]})
    await worker.start(await worker.claim())
    page = (await http.get("/ui/workers/w1?pool=default")).text
    assert ('href="/ui/batches/1/jobs/1"' in page, "<bdi>align</bdi>" in page) == (True, True)
    assert 'href="/ui/workers/w1"' in (await http.get("/ui/batches/1/jobs/1")).text
    assert (await http.get("/ui/workers/w2")).status_code == 404
    states = []
    for action in ("cordon", "uncordon", "drain", "uncordon"):
        done = await http.post(f"/ui/workers/w1/{action}", data={"pool": "default"})
        assert (done.status_code, done.headers["location"]) == (303, "/ui/workers")
        states.append((await http.get("/v1/workers/w1")).json()["state"])
    assert states == ["cordoned", "active", "draining", "active"]
    assert (await http.post(path, data={"pool": "other"})).status_code == 404


def test_commands_of_causes_lead_to_the_pages_of_what_they_are_about() -> None:
    """All that `weft why` may say, but for what has no page."""
    sources = [*Path(why.__file__).parent.glob("*.py"), Path(gates.__file__)]
    calls = [
        call
        for source in sources
        for call in ast.walk(ast.parse(source.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "command"
    ]
    without = set()
    for call in calls:
        constants = [isinstance(one, ast.Constant) and str(one.value) for one in call.args]
        words = [one or "b7.j1" for one in constants]
        page = page_of({"command": why.command(*words)})
        if page is None:
            without.add(" ".join(words[:2]))
        elif words[0] in {"status", "logs", "cancel", "usage", "why", "release", "jobs"}:
            assert page == "/ui/batches/7/jobs/1", words
        else:
            assert page.startswith("/ui/"), words
    assert len(calls) > 30
    assert {one.partition(" ")[0] for one in without} == {
        "licence",
        "limit",
        "quota",
        "transport",
        "worker",
    }
    assert [one for one in without if one.startswith("worker")] == ["worker --pool"]
    assert page_of({"command": None}) is None
    assert page_of({"command": "weft worker show a/b"}) == "/ui/workers/a%2Fb"


async def test_conditions_are_tested_released_and_failed(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    path = f"/ui/conditions/{await block(http, worker, 3)}"
    user = await add(http, "bob")

    for place in ("/ui", "/ui/incidents", "/ui/conditions"):
        assert f'href="{path}"' in (await http.get(place)).text, place
    page = (await http.get(path)).text
    assert all(f'action="{path}/{action}"' in page for action in ("test", "release", "fail"))
    assert "<code><bdi>host</bdi>=<bdi>db.example</bdi></code>" in page
    assert len(re.findall(r'href="/ui/batches/1/jobs/\d+"', page)) == 3
    others = (await http.get(path, headers=user)).text
    assert f"{path}/test" in others
    assert f"{path}/release" not in others
    for action in ("release", "fail"):
        assert (await http.post(f"{path}/{action}", data={}, headers=user)).status_code == 403
    for wrong in ("", "0", "-1", "many", "9" * 20):
        refused = await http.post(f"{path}/release", data={"n": wrong})
        assert refused.status_code == 400, wrong
        assert "no job was released" in refused.text
    for action in ("test", "release", "fail"):
        done = await http.post(f"{path}/{action}", data={"n": "2"})
        assert (done.status_code, done.headers["location"]) == (303, "/ui/conditions"), action
    found = (await http.get(path.replace("/ui/", "/v1/"))).json()
    assert found["failed_by"] == "user tester"
    for method, action in (("POST", "/test"), ("POST", "/release"), ("GET", "")):
        gone = await http.request(method, f"/ui/conditions/999{action}", data={})
        assert gone.status_code == 404
        assert "text/html" in gone.headers["content-type"]


async def test_lists_of_incidents_go_on_by_their_links(
    http: httpx.AsyncClient,
    worker: LiveWorker,
    database: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each row is shown once, in the order of the API; failed jobs of one cause are one row."""
    monkeypatch.setattr(incidents, "CONDITION_ROWS", 2)
    monkeypatch.setattr(incidents, "LETTERS", 2)
    monkeypatch.setattr(incidents, "CONDITIONS", 2)
    await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}] * 8})
    claimed = await worker.claim_and_start()
    for number, one in enumerate(claimed[:5]):
        ask = Ask("quota", "tcp", {"host": f"h{number}", "port": "1"})
        await worker.block([one], ask)
    await worker.end(claimed[5:], exit_code=3)

    listed = (await http.get("/v1/conditions")).json()["items"]
    letters = (await http.get("/v1/dead-letters")).json()["items"]
    assert len(listed) == 5
    assert len(letters) == 3
    assert await walk(http, "/ui/conditions", r'href="/ui/conditions/(\d+)"') == [
        str(one["condition_id"]) for one in listed
    ]
    links = r'href="/ui/batches/1/jobs/(\d+)"'
    assert await walk(http, "/ui/incidents", links) == [str(one["job_id"]) for one in letters[:2]]
    assert ">All conditions</a>" in (await http.get("/ui/incidents")).text
    for path in ("/ui/conditions", "/ui/incidents"):
        assert (await http.get(path, params={"cursor": "x"})).status_code == 400


async def test_costs_are_reported_by_what_the_reader_chooses(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    hostile = '<img src=x onerror="alert(1)">'
    await http.post("/v1/billing-projects", json={"name": hostile})
    jobs = [{"command": ["true"]}]
    for cohort in ("scz1", hostile):
        await http.post("/v1/batches", json={"jobs": jobs, "attributes": {"cohort": cohort}})
    claimed = await worker.claim_and_start()
    await worker.end(claimed)

    for by in ("", "project", "user", "day", "resource"):
        page = await http.get("/ui/costs", params={"by": by, "key": "", "first_day": ""})
        assert page.status_code == 200, page.text
        parts = rf"by={by or 'project'}&amp;first_day=[^\"]*&amp;format=csv"
        assert re.search(parts, page.text)
        assert "<img" not in page.text
    found = await http.get("/ui/costs", params={"by": "attribute", "key": "cohort"})
    assert "<bdi>scz1</bdi>" in found.text
    assert "<img" not in found.text
    (csv,) = re.findall(r'href="(/v1/billing/report[^"]+)"', found.text)
    answer = await http.get(csv.replace("&amp;", "&"))
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.text.startswith("cohort,kind,cost")
    for wrong in (
        {"by": "attribute"},
        {"by": "x"},
        {"first_day": "yesterday"},
        {"project": "nothing"},
    ):
        refused = await http.get("/ui/costs", params=wrong)
        assert refused.status_code in {400, 404}, wrong
        assert refused.headers["content-type"].startswith("text/html")


async def test_lists_of_the_fleet_go_on_by_their_links(
    http: httpx.AsyncClient, worker: LiveWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row is shown once, in the order of the API, whatever its name."""
    assert worker.incarnation_id
    for module, name in (
        (queues, "WORKERS"),
        (queues, "QUEUES"),
        (queues, "POOLS"),
        (costs, "PROJECTS"),
    ):
        monkeypatch.setattr(module, name, 2)
    names = ["a/b c", "a?b=#c&d", "50%", "ż", "é"]
    for name in names:
        made = await http.post("/v1/billing-projects", json={"name": name})
        assert made.status_code == 201, made.text
    made = await http.put(
        "/v1/queues",
        json={
            "queues": [
                {"name": f"q{n}", "priority": 3 - n, "pools": [f"pool{n}"]} for n in range(5)
            ]
        },
    )
    assert made.status_code == 200, made.text

    async def listed(path: str, field: str) -> list[str]:
        return [one[field] for one in (await http.get(path)).json()["items"]]

    for path, api_path, field, row in (
        ("/ui/queues", "/v1/queues", "name", r"<tr><td><bdi>([^<]+)</bdi></td><td><span"),
        ("/ui/pools", "/v1/pools", "pool", r'href="/ui/pools/[^"]+"><bdi>([^<]+)</bdi>'),
        ("/ui/workers", "/v1/workers", "worker", r'href="/ui/workers/[^"]+"><bdi>([^<]+)</bdi>'),
        (
            "/ui/costs",
            "/v1/billing-projects",
            "name",
            r'href="/ui/costs/[^"]+"><bdi>([^<]+)</bdi>',
        ),
    ):
        expected = await listed(api_path, field)
        assert await walk(http, path, row) == expected, path
    assert len(await listed("/v1/queues", "name")) == 6
    assert len(await listed("/v1/pools", "pool")) == 6
    for path in ("/ui/pools", "/ui/workers", "/ui/costs"):
        page = await http.get(path, params={"after": "\U0010ffff"})
        assert (page.status_code, "From the first" in page.text) == (200, True), path
    for wrong in ("x", "1" * 9, "--1"):
        assert (await http.get("/ui/queues", params={"below": wrong})).status_code == 400
    assert "weft queue apply" in (await http.get("/ui/queues", params={"below": "-5"})).text
