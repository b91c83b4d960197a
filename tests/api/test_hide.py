"""`POST /v1/batches/{b}/hide` and `…/unhide`."""

import httpx


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
