"""What those see with whom one job was shared: the job, and nothing else of its batch."""

import asyncio
import contextlib
from collections.abc import Mapping

import httpx
import pytest

from api.live import DEADLINE_S, EventReader, LiveApi, LiveWorker
from api.problems import code_of
from api.test_visibility import NOBODY, ann, ask, batch_routes, needed, problem, stranger, submit
from weft import Client as WaitingClient
from weft.aio import Client
from weft.api.use_cases import follow, watch
from weft.cli.app import run_command
from weft.core.access.rights import Permission

__all__ = ["ann", "stranger"]
Header = Mapping[str, str]
NOT_OF_THE_JOB = {f"POST /ui/batches/{{b}}/jobs/{{j}}/{what}" for what in ("resubmit", "retry")}
"""They are about the batch: what was cancelled because of it runs again; a new one is made."""


def of_jobs(api: LiveApi) -> set[tuple[str, str]]:
    """Return the routes that are about one job."""
    return {
        (method, route)
        for method, route in batch_routes(api)
        if "/jobs/{j}" in route and f"{method} {route}" not in NOT_OF_THE_JOB
    }


@pytest.mark.heavy
@pytest.mark.parametrize("permission", list(Permission))
async def test_grantee_of_a_job_sees_the_job_and_nothing_else(
    api: LiveApi,
    http: httpx.AsyncClient,
    ann: Header,
    stranger: Header,
    worker: LiveWorker,
    permission: Permission,
) -> None:
    """Walk the application's own routes, with the job, with another one, and about the batch."""
    batch = await submit(http, ann, jobs=[{"command": ["true"]}] * 3)
    await worker.start(await worker.claim(1))
    path = f"/v1/batches/{batch}/jobs/1/permissions/bob"
    await http.put(path, json={"permission": permission.word}, headers=ann)
    await http.put(path.replace("jobs/1", "jobs/3"), json={"permission": "read"}, headers=ann)
    wrong: dict[tuple[str, ...], object] = {}
    for method, route in sorted(batch_routes(api), key=lambda one: one[0] != "GET"):
        hidden = await ask(http, stranger, method, route, batch, job=2)
        missing = await ask(http, stranger, method, route, NOBODY, job=2)
        if problem(hidden, batch) != problem(missing, NOBODY) or hidden.status_code != 404:
            wrong[method, route, "other"] = (hidden.status_code, hidden.text, missing.text)
        if (method, route) in of_jobs(api):
            answer = await ask(http, stranger, method, route, batch)
            code = code_of(answer)
            refused = (answer.status_code, code) == (403, "API.PERMISSION_MISSING")
            if refused is (needed(method, route) <= permission) or code == "API.BATCH_NOT_FOUND":
                wrong[method, route] = (answer.status_code, code)
    lists = {
        one: (await http.get(one, headers=stranger)).json()["items"]
        for one in ("/v1/batches", "/v1/batches?q=all", "/v1/operations", "/v1/dead-letters")
    }
    overview = (await http.get("/v1/overview", headers=stranger)).json()

    assert len(of_jobs(api)) > 20
    assert wrong == {}
    assert set(map(len, lists.values())) == {0}
    assert [overview[name] for name in ("pending", "ready", "running")] == [0, 0, 0]


async def test_results_and_outputs_of_granted_jobs_alone(
    http: httpx.AsyncClient, ann: Header, stranger: Header, worker: LiveWorker
) -> None:
    batch = await submit(http, ann, jobs=[{"command": ["true"]}] * 3)
    for claimed in await worker.claim(3):
        await worker.start([claimed])
    path = f"/v1/batches/{batch}"
    for job in (1, 3):
        share = f"{path}/jobs/{job}/permissions/bob"
        await http.put(share, json={"permission": "read"}, headers=ann)
    statuses = {
        query: (await http.get(f"{path}/{query}", headers=stranger)).status_code
        for query in (
            "results?jobs=1,3",
            "results?jobs=1-3",
            "results",
            "outputs?first=3&last=3",
            "outputs",
        )
    }

    assert list(statuses.values()) == [200, 404, 404, 200, 404]


async def test_events_name_granted_jobs_alone(
    api: LiveApi, http: httpx.AsyncClient, ann: Header, stranger: Header, worker: LiveWorker
) -> None:
    batch = await submit(http, ann, jobs=[{"command": ["true"]}] * 3)
    path = f"/v1/batches/{batch}"
    shares = [f"{path}/jobs/{job}/permissions/bob" for job in (2, 3)]
    for share in shares:
        await http.put(share, json={"permission": "read"}, headers=ann)
    since = await api.store.events_now()
    await worker.claim(3)
    await http.post(f"{path}/hold", json={}, headers=ann)
    for job in (1, 2, 3):
        await http.post(f"{path}/jobs/{job}/cancel", json={}, headers=ann)
    await http.request("DELETE", shares[-1], json={}, headers=ann)
    bob, owner = [
        await api.store.authenticate(one["authorization"].removeprefix("Bearer "))
        for one in (stranger, ann)
    ]
    assert bob is not None
    assert owner is not None
    seen = {
        caller.user_name: [
            (row["kind"], *row["jobs"], *(row["groups"] or ()))
            for row in (
                await api.store.list_events(caller, after=since, batch_id=batch, limit=100)
            )[0]
        ]
        for caller in (bob, owner)
    }

    assert ("batch.held", 0) in seen["ann"]
    assert ("jobs.unshared", 3) in seen["ann"]
    assert ("jobs.running", 1, 2, 3) in seen["ann"]
    assert seen["bob"] == [(one[0], 2) for one in seen["ann"] if 2 in one[1:]]


