"""Streams that are open end when their user may no longer read them, and each may have some."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx
import pytest

from api.field_walk import reads_of
from api.live import DEADLINE_S, Dsns, LiveApi, LiveWorker, add, make_user
from contexts import beside
from weft.api.http.open_requests import LARGE_BYTES, OpenRequests
from weft.api.http.routing import Message
from weft.api.use_cases import follow, watch
from weft.ports.store import Caller, WorkTerms

SETTINGS = {"tenant_requests_max": 8}
Cause = Callable[[httpx.AsyncClient, Mapping[str, str]], Awaitable[httpx.Response]]


def asked(method: str, path: str, document: object = None) -> Cause:
    return lambda http, _: http.request(method, path, json=document)


async def revoked(http: httpx.AsyncClient, bob: Mapping[str, str]) -> httpx.Response:
    (token,) = (await http.get("/v1/tokens", headers=bob)).json()["items"]
    return await http.request("DELETE", f"/v1/tokens/{token['token_id']}", headers=bob)


CAUSES = {
    "removed": asked("DELETE", "/v1/users/bob"),
    "another role": asked("PATCH", "/v1/users/bob", {"role": "worker"}),
    "revoked": revoked,
    "out of the project": asked("DELETE", "/v1/billing-projects/default/members/bob"),
}


@pytest.fixture(autouse=True)
def quiet_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream does not look again by itself."""
    for module in (watch, follow):
        monkeypatch.setattr(module, "QUIET_S", 3600.0)


@pytest.fixture
async def bob(http: httpx.AsyncClient) -> Mapping[str, str]:
    return await add(http, "bob")


@pytest.fixture
async def running(http: httpx.AsyncClient, worker: LiveWorker) -> int:
    made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
    claimed = await worker.claim_and_start(1)
    worker.write(claimed[0], (1, b"first\n"))
    return int(made.json()["id"])


@contextlib.asynccontextmanager
async def stream(
    http: httpx.AsyncClient, path: str, header: Mapping[str, str]
) -> AsyncIterator[asyncio.Task[str]]:
    """Read a stream beside the test until it ends; it has begun when this returns."""
    begun = asyncio.Event()

    async def read() -> str:
        text = ""
        async with http.stream("GET", path, headers=header) as answer:
            assert answer.status_code == 200, await answer.aread()
            async for chunk in answer.aiter_text():
                text += chunk
                begun.set()
        return text

    async with beside(read()) as task:
        async with asyncio.timeout(DEADLINE_S):
            await begun.wait()
        yield task


@pytest.mark.parametrize("cause", CAUSES.values(), ids=CAUSES)
async def test_open_streams_end(
    http: httpx.AsyncClient, bob: Mapping[str, str], running: int, cause: Cause
) -> None:
    log = f"/v1/batches/{running}/jobs/1/log?follow=true"
    async with (
        stream(http, "/v1/events", bob) as events,
        stream(http, f"/v1/events?batch={running}", bob) as of_batch,
        stream(http, log, bob) as output,
        stream(http, "/v1/events", {}) as of_another,
    ):
        answer = await cause(http, bob)
        async with asyncio.timeout(DEADLINE_S):
            texts = [await one for one in (events, of_batch, output)]

        assert answer.status_code == 200, answer.text
        assert "event: end" not in texts[2]
        assert not of_another.done()


async def test_stream_ends_with_its_token(http: httpx.AsyncClient, bob: Mapping[str, str]) -> None:
    made = await http.post("/v1/tokens", json={"name": "short", "valid_s": 1}, headers=bob)
    short = {"authorization": f"Bearer {made.json()['token']}"}
    async with stream(http, "/v1/events", short) as events, asyncio.timeout(DEADLINE_S):
        await events

    assert (await http.get("/v1/events", headers=short)).status_code == 401


