"""Actions on many batches at once: they are counted first, and done to all or to none."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest

from api.live import LiveApi, LiveWorker
from api.test_trail import trail
from api.test_users import add
from weft.api.use_cases import bulk

COUNT, ACT = "/ui/batch-actions/count", "/ui/batch-actions"


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
    claimed = await worker.claim()
    await worker.start(claimed)
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
        form = {"b": _chosen(page), "action": action, "q": "x y"}
        done = await http.post(ACT, data=form)
        assert (done.status_code, done.headers["location"]) == (
            303, f"/ui/batches?q=x+y&done={action}+{n_batches}",
        )  # fmt: skip
        return await _read(http, every)

    assert [one["held"] for one in await press("hold", 2, 4)] == [False, True, True]
    assert not any(one["held"] for one in await press("release", 2, 4))
    await press("retry", 1, 2)
    operations = (await http.get("/v1/operations")).json()["items"]
    assert [(one["kind"], one["batch_id"]) for one in operations] == [("retry", failed)]
    assert [one["cancelled"] for one in await press("cancel", 2, 4)] == [False, True, True]
    entries = await trail(http, database)
    acts = [one["batch_id"] for one in entries if one["action"] == "press_batches"]
    assert sorted(acts) == sorted([first, second] * 3 + [failed])
    told = await http.get("/ui/batches", params={"done": "cancel 2"})
    assert "Done: <bdi>cancel 2</bdi> batches" in told.text


async def test_query_chooses_the_newest_up_to_the_limit(
    http: httpx.AsyncClient, api: LiveApi
) -> None:
    services = api.app.services
    services.settings = replace(services.settings, bulk_batches_max=2)
    ids = [await _submit(http, name=f"night {i}") for i in range(3)]
    other = await _submit(http, name="day")

    page = await http.post(COUNT, data={"q": "name =~ night", "all": "true", "action": "cancel"})
    assert "More than 2 batches match" in page.text
    assert _chosen(page) == [ids[2], ids[1]]
    few = await http.post(COUNT, data={"q": "name = day", "all": "true", "action": "cancel"})
    assert "More than" not in few.text
    assert _chosen(few) == [other]
    wrong = await http.post(COUNT, data={"q": "name ==", "all": "true", "action": "cancel"})
    assert (wrong.status_code, "API.INVALID_QUERY" in wrong.text) == (400, True)
    crowd = await http.post(ACT, data={"b": ids * 9, "action": "cancel"})
    assert crowd.status_code == 400
    assert not any(one["cancelled"] for one in await _read(http, [*ids, other]))


@pytest.mark.parametrize(
    "form",
    [
        {"action": "cancel"},
        {"b": "1", "action": "delete"},
        {"b": "1"},
        {"b": "-1x", "action": "hold"},
    ],
)
async def test_wrong_form_is_told(http: httpx.AsyncClient, form: Mapping[str, str]) -> None:
    for path in (COUNT, ACT):
        answer = await http.post(path, data=form)
        assert answer.status_code == 400, answer.text
        assert answer.headers["content-type"].startswith("text/html")


async def test_one_batch_of_others_and_nothing_is_changed(http: httpx.AsyncClient) -> None:
    ann, bob = await add(http, "ann"), await add(http, "bob")
    for name in ("ann", "bob"):
        await http.request("DELETE", f"/v1/billing-projects/default/members/{name}")
        await http.post("/v1/billing-projects", json={"name": name})
        await http.put(f"/v1/billing-projects/{name}/members/{name}")
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
    assert (await http.post(ACT, data=form, headers=bob)).status_code == 303
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
    for path in (COUNT, ACT):
        form = {"b": batch_id, "action": "cancel"}
        assert (await http.post(path, data=form, headers=viewer)).status_code == 403
    assert not (await _read(http, [batch_id]))[0]["cancelled"]


async def test_query_leaves_out_what_is_shared_only_to_be_read(http: httpx.AsyncClient) -> None:
    """Also where it is between batches that may be changed; nothing is said of it."""
    ann, bob = await add(http, "ann"), await add(http, "bob")
    for name in ("ann", "bob"):
        await http.request("DELETE", f"/v1/billing-projects/default/members/{name}")
        await http.post("/v1/billing-projects", json={"name": name})
        await http.put(f"/v1/billing-projects/{name}/members/{name}")
    mine = await _submit(http, bob, billing_project="bob")
    read, run, hidden = [await _submit(http, ann, billing_project="ann") for _ in range(3)]
    for batch, permission in ((read, "read"), (run, "execute")):
        shared = f"/v1/batches/{batch}/permissions/bob"
        await http.put(shared, json={"permission": permission}, headers=ann)
    last = await _submit(http, bob, billing_project="bob")

    seen = (await http.get("/v1/batches", headers=bob)).json()["items"]
    assert [one["id"] for one in seen] == [last, run, read, mine]
    every = await http.post(COUNT, data={"all": "true", "action": "cancel"}, headers=bob)
    assert _chosen(every) == [last, run, mine]
    assert "<p>6 jobs" in every.text
    done = await http.post(ACT, data={"b": _chosen(every), "action": "cancel"}, headers=bob)
    assert done.headers["location"].endswith("done=cancel+3")
    found = await _read(http, [mine, read, run, hidden, last])
    assert [one["cancelled"] for one in found] == [True, False, True, False, True]


async def test_retry_goes_on_past_a_batch_that_a_person_cancelled(
    http: httpx.AsyncClient, worker: LiveWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if they did so after the batches were counted."""
    ids = [await _submit(http) for _ in range(3)]
    claimed = await worker.claim()
    await worker.start(claimed)
    await worker.end(claimed[::2], exit_code=1)
    await http.post(f"/v1/batches/{ids[1]}/cancel", json={})
    form = {"b": ids, "action": "retry"}

    page = await http.post(COUNT, data=form)
    assert _chosen(page) == [ids[2], ids[0]]
    assert "1 more is left as it is" in page.text
    assert (await http.post(ACT, data=form)).headers["location"].endswith("done=retry+2")
    every = replace(bulk.KINDS["retry"], concerns=lambda _: 1)  # as if it were cancelled just now
    monkeypatch.setitem(bulk.KINDS, "retry", every)
    done = await http.post(ACT, data=form)
    assert (done.status_code, done.headers["location"][-7:]) == (303, "retry+2")
    operations = (await http.get("/v1/operations")).json()["items"]
    assert sorted(one["batch_id"] for one in operations) == sorted([ids[0], ids[2]] * 2)
