"""Dependencies and the time axis over HTTP, and their pages."""

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from api.live import LiveApi, LiveWorker, submit
from api.test_pages import _token_in

TREE: dict[str, Any] = {
    "groups": [{"path": "/a"}, {"path": "/a/b"}, {"path": "/c"}, {"name": "pca"}],
    "jobs": [
        {"name": "first", "command": ["true"], "group": "/a"},
        {
            "name": "part",
            "command": ["true"],
            "group": "/a/b",
            "count": 15,
            "parents": ["first"],
            "groups": ["pca"],
        },
        {"name": "last", "command": ["true"], "group": "/c", "parents": ["part"]},
        {"name": "alone", "command": ["true"]},
    ],
}


async def graph(http: httpx.AsyncClient, batch: int, **query: Any) -> Any:  # noqa: ANN401 (a document)
    answer = await http.get(f"/v1/batches/{batch}/graph", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def shape(document: Any) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:  # noqa: ANN401
    nodes = [(one["id"], one["kind"], one["n_jobs"]) for one in document["nodes"]]
    edges = [(one["parent"], one["child"], one["n_edges"]) for one in document["edges"]]
    return nodes, edges


async def test_graph_is_of_groups_first_then_of_jobs(http: httpx.AsyncClient) -> None:
    batch = await submit(http, **TREE)
    top = await graph(http, batch)
    inner = await graph(http, batch, group="/a")
    leaf = await graph(http, batch, group="/a/b", apart="true")
    jobs = await graph(http, batch, level="jobs")

    assert shape(top) == (
        [("g1", "group", 16), ("g3", "group", 1), ("g0", "own", 1)],
        [("g1", "g3", 15)],
    )
    assert shape(inner) == ([("g2", "group", 15), ("g1", "own", 1)], [("g1", "g2", 15)])
    assert (leaf["level"], len(leaf["nodes"]), leaf["edges"]) == ("jobs", 15, [])
    assert shape(jobs) == (
        [("j1", "job", 1), ("j2", "jobs", 15), ("j17", "job", 1), ("j18", "job", 1)],
        [("j1", "j2", 15), ("j2", "j17", 15)],
    )
    assert jobs["cursor"] is None


async def test_an_array_of_a_thousand_hides_no_job_after_it(
    http: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    jobs = [
        {"name": "prepare", "command": ["true"]},
        {"name": "work", "command": ["true"], "count": 1000, "parents": ["prepare"]},
        {"name": "sum", "command": ["true"], "parents": ["work"]},
    ]
    batch = await submit(http, jobs=jobs)
    found = await graph(http, batch)

    assert shape(found) == (
        [("j1", "job", 1), ("j2", "jobs", 1000), ("j1002", "job", 1)],
        [("j1", "j2", 1000), ("j2", "j1002", 1000)],
    )
    assert found["cursor"] is None
    picture = (await browser.get(f"/ui/batches/{batch}/dag.svg")).text
    assert "work × 1,000" in picture
    assert "there are more" not in picture


async def test_pages_of_a_graph_fit_together(http: httpx.AsyncClient) -> None:
    batch = await submit(http, **TREE)
    first = await graph(http, batch, level="jobs", limit=3)
    second = await graph(http, batch, level="jobs", limit=3, cursor=first["cursor"])

    assert [one["id"] for one in (*first["nodes"], *second["nodes"])] == ["j1", "j2", "j17", "j18"]
    assert second["cursor"] is None
    for query in ("level=x", "limit=0", "limit=1001", "apart=1", "group=", "cursor=x", "x=1"):
        answer = await http.get(f"/v1/batches/{batch}/graph?{query}")
        assert answer.status_code == 400, query
    other = await http.get(f"/v1/batches/{batch}/graph?cursor={first['cursor']}")
    assert other.status_code == 400
    missing = await http.get(f"/v1/batches/{batch}/graph?group=/z")
    assert missing.json()["code"] == "API.GROUP_NOT_FOUND"


async def test_time_axis_shows_what_ran_where(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    batch = await submit(http, jobs=[{"command": ["true"]}] * 3)
    one, other = await worker.claim_and_start(2)
    await worker.end([one])
    found = (await http.get(f"/v1/batches/{batch}/timeline")).json()

    (line,) = found["workers"]
    assert [(bar["job_id"], bar["state"]) for bar in line["attempts"]] == [
        (one.job_id, "success"),
        (other.job_id, "running"),
    ]
    assert (found["n_jobs"], found["n_sampled"], line["n_attempts"]) == (3, 3, 2)
    assert found["times"]["waiting_ms"] > 0
    assert 0 < found["buckets"][-1]["waiting"] <= 1  # it may end after the bucket began


async def test_pages_draw_each_node_as_a_link(
    browser: httpx.AsyncClient, http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch = await submit(http, **TREE)
    path = f"/ui/batches/{batch}"
    await worker.end(await worker.claim(2), exit_code=1)

    page = (await browser.get(path)).text
    for part in (
        f'src="{path}/dag.svg"',
        f'href="{path}/time"',
        f'data-branch="{path}/groups/0/tree"',
    ):
        assert part in page
    drawn = await browser.get(f"{path}/dag")
    assert f'<a href="{path}/dag?group=g1">' in drawn.text
    assert f'<a href="{path}/dag?group=g0&amp;level=jobs">' in drawn.text
    jobs = await browser.get(f"{path}/dag", params={"level": "jobs"})
    assert f'<a href="{path}/jobs/17">' in jobs.text
    (apart,) = set(re.findall(r'<a href="([^"]+apart=true)"', jobs.text.partition("<svg")[2]))
    assert (await browser.get(apart.replace("&amp;", "&"))).text.count('class="mark"') == 18
    svg = await browser.get(f"{path}/dag.svg")
    assert (svg.headers["content-type"], svg.text[:4]) == ("image/svg+xml", "<svg")
    time = (await browser.get(f"{path}/time")).text
    assert f'href="{path}/jobs/1"' in time
    for text in (drawn.text, jobs.text, time):
        assert " style=" not in text
        assert "<style" not in text


async def test_tree_is_loaded_branch_by_branch_and_cancelled_by_its_buttons(
    browser: httpx.AsyncClient, http: httpx.AsyncClient
) -> None:
    batch = await submit(http, **TREE)
    path = f"/ui/batches/{batch}/groups"
    root = (await browser.get(f"{path}/0/tree")).text
    below = (await browser.get(f"{path}/1/tree")).text

    assert "<html" not in root
    assert re.findall(r'class="label" href="[^"]+/groups/(\d+)"', root) == ["1", "3", "4"]
    assert re.findall(r'data-branch="[^"]+/groups/(\d+)/tree"', root) == ["1"]
    assert "Sets" in root
    assert re.findall(r'class="label" href="[^"]+/groups/(\d+)"', below) == ["2"]
    assert "data-branch" not in below
    group = await browser.get(f"{path}/1")
    assert f'href="{path}/2"' in group.text
    answer = await browser.post(f"{path}/1/cancel", data=_token_in(group))
    assert (answer.status_code, answer.headers["location"]) == (303, f"{path}/1")
    cancelled = (await http.get(f"/v1/batches/{batch}/groups")).json()["items"]
    assert [one["group_id"] for one in cancelled if one["cancelled"]] == [1, 2]
    assert f'action="{path}/1/cancel"' not in (await browser.get(f"{path}/1")).text


@pytest.fixture
async def viewer(api: LiveApi, http: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """Give somebody who may only look."""
    made = await http.post("/v1/tokens", json={"name": "looks", "scopes": ["read"]})
    bearer = {"authorization": f"Bearer {made.json()['token']}"}
    async with httpx.AsyncClient(base_url=api.url, headers=bearer) as found:
        yield found


async def test_who_may_only_look_sees_the_tree_without_buttons(
    viewer: httpx.AsyncClient, http: httpx.AsyncClient
) -> None:
    batch = await submit(http, **TREE)
    page = await viewer.get(f"/ui/batches/{batch}/groups/0/tree")

    assert page.status_code == 200
    assert "<button" not in page.text
    assert (await viewer.post(f"/ui/batches/{batch}/groups/1/cancel")).status_code == 403