async def test_stream_that_begins_after_the_notice_ends_at_once(
    api: LiveApi, http: httpx.AsyncClient, bob: Mapping[str, str]
) -> None:
    """The request was let in before, and has taken its time."""
    batch = (await http.post("/v1/batches", json={})).json()["id"]
    services = api.app.services
    asked, told = asyncio.Event(), asyncio.Event()
    sees_batch = services.store.sees_batch

    async def slow(*arguments: object) -> object:
        asked.set()
        await told.wait()
        return await sees_batch(*arguments)  # type: ignore[arg-type]  # passed on

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(services.store, "sees_batch", slow)
        reading = asyncio.create_task(http.get(f"/v1/events?batch={batch}", headers=bob))
        await asked.wait()
        await revoked(http, bob)
        async with asyncio.timeout(DEADLINE_S):
            while (await http.get("/v1/batches", headers=bob)).status_code != 401:
                await asyncio.sleep(0)
            told.set()
            answer = await reading

    assert answer.status_code == 200
    assert "event:" not in answer.text


async def test_streams_of_a_user_read_older_events_in_turn(
    api: LiveApi, http: httpx.AsyncClient, bob: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of another user do not wait for them."""
    store, ann, ann_reads = api.app.services.store, await add(http, "ann"), asyncio.Event()
    since = "{}-{}".format(*await store.events_now())
    list_events, reading, read = store.list_events, Counter[str](), list[tuple[str, int]]()

    async def counted(caller: Caller, *, limit: int, **asked: Any) -> object:  # noqa: ANN401 (passed on)
        name, is_older = caller.user_name, limit == watch.CATCH_UP_ROWS  # else the feed reads
        reading[name] += is_older
        read.extend([(name, reading[name])] * is_older)
        if is_older and name == "ann":
            ann_reads.set()
        elif is_older:
            await ann_reads.wait()
        found = await list_events(caller, limit=limit, **asked)
        reading[name] -= is_older
        return found

    monkeypatch.setattr(store, "list_events", counted)
    async with contextlib.AsyncExitStack() as streams, asyncio.timeout(DEADLINE_S):
        for user in (bob, bob, bob, ann):
            await http.post("/v1/batches", json={}, headers=user)
            path = f"/v1/events?since={since}"
            _ = await streams.enter_async_context(stream(http, path, user))
        while len(read) < 4:
            await asyncio.sleep(0)

    assert set(read) == {("ann", 1), ("bob", 1)}


async def test_what_users_and_tenants_keep_open_is_bounded(
    api: LiveApi, http: httpx.AsyncClient, bob: Mapping[str, str], running: int, database: Dsns
) -> None:
    await make_user(database["admin"], tenant="other", user="oda", token="oda's")
    who, log = "/v1/whoami", f"/v1/batches/{running}/jobs/1/log?follow=true"
    reads = [path for path in reads_of(api.app) if path.startswith("/v1/")]
    others = [{}, {"authorization": "Bearer oda's"}, await add(http, "ann")]  # the first manages
    async with contextlib.AsyncExitStack() as until_closed, asyncio.timeout(DEADLINE_S):
        for user, served in ((bob, [200] * 3), (await add(http, "eve"), [200, 200, 429])):
            for path in ("/v1/events", f"/v1/events?batch={running}", "/ui/events", log):
                _ = await until_closed.enter_async_context(stream(http, path, user))
            refused = [await http.get(path, headers=user) for path in reads]

            told = {(one.status_code, one.headers["retry-after"]) for one in refused}
            assert told == {(429, "1")}
            assert [(await http.get(who, headers=one)).status_code for one in others] == served


async def test_large_pieces_of_a_tenant_take_turns() -> None:
    """A thousand readers of one tenant keep the event loop from others no longer than one does."""
    requests, sent = OpenRequests(100), list[tuple[int, int]]()

    async def write(tenant_id: int, n_bytes: int, work: WorkTerms | None = None) -> None:
        async def send(message: Message) -> None:
            sent.append((tenant_id, len(message["body"])))

        with requests.counted(Caller(tenant_id, 1, "ann", work=work), send) as send_in_turn:
            await send_in_turn({"type": "http.response.body", "body": bytes(n_bytes)})

    large = LARGE_BYTES + 1
    others = [(2, large), (1, 1), (1, large + 1, WorkTerms("p", "*"))]
    await asyncio.gather(*(write(*one) for one in [(1, large)] * 9 + others))
    assert sent[:4] == [(1, 1), (1, large + 1), (1, large), (2, large)]
