"""Pages for those who look after a site: the last hour, pools, workers, incidents and costs."""

import re

import httpx

from api.live import LiveWorker, fold
from api.test_conditions import block
from api.test_users import add

N_JOBS = 3


async def test_home_draws_the_last_hour(
    http: httpx.AsyncClient, worker: LiveWorker, database: dict[str, str]
) -> None:
    await http.post("/v1/billing-projects", json={"name": "genes", "cost_max": 10})
    await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}] * N_JOBS})
    first, second = await worker.claim(2)
    await worker.start([first, second])
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
        ["bob", 8, 0, 1], ["tester", 0, 2, 1],
    ]  # fmt: skip
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
    states = []
    for action in ("cordon", "uncordon", "drain", "uncordon"):
        done = await http.post(f"/ui/workers/w1/{action}", data={"pool": "default"})
        assert (done.status_code, done.headers["location"]) == (303, "/ui/workers")
        states.append((await http.get("/v1/workers/w1")).json()["state"])
    assert states == ["cordoned", "active", "draining", "active"]
    assert (await http.post(path, data={"pool": "other"})).status_code == 404


async def test_conditions_are_tested_released_and_failed(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    path = f"/ui/incidents/c{await block(http, worker)}"
    user = await add(http, "bob")

    page = (await http.get("/ui/incidents")).text
    assert all(f"{path}/{action}" in page for action in ("test", "release", "fail"))
    others = (await http.get("/ui/incidents", headers=user)).text
    assert f"{path}/release" not in others
    for action in ("release", "fail"):
        assert (await http.post(f"{path}/{action}", data={}, headers=user)).status_code == 403
    for action in ("test", "release", "fail"):
        assert (await http.post(f"{path}/{action}", data={})).status_code == 303, action
    found = (await http.get(path.replace("/ui/incidents", "/v1/conditions"))).json()
    assert found["failed_by"] == "user tester"
    assert (await http.post("/ui/incidents/c999/test", data={})).status_code == 404


async def test_costs_are_reported_by_what_the_reader_chooses(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    hostile = '<img src=x onerror="alert(1)">'
    await http.post("/v1/billing-projects", json={"name": hostile})
    jobs = [{"command": ["true"]}]
    for cohort in ("scz1", hostile):
        await http.post("/v1/batches", json={"jobs": jobs, "attributes": {"cohort": cohort}})
    claimed = await worker.claim()
    await worker.start(claimed)
    await worker.end(claimed)

    for by in ("", "project", "user", "day", "resource"):
        page = await http.get("/ui/costs", params={"by": by, "key": "", "first_day": ""})
        assert page.status_code == 200, page.text
        assert f"by={by or 'project'}&amp;format=csv" in page.text
        assert "<img" not in page.text
    found = await http.get("/ui/costs", params={"by": "attribute", "key": "cohort"})
    assert "<bdi>scz1</bdi>" in found.text
    assert "<img" not in found.text
    (csv,) = re.findall(r'href="(/v1/billing/report[^"]+)"', found.text)
    answer = await http.get(csv.replace("&amp;", "&"))
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.text.startswith("cohort,kind,cost")
    for wrong in (
        {"by": "attribute"}, {"by": "x"}, {"first_day": "yesterday"}, {"project": "nothing"},
    ):  # fmt: skip
        refused = await http.get("/ui/costs", params=wrong)
        assert refused.status_code in {400, 404}, wrong
        assert refused.headers["content-type"].startswith("text/html")
