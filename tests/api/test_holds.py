"""`POST …/hold`, `…/release`, `…/hide` and `…/unhide`."""

from typing import Any

import httpx

from api.live import LiveWorker, submit
from api.test_bad_input import assert_problem

DOCUMENT: dict[str, Any] = {
    "groups": [{"path": "/a/b"}, {"name": "pca"}],
    "jobs": [{"group": "/a/b"}, {"group": "/a", "groups": ["pca"]}, {}],
}


async def test_held_things_say_so_and_are_not_claimed(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    path = f"/v1/batches/{await submit(http, **DOCUMENT)}"
    places = ["", "/groups/%2Fa", "/groups/pca", "/jobs/1"]
    held = [(await http.post(f"{path}{place}/hold", json={})).json() for place in places]
    again = (await http.post(f"{path}/hold")).json()
    found = [(await http.get(path + place)).json()["held"] for place in places]
    claimed = await worker.claim()
    freed = [(await http.post(f"{path}{place}/release", json={})).json() for place in places]
    documents = [(await http.get(path + place)).json()["held"] for place in places]

    assert [(one.get("held"), one.get("was_held")) for one in held[:3]] == [(True, False)] * 3
    assert (held[3]["result"], again["was_held"]) == ("held", True)
    assert (found, claimed) == ([True] * 4, [])
    assert [one.get("held") for one in freed[:3]] == [False, False, False]
    assert (freed[3]["result"], documents) == ("released", [False] * 4)
    assert len(await worker.claim()) == 3


async def test_release_says_what_holds_it_still(http: httpx.AsyncClient) -> None:
    path = f"/v1/batches/{await submit(http, **DOCUMENT)}"
    for place in ("", "/groups/%2Fa", "/jobs/2"):
        await http.post(f"{path}{place}/hold", json={})
    group = (await http.post(f"{path}/groups/%2Fa/release", json={})).json()
    job = (await http.post(f"{path}/jobs/2/release", json={})).json()
    history = (await http.get(f"{path}/jobs/2/history")).json()["items"]

    assert (group["held"], group["was_held"], job["result"]) == (True, True, "held")
    assert [one["subtype"] for one in history][1:] == [
        "held",
        "held",
        "held",
        "released",
        "released",
    ]
    assert {one["actor"] for one in history} == {"user tester"}


async def test_what_is_not_there_cannot_be_held(http: httpx.AsyncClient) -> None:
    await submit(http, **DOCUMENT)
    for word in ("hold", "release"):
        for place in ("/99", "/1/groups/9", "/1/groups/%2Fz", "/1/jobs/9", "/x"):
            answer = await http.post(f"/v1/batches{place}/{word}", json={})
            assert answer.status_code == (400 if place == "/x" else 404), place
        wrong = await http.post(f"/v1/batches/1/{word}", json={"force": True})
        assert_problem(wrong, 400, "API.UNKNOWN_FIELD", "/force")


async def listed(http: httpx.AsyncClient, batch: int, parameters: str) -> bool:
    found = (await http.get(f"/v1/batches?{parameters}")).json()["items"]
    return any(one["id"] == batch for one in found)


async def test_hidden_batch_is_listed_on_request(http: httpx.AsyncClient) -> None:
    batch = (await http.post("/v1/batches", json={"jobs": [{}]})).json()["id"]
    path = f"/v1/batches/{batch}"
    query = f"q=batch_id%20%3D%20{batch}"
    answers = [(await http.post(f"{path}/{word}", json={})).json() for word in ("hide", "hide")]
    hidden = [await listed(http, batch, part) for part in ("", query)]
    shown = [await listed(http, batch, f"{part}&hidden=true") for part in ("limit=9", query)]
    document = (await http.get(path)).json()
    back = (await http.post(f"{path}/unhide", json={})).json()

    assert [(one["hidden"], one["was_hidden"]) for one in answers] == [(True, False), (True, True)]
    assert (hidden, shown, document["hidden"]) == ([False, False], [True, True], True)
    assert (back["hidden"], back["was_hidden"]) == (False, True)
    assert await listed(http, batch, "")
