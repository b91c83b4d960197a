"""Lists that a query chooses from, over HTTP: pages, cursors, plans, and what is refused."""

from dataclasses import replace
from typing import Any

import httpx
import pytest
from httpx import AsyncClient

from api.fakes import RecordingStore
from api.live import LiveApi, add
from api.problems import code_of
from api.test_bad_input import assert_problem
from cases import cases
from weft.core import errors


@pytest.fixture
async def batch(http: AsyncClient) -> int:
    """Give a batch of seven jobs of two cohorts."""
    jobs = [{"name": f"n{i}", "attributes": {"cohort": f"scz{i % 2}"}} for i in range(1, 8)]
    answer = await http.post("/v1/batches", json={"name": "mine", "jobs": jobs})
    number: int = answer.json()["id"]
    return number


async def numbers(http: AsyncClient, path: str, **query: object) -> list[int]:
    """Return the numbers of all pages."""
    found: list[int] = []
    cursor = None
    while True:
        asked = {**query, **({"cursor": cursor} if cursor else {})}
        answer = await http.get(path, params=asked)  # type: ignore[arg-type]  # any value
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += [item.get("job_id", item.get("id")) for item in page["items"]]
        cursor = page["cursor"]
        if cursor is None:
            return found


async def test_query_chooses_jobs_page_by_page(http: AsyncClient, batch: int) -> None:
    path = f"/v1/batches/{batch}/jobs"

    assert await numbers(http, path, q="cohort = scz1", limit=3) == [1, 3, 5, 7]
    assert await numbers(http, path, q="cohort = scz1\nnot job_id = 3") == [1, 5, 7]
    assert await numbers(http, path, q="") == [1, 2, 3, 4, 5, 6, 7]
    assert await numbers(http, path, limit=3) == [1, 2, 3, 4, 5, 6, 7]
    assert await numbers(http, path, q="name =~ n", state="ready", limit=2) == [*range(1, 8)]
    assert await numbers(http, path, q="name =~ n", state="failed") == []
    assert await numbers(http, path, q="cohort = scz0", after=4) == [6]
    assert await numbers(http, path, after=5) == [6, 7]


async def test_query_chooses_batches(http: AsyncClient, batch: int) -> None:
    other = (await http.post("/v1/batches", json={"attributes": {"a": "b"}})).json()["id"]

    assert await numbers(http, "/v1/batches", q="state = running") == [batch]
    assert await numbers(http, "/v1/batches", q="state = success or name = mine", limit=1) == [
        other,
        batch,
    ]
    assert await numbers(http, "/v1/batches", q="user = tester", name="mine") == [batch]
    assert await numbers(http, "/v1/batches", q="a = b") == [other]


async def test_cursor_belongs_to_its_query(http: AsyncClient, batch: int) -> None:
    path = f"/v1/batches/{batch}/jobs"
    asked = {"q": "cohort = scz1", "limit": "1"}
    cursor = (await http.get(path, params=asked)).json()["cursor"]

    good = await http.get(path, params={**asked, "limit": "2", "cursor": cursor})
    assert [job["job_id"] for job in good.json()["items"]] == [3, 5]
    for other in ({"q": "cohort = scz0"}, {}, {"q": "cohort = scz1", "state": "ready"}):
        answer = await http.get(path, params={**other, "cursor": cursor})
        assert_problem(answer, 400, "API.INVALID_PARAMETER", "?cursor")
    answer = await http.get("/v1/batches", params={"q": "cohort = scz1", "cursor": cursor})
    assert_problem(answer, 400, "API.INVALID_PARAMETER", "?cursor")


async def test_plan_is_answered_instead_of_rows(http: AsyncClient, batch: int) -> None:
    for path in (f"/v1/batches/{batch}/jobs", "/v1/batches"):
        for q in ({"q": "name = x"}, {}):
            answer = (await http.get(path, params={**q, "explain": "true"})).json()

            assert "SELECT" in answer["sql"]
            assert all(isinstance(line, str) for line in answer["plan"])


@cases("path", ["/v1/batches", "/v1/batches/1/jobs"])
@pytest.mark.parametrize("explain", ["true", "false"])
async def test_wrong_query_is_told_with_its_column(
    client: AsyncClient, path: str, explain: str
) -> None:
    answer = await client.get(
        path, params={"q": "name = x\n  and state = runing", "explain": explain}
    )

    assert_problem(answer, 400, "API.INVALID_QUERY", "?q")
    assert answer.json()["errors"][0]["message"].startswith("line 2, column 15: ")
    assert answer.json()["hint"].endswith("\n              ^^^^^^")


