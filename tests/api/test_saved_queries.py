"""Queries for batches that users have saved: over HTTP, and on the list of batches."""

from dataclasses import replace

import httpx

from api.live import LiveApi, add
from api.problems import code_of

PATH = "/v1/saved-queries"


async def _save(http: httpx.AsyncClient, name: str, query: str, **more: object) -> httpx.Response:
    return await http.put(f"{PATH}/{name}", json={"query": query}, **more)  # type: ignore[arg-type]


async def test_saved_queries_are_each_users_own(http: httpx.AsyncClient, api: LiveApi) -> None:
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
        ("b", "x"), ("broken", "state = cancelled"),
    ]  # fmt: skip
    assert (await http.get(f"{PATH}/b")).json() == found[0]

    assert (await http.get(PATH, headers=ann)).json()["items"] == []
    for method in ("GET", "DELETE"):
        hidden = await http.request(method, f"{PATH}/b", headers=ann)
        assert code_of(hidden) == "API.SAVED_QUERY_NOT_FOUND"
    assert (await _save(http, "b", "y", headers=ann)).status_code == 200
    assert (await http.request("DELETE", f"{PATH}/b")).json() == {"name": "b"}
    assert (await http.get(f"{PATH}/b", headers=ann)).json()["query"] == "y"


async def test_what_is_no_query_or_no_name_is_not_saved(http: httpx.AsyncClient) -> None:
    """A query for jobs is none for batches."""
    for name, query, code in (
        ("a", "state = runing", "API.INVALID_QUERY"), ("a", "(user = ada", "API.INVALID_QUERY"),
        ("a", "", "API.WRONG_TYPE"), ("a", "x" * 9000, "API.INVALID_QUERY"),
        ("a", " ", "API.INVALID_VALUE"),
        ("-a", "x", "API.INVALID_ID"), ("a" * 64, "x", "API.INVALID_ID"),
    ):  # fmt: skip
        assert code_of(await _save(http, name, query)) == code, (name, query[:20])
    assert (await http.get(PATH)).json()["items"] == []


async def test_list_of_batches_saves_its_query_and_shows_saved_ones(
    http: httpx.AsyncClient,
) -> None:
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
