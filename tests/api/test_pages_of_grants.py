"""Pages for those who see batches of others: a form stands only where it would work."""

import re

import httpx
import pytest

from api.live import LiveWorker, add, submit

MEMBERS = {"ann": ("ann", "vic"), "bob": ("bob",)}
"""Of billing projects; vic only looks."""


@pytest.fixture
async def users(http: httpx.AsyncClient) -> dict[str, dict[str, str]]:
    """Give ann and bob, who share no project, and vic."""
    roles = {"ann": "user", "bob": "user", "vic": "viewer"}
    found = {name: await add(http, name, role=role) for name, role in roles.items()}
    for name in found:
        await http.request("DELETE", f"/v1/billing-projects/default/members/{name}")
    for project, members in MEMBERS.items():
        await http.post("/v1/billing-projects", json={"name": project})
        for name in members:
            await http.put(f"/v1/billing-projects/{project}/members/{name}")
    return found


async def test_buttons_of_lists_follow_grants(
    http: httpx.AsyncClient, users: dict[str, dict[str, str]], worker: LiveWorker
) -> None:
    """Of failed jobs, and ticks of batches: own, granted and those that are granted to be read."""
    ann, bob = users["ann"], users["bob"]
    batches = {}
    for permission in ("read", "execute", "write"):
        batches[permission] = await submit(http, ann, billing_project="ann")
        path = f"/v1/batches/{batches[permission]}/permissions/bob"
        await http.put(path, json={"permission": permission}, headers=ann)
    hidden = await submit(http, ann, billing_project="ann")
    batches["own"] = await submit(http, bob, billing_project="bob")
    jobs = await worker.claim_and_start()
    for one in jobs:
        await worker.end([one], exit_code=1)

    async def offered(headers: dict[str, str]) -> tuple[set[int], set[int], set[int]]:
        """Return which failed jobs are listed, which have a button, and the ticks."""
        incidents = (await http.get("/ui/incidents", headers=headers)).text
        listed = (await http.get("/ui/batches", headers=headers)).text
        found = (
            re.findall(r'href="/ui/batches/(\d+)/jobs/1"', incidents),
            re.findall(r'action="/ui/batches/(\d+)/jobs/1/retry"', incidents),
            re.findall(r'name="b" value="(\d+)"', listed),
        )
        seen, buttons, ticks = (set(map(int, one)) for one in found)
        return seen, buttons, ticks

    everything = {hidden, *batches.values()}
    mine = {batches[name] for name in ("execute", "write", "own")}
    assert await offered(bob) == (set(batches.values()), mine, mine)
    hers = everything - {batches["own"]}
    assert await offered(ann) == (hers, hers, hers)
    assert await offered({}) == (everything, everything, everything)
    assert await offered(users["vic"]) == (hers, set(), set())
    for batch in hers:
        refused = await http.post(f"/ui/batches/{batch}/jobs/1/retry", headers=users["vic"])
        assert refused.status_code == 403
    for name, batch in (*batches.items(), ("hidden", hidden)):
        answer = await http.post(f"/ui/batches/{batch}/jobs/1/retry", headers=bob)
        assert answer.status_code == {"read": 403, "hidden": 404}.get(name, 303), name


async def test_list_of_what_one_may_only_read_has_no_form(
    http: httpx.AsyncClient, users: dict[str, dict[str, str]]
) -> None:
    batch = await submit(http, users["ann"], billing_project="ann")
    path = f"/v1/batches/{batch}/permissions/bob"
    for permission, may in (("read", False), ("execute", True)):
        await http.put(path, json={"permission": permission}, headers=users["ann"])
        page = (await http.get("/ui/batches", headers=users["bob"])).text
        assert f"/ui/batches/{batch}" in page
        assert ('action="/ui/batch-actions/count"' in page) is may
        assert ("Ticked" in page) is may


async def test_list_goes_on_after_what_one_may_only_read(
    http: httpx.AsyncClient, users: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The form for all batches stands on every page of several."""
    monkeypatch.setattr("weft_pages.batches.BATCHES", 1)
    owners = ("ann", "bob", "ann")
    batches = [await submit(http, users[one], billing_project=one) for one in owners]
    for batch in batches[::2]:
        path = f"/v1/batches/{batch}/permissions/bob"
        await http.put(path, json={"permission": "read"}, headers=users["ann"])
    page, forms = "/ui/batches", []
    for batch in reversed(batches):
        text = (await http.get(page, headers=users["bob"])).text
        assert f"/ui/batches/{batch}" in text
        forms.append(('action="/ui/batch-actions/count"' in text, "Ticked" in text))
        (page,) = re.findall(r'rel="next" href="([^"]+)"', text)

    assert forms == [(True, False), (True, True), (True, False)]