async def test_jobs_of_a_group_are_listed(http: AsyncClient) -> None:
    jobs: list[dict[str, object]] = [{"group": "/a/b"}, {}, {"group": "/a"}, {"name": "x"}]
    batch = (await http.post("/v1/batches", json={"jobs": jobs})).json()["id"]
    path = f"/v1/batches/{batch}/jobs"

    assert await numbers(http, path, group="/a") == [1, 3]
    assert await numbers(http, path, group="a", limit=1) == [1, 3]
    assert await numbers(http, path, group="/a", q="job_id > 1") == [3]
    assert await numbers(http, path, group="0") == [1, 2, 3, 4]
    for wrong, status in (("/nowhere", 404), ("g9", 404), ("/a//b", 400), ("", 400)):
        answer = await http.get(path, params={"group": wrong})
        assert answer.status_code == status, answer.text


async def test_bad_parameters_of_a_query_are_refused(client: AsyncClient) -> None:
    cases: list[tuple[Any, ...]] = [
        ({"q": "a b"}, "API.INVALID_QUERY"),
        ({"q": "x" * 8193}, "API.INVALID_QUERY"),
        ({"q": "x" * 60_000}, "API.INVALID_QUERY"),
        ({"q": "(" * 8000}, "API.INVALID_QUERY"),
        ({"q": "a\0"}, "API.INVALID_PARAMETER"),
        ({"q": ["a", "b"]}, "API.INVALID_PARAMETER"),
        ({"explain": "yes"}, "API.INVALID_PARAMETER"),
        ({"query": "a"}, "API.INVALID_PARAMETER"),
        ({"after": "-1"}, "API.INVALID_PARAMETER"),
        ({"after": "9" * 12}, "API.INVALID_PARAMETER"),
        ({"limit": "1001"}, "API.INVALID_PARAMETER"),
        ({"q": "a", "cursor": "x"}, "API.INVALID_PARAMETER"),
    ]
    for query, code in cases:
        answer = await client.get("/v1/batches/1/jobs", params=query)

        assert answer.status_code == 400
        assert answer.json()["code"] == code