async def test_output_of_a_granted_job_is_followed_to_its_end(
    http: httpx.AsyncClient,
    ann: Header,
    stranger: Header,
    worker: LiveWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An event tells of the end, not a look after a while; and the stream ends with the grant."""
    for module in (watch, follow):
        monkeypatch.setattr(module, "QUIET_S", 3600.0)
    batch = await submit(http, ann, jobs=[{"command": ["true"]}] * 2)
    claimed = await worker.claim_and_start(2)
    for one in claimed:
        worker.write(one, (1, b"first\n"))
    ends = []
    for job in (1, 2):
        path = f"/v1/batches/{batch}/jobs/{job}"
        await http.put(f"{path}/permissions/bob", json={"permission": "read"}, headers=ann)
        async with (
            asyncio.timeout(DEADLINE_S),
            http.stream("GET", f"{path}/log?follow=true", headers=stranger) as answer,
        ):
            reader = EventReader(answer)
            await reader.next()
            if job == 1:
                await worker.end(claimed[:1])
            else:
                await http.request("DELETE", f"{path}/permissions/bob", headers=ann)
            with contextlib.suppress(StopAsyncIteration):
                ends.append((await reader.next())[1])

    assert ends == ["end"]


async def test_clients_and_the_command_line_share_one_job(
    api: LiveApi,
    http: httpx.AsyncClient,
    ann: Header,
    stranger: Header,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    batch = await submit(http, ann, jobs=[{"command": ["true"], "name": "sum"}] * 3)
    token = ann["authorization"].removeprefix("Bearer ")

    def share_all() -> None:
        with WaitingClient(url=api.url, token=token) as client:
            for job in (1, 2):
                client.get_batch(batch).get_job(job).share("bob", "execute")

    async def told(token: str, *words: str) -> tuple[int, str]:
        monkeypatch.setenv("WEFT_URL", api.url)
        monkeypatch.setenv("WEFT_TOKEN", token)
        code = await asyncio.to_thread(run_command, list(words))
        said = capsys.readouterr()
        return code, " ".join((said.out + said.err).split())

    await asyncio.to_thread(share_all)
    own = stranger["authorization"].removeprefix("Bearer ")
    async with Client(url=api.url, token=own) as client:
        listed = [one async for one in client.list_shared_jobs()]
    pages = [(await http.get("/v1/shared-jobs?limit=1", headers=stranger)).json()]
    while (cursor := pages[-1]["cursor"]) is not None:
        path = f"/v1/shared-jobs?limit=1&cursor={cursor}"
        pages.append((await http.get(path, headers=stranger)).json())
    job = f"b{batch}.j1"
    said = [
        await told(token, "share", job, "--with", "bob", "--may", "write"),
        await told(token, "share", job),
        await told(own, "share"),
        await told(own, "why", job),
        await told(own, "hold", job),
        await told(own, "cancel", f"b{batch}"),
        await told(token, "unshare", job, "--with", "bob"),
        await told(own, "status", job),
        await told(own, "share", "--with", "bob"),
    ]
    wrong = await http.get("/v1/shared-jobs?cursor=eDpiMS5qMQ==", headers=stranger)
    history = (await http.get(f"/v1/batches/{batch}/jobs/1/history", headers=ann)).json()

    assert [(one["job_id"], one["name"], one["permission"]) for one in listed] == [
        (2, "sum", "execute"),
        (1, "sum", "execute"),
    ]
    assert [one for page in pages for one in page["items"]] == listed
    assert [code for code, _ in said] == [0, 0, 0, 0, 0, 2, 0, 2, 2], said
    assert f"bob may see and change {job}" in said[0][1]
    assert "User May Since By bob write" in said[1][1]
    assert f"{job} sum ready ann write" in said[2][1]
    assert f"{job} is not shared with bob" in said[6][1]
    assert wrong.status_code == 400
    told_of = [(one["actor"], one["subtype"], one["message"]) for one in history["items"]]
    assert [one for one in told_of if one[1] in {"shared", "unshared"}] == [
        ("user ann", "shared", "bob: execute"),
        ("user ann", "shared", "bob: write"),
        ("user ann", "unshared", "bob"),
    ]


async def test_page_of_a_granted_job_leads_to_nothing_else(
    http: httpx.AsyncClient, ann: Header, stranger: Header
) -> None:
    batch = await submit(
        http, ann, jobs=[{"command": ["true"]}, {"command": ["false"], "parents": [1]}]
    )
    path = f"/ui/batches/{batch}/jobs/2"
    await http.put(
        f"/v1/batches/{batch}/jobs/2/permissions/bob", json={"permission": "read"}, headers=ann
    )
    hers, his = [
        [(await http.get(f"{path}{end}", headers=one)).text for end in ("", "/log")]
        for one in (ann, stranger)
    ]

    for text in hers:
        assert f'href="/ui/batches/{batch}"' in text
    assert f"/ui/batches/{batch}/jobs/1" in hers[0]
    for text in his:
        assert f'href="/ui/batches/{batch}"' not in text
        assert f"/ui/batches/{batch}/jobs/1" not in text
        assert f"b{batch}" in text
