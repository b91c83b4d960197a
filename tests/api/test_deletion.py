"""`DELETE /v1/batches/{b}`: from the answer on there is no such batch, on no route."""

from httpx import AsyncClient

from api.live import LiveWorker, submit
from api.test_answers import DOCUMENT
from benches.route_bodies import QUERIES, document_of


async def test_deleted_batch_is_found_on_no_route(http: AsyncClient, worker: LiveWorker) -> None:
    b = await submit(http, **DOCUMENT)
    assert (await http.post(f"/v1/batches/{b}/updates", json={"n_jobs": 1})).status_code == 201
    await worker.claim_and_start(1)
    paths = (await http.get("/openapi.json")).json()["paths"]
    accepted = await http.delete(f"/v1/batches/{b}")
    answers = {}
    for route, operations in paths.items():
        for method in operations if "{b}" in route else ():
            name = f"{method.upper()} {route}"
            answer = await http.request(
                method,
                route.format(
                    b=b, j=1, g=1, u=2, stream="stdout", a=1, d=1, s="0" * 64, n=1, user="ann"
                ),
                params=QUERIES.get(name),
                json=None if method == "get" else document_of(name),
            )
            answers[method, route] = (answer.status_code, answer.json().get("code"))
    by_query = [
        await http.get(f"/v1/batches/{b}/jobs?q=pca"),
        await http.post(f"/v1/batches/{b}/groups?q=pca", json={}),
        await http.get(f"/v1/events?batch={b}"),
    ]
    found = [
        (await http.get(path)).json()["items"]
        for path in ("/v1/batches", "/v1/batches?q=all", "/v1/batches?name=all%20kinds")
    ]

    assert (accepted.status_code, accepted.json()["kind"]) == (202, "delete_batch")
    assert len(answers) > 25
    assert {key: one for key, one in answers.items() if one != (404, "API.BATCH_NOT_FOUND")} == {}
    assert {answer.status_code for answer in by_query} == {404}
    assert found == [[], [], []]
    operation = (await http.get(f"/v1/operations/{accepted.json()['id']}")).json()
    listed = (await http.get(f"/v1/operations?batch={b}")).json()["items"]
    assert (operation["state"], operation["total"], operation["batch_id"]) == ("running", 8, b)
    assert listed == [operation]


async def test_repeat_with_the_key_is_the_same_request(http: AsyncClient) -> None:
    b, other = await submit(http, **DOCUMENT), await submit(http, **DOCUMENT)
    keyed = {"idempotency-key": "k"}
    first, again, second = [
        await http.delete(f"/v1/batches/{one}", headers=keyed) for one in (b, b, other)
    ]
    unkeyed = await http.delete(f"/v1/batches/{b}")

    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["id"] == again.json()["id"]
    assert (second.status_code, second.json()["code"]) == (409, "API.IDEMPOTENCY_CONFLICT")
    assert unkeyed.status_code == 404


async def test_delete_takes_no_fields(http: AsyncClient) -> None:
    b = await submit(http, **DOCUMENT)
    wrong = await http.request("DELETE", f"/v1/batches/{b}", json={"force": True})

    assert (wrong.status_code, wrong.json()["code"]) == (400, "API.UNKNOWN_FIELD")
    assert (await http.get(f"/v1/batches/{b}")).status_code == 200