@cases("kind", [errors.QueryTooWide, errors.QueryTooSlow])
async def test_expensive_query_is_told_what_to_add(
    client: AsyncClient, store: RecordingStore, kind: type[errors.Invalid]
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise kind("too much", detail="It is.", hint="Narrow it.")

    store.query_jobs = store.list_door_jobs = refuse  # type: ignore[method-assign,assignment]
    answer = await client.get("/v1/batches/1/jobs", params={"q": "pca"})
    of_door = await client.get("/jobs/v2", params={"owner": "ann"})

    assert_problem(answer, 422, kind.code)
    assert answer.json()["hint"] == "Narrow it."
    assert of_door.status_code == 400
    assert ("appId" in of_door.json()["message"]) == (kind is errors.QueryTooSlow)


async def test_batches_come_in_the_order_that_is_asked_for(http: AsyncClient) -> None:
    """A cursor fits no other order; long names and names with signs are places like others."""
    names = ["b:1", None, "ä" * 256, "a"]
    ids = [
        (await http.post("/v1/batches", json={"name": one, "jobs": [{}]})).json()["id"]
        for one in names
    ]

    async def listed(path: str) -> list[int]:
        seen, cursor = list[int](), ""
        while True:
            page = (await http.get(f"{path}&limit=1{cursor}")).json()
            seen += [one["id"] for one in page["items"]]
            if page["cursor"] is None:
                return seen
            cursor = f"&cursor={page['cursor']}"

    assert await listed("/v1/batches?sort=name") == [ids[3], ids[0], ids[2]]
    assert await listed("/v1/batches?sort=name&reverse=true") == [ids[2], ids[0], ids[3]]
    assert await listed("/v1/batches?reverse=true") == ids
    assert await listed("/v1/batches?sort=created") == await listed("/v1/batches?") == ids[::-1]
    assert await listed("/v1/batches?sort=completed") == []
    assert await listed("/v1/batches?sort=created&q=not+name+%3D+a") == [ids[2], ids[1], ids[0]]
    cursor = (await http.get("/v1/batches?sort=name&limit=1")).json()["cursor"]
    for order in ("sort=created", "sort=name&reverse=true", "sort=name&q=x", "hidden=true"):
        wrong = await http.get(f"/v1/batches?{order}&cursor={cursor}")
        assert (wrong.status_code, wrong.json()["code"]) == (400, "API.INVALID_PARAMETER"), order
    unknown = await http.get("/v1/batches?sort=cost")
    assert "number, name, created, completed" in unknown.json()["errors"][0]["message"]
    plan = (await http.get("/v1/batches?sort=created&explain=true")).json()
    assert "ORDER BY b.created_at DESC" in plan["sql"]


PATH = "/v1/saved-queries"


async def _save(http: AsyncClient, name: str, query: str, **more: object) -> httpx.Response:
    return await http.put(f"{PATH}/{name}", json={"query": query}, **more)  # type: ignore[arg-type]


async def test_saved_queries_are_each_users_own(http: AsyncClient, api: LiveApi) -> None:
    services = api.app.services
    services.settings = replace(services.settings, saved_queries_per_user_max=2)
    ann = await add(http, "ann")
    made = await _save(http, "broken", "state = failure")
    assert made.json().keys() == {"name", "query", "updated_at"}
    assert (await _save(http, "broken", "state = cancelled")).status_code == 200
    assert (await _save(http, "b", "x")).status_code == 200
    assert code_of(await _save(http, "c", "x")) == "API.TOO_MANY_SAVED_QUERIES"
    found = (await http.get(PATH)).json()["items"]
    assert [(one["name"], one["query"]) for one in found] == [
        ("b", "x"),
        ("broken", "state = cancelled"),
    ]
    assert (await http.get(f"{PATH}/b")).json() == found[0]

    assert (await http.get(PATH, headers=ann)).json()["items"] == []
    for method in ("GET", "DELETE"):
        hidden = await http.request(method, f"{PATH}/b", headers=ann)
        assert code_of(hidden) == "API.SAVED_QUERY_NOT_FOUND"
    assert (await _save(http, "b", "y", headers=ann)).status_code == 200
    assert (await http.request("DELETE", f"{PATH}/b")).json() == {"name": "b"}
    assert (await http.get(f"{PATH}/b", headers=ann)).json()["query"] == "y"


async def test_what_is_no_query_or_no_name_is_not_saved(http: AsyncClient) -> None:
    """A query for jobs is none for batches."""
    for name, query, code in (
        ("a", "state = runing", "API.INVALID_QUERY"),
        ("a", "(user = ada", "API.INVALID_QUERY"),
        ("a", "", "API.WRONG_TYPE"),
        ("a", "x" * 9000, "API.INVALID_QUERY"),
        ("a", " ", "API.INVALID_VALUE"),
        ("-a", "x", "API.INVALID_ID"),
        ("a" * 64, "x", "API.INVALID_ID"),
    ):
        assert code_of(await _save(http, name, query)) == code, (name, query[:20])
    assert (await http.get(PATH)).json()["items"] == []


async def test_list_of_batches_saves_its_query_and_shows_saved_ones(http: AsyncClient) -> None:
    query = 'name = "a<b" and user = ada'
    assert ">Save<" not in (await http.get("/ui/batches")).text
    assert ">Save<" not in (await http.get("/ui/batches", params={"q": "state = "})).text
    page = await http.get("/ui/batches", params={"q": query})
    assert ">Save<" in page.text
    saved = await http.post("/ui/saved-queries", data={"name": " mine ", "q": query})
    assert saved.status_code == 303, saved.text
    page = await http.get(saved.headers["location"])
    assert 'aria-current="true">mine<' in page.text
    assert ">Save<" not in page.text
    assert 'href="/ui/batches?q=name+%3D+%22a%3Cb%22' in (await http.get("/ui/batches")).text
    wrong = await http.post("/ui/saved-queries", data={"name": "a b", "q": query})
    assert (wrong.status_code, "API.INVALID_ID" in wrong.text) == (400, True)
    viewer = (await http.post("/v1/tokens", json={"name": "looks", "scopes": ["read"]})).json()
    header = {"authorization": f"Bearer {viewer['token']}"}
    looked = await http.get("/ui/batches", params={"q": query}, headers=header)
    assert ("mine" in looked.text, "forget" in looked.text) == (True, False)
    assert (
        await http.post("/ui/saved-queries/remove", data={"name": "mine"}, headers=header)
    ).status_code == 403
    gone = await http.post("/ui/saved-queries/remove", data={"name": "mine", "q": query})
    assert (gone.status_code, (await http.get(PATH)).json()["items"]) == (303, [])
