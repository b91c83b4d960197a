"""Actions on many batches: they are counted first, and done by an operation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from api.live import LiveApi, LiveWorker, add, leading, trail
from weft.driver.operations import advance_operation

COUNT, ACT, API = "/ui/batch-actions/count", "/ui/batch-actions", "/v1/batch-actions"
Database = Mapping[str, str]


async def _operate(database: Database) -> None:
    """Let a driver advance operations on many batches to their ends."""
    async with leading(database["weft_driver"]) as (store, epoch):
        while running := [
            one for one in await store.running_operations(epoch) if one.kind == "batch_action"
        ]:
            for operation in running:
                await advance_operation(store, epoch, operation)


async def _press(
    http: httpx.AsyncClient,
    database: Database,
    form: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
) -> Mapping[str, Any]:
    """Press the button, and return what was done."""
    begun = await http.post(ACT, data=form, headers=headers)
    assert begun.status_code == 303, begun.text
    place = begun.headers["location"]
    assert "running" in (await http.get(place, headers=headers)).text
    await _operate(database)
    assert "success" in (await http.get(place, headers=headers)).text
    found = (await http.get(place.replace("/ui/", "/v1/"), headers=headers)).json()
    assert found["state"] == "success"
    result: Mapping[str, Any] = found["result"]
    return result


async def _submit(
    http: httpx.AsyncClient, headers: Mapping[str, str] | None = None, **document: object
) -> int:
    document = {"jobs": [{"command": ["true"]}] * 2, **document}
    answer = await http.post("/v1/batches", json=document, headers=headers)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


async def _read(http: httpx.AsyncClient, ids: Sequence[int]) -> list[Mapping[str, Any]]:
    found = [(await http.get(f"/v1/batches/{one}")).json() for one in ids]
    return [{name: one[name] for name in ("held", "cancelled", "n_cancelled")} for one in found]


def _chosen(page: httpx.Response) -> list[int]:
    assert page.status_code == 200, page.text
    return [int(one) for one in re.findall(r'type="hidden" name="b" value="(\d+)"', page.text)]


async def test_action_is_counted_before_it_is_done(
    http: httpx.AsyncClient, worker: LiveWorker, database: dict[str, str]
) -> None:
    failed = await _submit(http)
    claimed = await worker.claim_and_start()
    await worker.end(claimed, exit_code=1)
    first, second = await _submit(http), await _submit(http)
    every = [failed, first, second]

    async def press(action: str, n_batches: int, n_jobs: int) -> list[Mapping[str, Any]]:
        before = await _read(http, every)
        page = await http.post(COUNT, data={"b": every, "action": action})
        plural = "batch" if n_batches == 1 else "batches"
        assert f"{action.capitalize()} {n_batches} {plural}?" in page.text
        assert f"<p>{n_jobs} " in page.text
        left = len(every) - n_batches
        assert f"{left} more {'is' if left == 1 else 'are'} left" in page.text
        assert await _read(http, every) == before
        done = await _press(http, database, {"b": _chosen(page), "action": action})
        assert (done["n_changed"], done["n_idle"], done["n_skipped"]) == (n_batches, 0, 0)
        return await _read(http, every)

    assert [one["held"] for one in await press("hold", 2, 4)] == [False, True, True]
    assert not any(one["held"] for one in await press("release", 2, 4))
    await press("retry", 1, 2)
    operations = (await http.get("/v1/operations")).json()["items"]
    assert [one["batch_id"] for one in operations if one["kind"] == "retry"] == [failed]
    assert [one["cancelled"] for one in await press("cancel", 2, 4)] == [False, True, True]
    entries = await trail(http, database)
    assert [one["batch_id"] for one in entries if one["action"] == "press_batches"] == [None] * 4
    acts = [one for one in entries if one["path"].startswith("/v1/operations/")]
    assert sorted(one["batch_id"] for one in acts) == sorted([first, second] * 3 + [failed])
    assert {(one["user"], one["address"], one["token_id"]) for one in acts} == {
        (entries[0]["user"], "127.0.0.1", entries[0]["token_id"])
    }
    assert {one["action"] for one in acts} == {
        "cancel_batch",
        "hold_batch",
        "release_batch",
        "retry_batch",
    }
    assert "Retry batches" in (await http.get("/ui/operations")).text


async def test_of_more_than_the_limit_all_are_changed_that_match(
    http: httpx.AsyncClient, api: LiveApi, database: Database
) -> None:
    services = api.app.services
    services.settings = replace(services.settings, bulk_batches_max=2)
    ids = [await _submit(http, name=f"night {i}") for i in range(3)]
    other = await _submit(http, name="day")

    page = await http.post(COUNT, data={"q": "name =~ night", "all": "true", "action": "cancel"})
    assert "More than 2 batches match" in page.text
    assert "Cancel 2+ batches?" in page.text
    assert (_chosen(page), 'name="all" value="true"' in page.text) == ([], True)
    counted = await http.get(API, params={"action": "cancel", "q": "name =~ night"})
    assert counted.json() == {
        "action": "cancel",
        "n_batches": 2,
        "n_jobs": 4,
        "n_idle": 0,
        "has_more": True,
    }
    few = await http.post(COUNT, data={"q": "name = day", "all": "true", "action": "cancel"})
    assert "More than" not in few.text
    assert _chosen(few) == [other]
    wrong = await http.post(COUNT, data={"q": "name ==", "all": "true", "action": "cancel"})
    assert (wrong.status_code, "API.INVALID_QUERY" in wrong.text) == (400, True)
    crowd = await http.post(ACT, data={"b": ids * 9, "action": "cancel"})
    assert crowd.status_code == 400
    crowd = await http.post(API, json={"batches": ids, "action": "cancel"})
    assert (crowd.status_code, crowd.json()["code"]) == (413, "API.TOO_LARGE")
    assert not any(one["cancelled"] for one in await _read(http, [*ids, other]))
    done = await _press(http, database, {"q": "name =~ night", "all": "true", "action": "cancel"})
    assert (done["n_changed"], done["query"]) == (3, "name =~ night")
    cancelled = [one["cancelled"] for one in await _read(http, [*ids, other])]
    assert cancelled == [True, True, True, False]


async def test_operation_is_begun_once_and_can_be_cancelled(
    http: httpx.AsyncClient, database: Database
) -> None:
    batch_id = await _submit(http)
    body, key = {"action": "hold", "query": "state = running"}, {"idempotency-key": "k"}
    begun, again = [await http.post(API, json=body, headers=key) for _ in range(2)]
    operation = begun.json()
    assert (begun.status_code, again.json()["id"]) == (202, operation["id"])
    assert (operation["kind"], operation["batch_id"]) == ("batch_action", None)
    for path in (f"/v1/operations/{operation['id']}", f"/ui/operations/{operation['id']}"):
        assert (await http.post(f"{path}/cancel")).status_code in {200, 303}
    await _operate(database)
    found = (await http.get(f"/v1/operations/{operation['id']}")).json()
    assert (found["state"], found["result"]["n_changed"]) == ("cancelled", 0)
    assert not (await _read(http, [batch_id]))[0]["held"]
    retry = (await http.post(f"/v1/batches/{batch_id}/retry", json={})).json()
    refused = await http.post(f"/v1/operations/{retry['id']}/cancel")
    assert (refused.status_code, refused.json()["code"]) == (
        409,
        "API.OPERATION_NOT_CANCELLABLE",
    )


async def test_wrong_document_begins_nothing(http: httpx.AsyncClient) -> None:
    for body, code in [
        ({"action": "hold"}, "API.INVALID_DOCUMENT"),
        ({"action": "hold", "query": "b1", "batches": [1]}, "API.INVALID_DOCUMENT"),
        ({"action": "delete", "query": ""}, "API.WRONG_TYPE"),
        ({"action": "hold", "batches": []}, "API.WRONG_TYPE"),
        ({"action": "hold", "batches": [99]}, "API.BATCH_NOT_FOUND"),
        ({"action": "hold", "query": "state == x"}, "API.INVALID_QUERY"),
    ]:
        answer = await http.post(API, json=body)
        assert answer.json()["code"] == code, answer.text
        wrong = await http.get(API, params={"action": "delete"})
        assert wrong.status_code == 400
        assert (await http.get("/v1/operations")).json()["items"] == []


async def test_wrong_form_is_told(http: httpx.AsyncClient) -> None:
    for form in [
        {"action": "cancel"},
        {"b": "1", "action": "delete"},
        {"b": "1"},
        {"b": "-1x", "action": "hold"},
    ]:
        for path in (COUNT, ACT):
            answer = await http.post(path, data=form)
            assert answer.status_code == 400, answer.text
            assert answer.headers["content-type"].startswith("text/html")


async def _apart(http: httpx.AsyncClient) -> Sequence[Mapping[str, str]]:
    """Add ann and bob, each with a project of their own."""
    found = [await add(http, name) for name in ("ann", "bob")]
    for name in ("ann", "bob"):
        await http.request("DELETE", f"/v1/billing-projects/default/members/{name}")
        await http.post("/v1/billing-projects", json={"name": name})
        await http.put(f"/v1/billing-projects/{name}/members/{name}")
    return found


async def test_one_batch_of_others_and_nothing_is_changed(
    http: httpx.AsyncClient, database: Database
) -> None:
    ann, bob = await _apart(http)
    mine = await _submit(http, bob, billing_project="bob")
    hers = await _submit(http, ann, billing_project="ann")
    last = await _submit(http, bob, billing_project="bob")  # hers is neither first nor last

    for path in (COUNT, ACT):
        for action in ("cancel", "hold", "release", "retry"):
            form = {"b": [mine, hers, last], "action": action}
            refused = await http.post(path, data=form, headers=bob)
            assert (refused.status_code, "API.BATCH_NOT_FOUND" in refused.text) == (404, True)
    every = await http.post(COUNT, data={"all": "true", "action": "cancel"}, headers=bob)
    assert _chosen(every) == [last, mine]
    shared = f"/v1/batches/{hers}/permissions/bob"
    assert (await http.put(shared, json={"permission": "read"}, headers=ann)).status_code < 300
    form = {"b": [mine, hers, last], "action": "cancel"}
    assert (await http.post(ACT, data=form, headers=bob)).status_code == 403
    found = await _read(http, [mine, hers, last])
    assert [(one["held"], one["cancelled"]) for one in found] == [(False, False)] * 3
    assert (await http.put(shared, json={"permission": "execute"}, headers=ann)).status_code < 300
    assert (await _press(http, database, form, bob))["n_changed"] == len([mine, hers, last])
    assert all(one["cancelled"] for one in await _read(http, [mine, hers, last]))


async def test_viewer_has_no_buttons_and_is_refused(http: httpx.AsyncClient) -> None:
    batch_id = await _submit(http)
    made = await http.post("/v1/tokens", json={"name": "looks", "scopes": ["read"]})
    viewer = {"authorization": f"Bearer {made.json()['token']}"}

    assert 'name="b"' in (await http.get("/ui/batches")).text
    page = await http.get("/ui/batches", headers=viewer)
    assert f"/ui/batches/{batch_id}" in page.text
    assert "<button name=" not in page.text
    assert 'name="b"' not in page.text
    form: dict[str, Any] = {"b": batch_id, "action": "cancel"}
    for path in (COUNT, ACT):
        assert (await http.post(path, data=form, headers=viewer)).status_code == 403
    body = {"batches": [batch_id], "action": "cancel"}
    assert (await http.post(API, json=body, headers=viewer)).status_code == 403
    operation = (await http.post(API, json=body)).json()["id"]
    assert "Cancel the rest" in (await http.get(f"/ui/operations/{operation}")).text
    shown = await http.get(f"/ui/operations/{operation}", headers=viewer)
    assert (shown.status_code, "Cancel the rest" in shown.text) == (200, False)
    refused = await http.post(f"/v1/operations/{operation}/cancel", headers=viewer)
    assert refused.status_code == 403
    assert not (await _read(http, [batch_id]))[0]["cancelled"]


async def test_what_is_shared_only_to_be_read_is_not_counted_and_is_skipped(
    http: httpx.AsyncClient, database: Database
) -> None:
    """Also where it is between batches that may be changed."""
    ann, bob = await _apart(http)
    mine = await _submit(http, bob, billing_project="bob")
    read, run, hidden = [await _submit(http, ann, billing_project="ann") for _ in range(3)]
    for batch, permission in ((read, "read"), (run, "execute")):
        shared = f"/v1/batches/{batch}/permissions/bob"
        await http.put(shared, json={"permission": permission}, headers=ann)
    last = await _submit(http, bob, billing_project="bob")

    seen = (await http.get("/v1/batches", headers=bob)).json()["items"]
    assert [one["id"] for one in seen] == [last, run, read, mine]
    for batch, may in ((mine, True), (read, False), (run, True)):
        for path in (f"/ui/batches/{batch}", f"/ui/batches/{batch}/jobs/1"):
            page = await http.get(path, headers=bob)
            assert (f'action="{path}/cancel"' in page.text) is may
    every = await http.post(COUNT, data={"all": "true", "action": "cancel"}, headers=bob)
    assert _chosen(every) == [last, run, mine]
    assert "<p>6 jobs" in every.text
    done = await _press(http, database, {"all": "true", "action": "cancel"}, bob)
    assert (done["n_changed"], done["skipped"]) == (3, {"API.PERMISSION_MISSING": 1})
    found = await _read(http, [mine, read, run, hidden, last])
    assert [one["cancelled"] for one in found] == [True, False, True, False, True]


async def test_retry_goes_on_past_a_batch_that_a_person_cancelled(
    http: httpx.AsyncClient, worker: LiveWorker, database: Database
) -> None:
    """Also if they did so after the batches were counted."""
    ids = [await _submit(http) for _ in range(3)]
    claimed = await worker.claim_and_start()
    await worker.end(claimed[::2], exit_code=1)
    form = {"b": ids, "action": "retry"}
    assert _chosen(await http.post(COUNT, data=form)) == ids[::-1]
    await http.post(f"/v1/batches/{ids[1]}/cancel", json={})

    page = await http.post(COUNT, data=form)
    assert _chosen(page) == [ids[2], ids[0]]
    assert "1 more is left as it is" in page.text
    done = await _press(http, database, form)
    assert (done["n_changed"], done["n_idle"], done["n_skipped"]) == (2, 1, 0)
    operations = (await http.get("/v1/operations")).json()["items"]
    retries = [one["batch_id"] for one in operations if one["kind"] == "retry"]
    assert sorted(retries) == [ids[0], ids[2]]
