"""Workers outside: what is seen of them, which transactions they share, and the files of a running
job, of which one is asked.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import msgspec
import pytest

from api.live import LiveApi, as_admin
from api.test_worker_link import Outside, facts, outside
from builders import end_report, key_of, request, start_report
from weft import __version__
from weft.core.errors import LinkFrameRefused, LinkRefused, WeftError
from weft.core.findings import judge
from weft.core.states import AttemptKey
from weft.ports.running_files import RunningFile
from weft.ports.store import Claimed, Registered, WorkerStore
from weft.ports.worker_link import LOG_BYTES_MAX, LOOKED_MAX, LinkFacts, Look, Seen
from weft.store import open_admin, open_worker_store
from weft.store.contract import OlderProgramsConnected
from weft_link.serving import looking, shared_transactions
from weft_link.worker.calls import LinkCaller, LinkFinder


async def test_metrics_show_what_a_linked_worker_says(outside: Outside) -> None:
    caller = outside.caller(await outside.token())
    caller.facts = lambda delay_ms: LinkFacts(delay_ms, 7, 9)
    worker = outside.store(caller)
    known = await worker.register_worker(**facts())
    for _ in range(2):
        assert (await worker.heartbeat(known.incarnation_id, [], draining=False)).alive

    page = (await outside.http.get("/metrics")).text

    assert 'weft_link_unshipped_bytes{pool="default",role="api",worker="node1"} 7.0' in page
    assert 'weft_link_input_cache_bytes{pool="default",role="api",worker="node1"} 9.0' in page
    (delay,) = [one for one in page.splitlines() if one.startswith("weft_link_delay_seconds{")]
    assert 0 < float(delay.rpartition(" ")[2]) < 60
    seen = [
        *(await outside.http.get("/v1/workers")).json()["items"],
        *(await outside.http.get("/v1/overview")).json()["workers"],
        (await outside.http.get("/v1/workers/node1")).json(),
    ]
    for one in seen:
        assert (one["link"]["unshipped_bytes"], one["link"]["input_cache_bytes"]) == (7, 9)
        assert one["link"]["delay_ms"] > 0
    for wrong in (LinkFacts(float("nan"), 7, 9), LinkFacts(-1.0, 7, 9), LinkFacts(1.0, -7, 9)):
        caller.facts = lambda _, wrong=wrong: wrong  # type: ignore[misc]
        await worker.heartbeat(known.incarnation_id, [], draining=False)
        assert "node1" not in (await outside.http.get("/metrics")).text
        assert (await outside.http.get("/v1/workers/node1")).json()["link"] is None
    caller.facts = lambda _: None  # one of the release before
    await worker.heartbeat(known.incarnation_id, [], draining=False)
    assert "node1" not in (await outside.http.get("/metrics")).text


async def test_workers_of_equal_names_have_metrics_of_their_own(outside: Outside) -> None:
    await outside.http.put("/v1/pools", json={"pools": [{"name": "other"}]})
    callers = []
    for pool, n_bytes in (("default", 7), ("other", 8)):
        callers.append(caller := outside.caller(await outside.token(pool=pool)))
        caller.facts = lambda delay_ms, n_bytes=n_bytes: LinkFacts(delay_ms, n_bytes, 0)  # type: ignore[misc]
        worker = outside.store(caller)
        known = await worker.register_worker(**facts(pool=pool, incarnation=pool))
        await worker.heartbeat(known.incarnation_id, [], draining=False)

    page = (await outside.http.get("/metrics")).text

    for pool, n_bytes in (("default", 7), ("other", 8)):
        labels = f'pool="{pool}",role="api",worker="node1"'
        assert f"weft_link_unshipped_bytes{{{labels}}} {n_bytes}.0" in page


async def test_linked_workers_count_for_the_site_and_for_the_contract(
    outside: Outside, database: dict[str, str]
) -> None:
    worker = outside.store(outside.caller(await outside.token()))
    await worker.register_worker(**facts(version="0.0.9"))
    async with open_admin(database["admin"]) as admin:
        found = (await outside.http.get("/v1/system")).json()
        assert {"role": "worker", "version": "0.0.9", "n": 1} in found["programs"]
        assert "0.0.9" in {one.check: one.found for one in judge(found)}["versions"]
        status = await admin.status()
        assert [str(one) for one in status.older_programs] == [
            "worker node1 on far, linked, release 0.0.9"
        ]
        with pytest.raises(OlderProgramsConnected, match="linked workers"):
            await admin.contract()
        new = "UPDATE weft.worker_incarnation SET version = $1"
        await as_admin(database, new, __version__)
        assert not (await admin.status()).older_programs
        assert await admin.contract() == []


@pytest.mark.parametrize("call", ["heartbeat", "complete_attempts"])
async def test_calls_of_many_workers_share_a_transaction(
    outside: Outside, admin: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Whatever one of them sends, is lost or locked, the others are answered as if alone."""
    monkeypatch.setattr(shared_transactions, "GATHER_S", 60.0)
    monkeypatch.setattr(shared_transactions, "TOGETHER_MAX", 6)
    await outside.submit(6)
    token = await outside.token()
    stores = [outside.store(outside.caller(token)) for _ in range(6)]
    ids: list[int] = []
    has: list[Claimed] = []
    for n, store in enumerate(stores):
        registered = await store.register_worker(**facts(name=f"node{n}", incarnation=f"i{n}"))
        ids.append(registered.incarnation_id)
        has += await store.claim_jobs(ids[-1], request(1))
    await admin.fetch("SELECT weft._lose_incarnation($1, clock_timestamp())", ids[0])

    async def answers(**wrong: int) -> list[Any]:
        async def ask(n: int) -> object:
            store, one = stores[n], has[2 if n == 1 else n]  # the second tells of another's job
            if call == "complete_attempts":
                report = end_report(one)
                report = msgspec.structs.replace(report, **wrong) if n == 1 else report
                return await store.complete_attempts(ids[n], [report])
            key = (wrong.get("cpu_ms", 1), *key_of(one)[1:]) if n == 1 else key_of(one)
            return (await store.heartbeat(ids[n], [key], draining=False)).alive

        return await asyncio.gather(*map(ask, range(6)), return_exceptions=True)

    good, lost = (True, False) if call == "heartbeat" else (["ok"], ["stale"])
    n_writes = {
        "heartbeat": "SELECT count(DISTINCT xmin::text) FROM weft.worker_incarnation "
        "WHERE incarnation_id = ANY ($1)",
        "complete_attempts": "SELECT count(DISTINCT xmin::text) FROM weft.attempt "
        "WHERE incarnation_id = ANY ($1)",
    }[call]
    found = await answers()
    assert found == [lost, good if call == "heartbeat" else lost, *[good] * 4]
    assert await admin.fetchval(n_writes, ids[2:]) == 1
    monkeypatch.setattr(
        shared_transactions, "TOGETHER_MAX", 5
    )  # what no worker can say never joins them
    found = await answers(cpu_ms=2**63)
    assert (found[0], found[2:]) == (lost, [good] * 4)
    assert isinstance(found[1], WeftError)
    monkeypatch.setattr(shared_transactions, "TOGETHER_MAX", 6)
    async with admin.transaction():
        await admin.execute(
            "SELECT FROM weft.worker_incarnation WHERE incarnation_id = $1 FOR UPDATE", ids[5]
        )
        asked = [
            asyncio.create_task(store.heartbeat(worker, [], draining=False))
            for store, worker in zip(stores, ids, strict=True)
        ]
        await asyncio.wait(asked[:5])
        assert not asked[5].done()
    assert (await asked[5]).alive


__all__ = ["outside"]
FILE = RunningFile("d/a", 7, 1.5)


class Node:
    """A worker with one running job, which hears what it is asked."""

    def __init__(
        self, outside: Outside, caller: LinkCaller, store: WorkerStore, known: Registered
    ) -> None:
        self._http, self.caller, self._store = outside.http, caller, store
        self.number = known.incarnation_id
        self.url = ""

    async def begin(self) -> None:
        (one,) = await self._store.claim_jobs(self.number, request())
        await self._store.start_attempts(self.number, [start_report(one)])
        self.key = AttemptKey(*key_of(one))
        self.url = f"/v1/batches/{one.batch_id}/jobs/{one.job_id}"

    @contextlib.asynccontextmanager
    async def hearing(self) -> AsyncIterator[AsyncIterator[tuple[str, str]]]:
        async with contextlib.aclosing(self.caller.listen("look")) as heard:  # type: ignore[type-var]
            assert await anext(heard) == ("", "")
            yield heard

    def get(self, rest: str) -> "asyncio.Task[httpx.Response]":
        return asyncio.create_task(self._http.get(self.url + rest))

    async def answer(self, look: Look, seen: Seen) -> None:
        await self.caller.call("answer_look", self.number, look.number, seen)


async def asked(heard: AsyncIterator[tuple[str, str]]) -> Look:
    channel, payload = await anext(heard)
    assert channel == "look"
    return msgspec.json.decode(payload, type=Look)


async def node_of(outside: Outside, **more: Any) -> Node:  # noqa: ANN401 (as register_worker)
    caller = outside.caller(await outside.token())
    store = outside.store(caller)
    return Node(outside, caller, store, await store.register_worker(**facts(**more)))


async def test_only_the_worker_of_the_attempt_is_asked_and_answers(outside: Outside) -> None:
    other = await node_of(outside, name="node2", incarnation="second")
    node = await node_of(outside)
    await outside.submit(1)
    await node.begin()
    async with node.hearing() as heard, other.hearing() as others:
        reply = node.get("/files")
        look = await asked(heard)
        assert (look.key, look.path) == (node.key, None)
        await other.answer(look, Seen([RunningFile("forged", 1, 1.0)]))
        with pytest.raises(LinkRefused):
            await other.caller.call("answer_look", node.number, look.number, Seen())
        await node.answer(look, Seen([FILE]))
        (found,) = (await reply).json()["items"]
        assert (found["path"], found["bytes"], found["attempt"]) == ("d/a", 7, 1)

        reply = node.get("/file?path=d/a")
        look = await asked(heard)
        assert (look.path, look.n_bytes) == ("d/a", 0)
        await node.answer(look, Seen([FILE]))
        look = await asked(heard)
        assert (look.start, look.n_bytes) == (0, 7)
        await node.answer(look, Seen(data=b"content and more"))
        assert (await reply).content == b"content"

        stranger = await outside.http.get(
            node.url + "/files", headers={"authorization": "Bearer x"}
        )
        assert stranger.status_code == 401
        told = asyncio.ensure_future(anext(others))
        await asyncio.sleep(0)
        assert not told.done()
        told.cancel()
        await asyncio.gather(told, return_exceptions=True)


async def test_what_no_directory_can_have_is_refused(outside: Outside) -> None:
    node = await node_of(outside)
    await outside.submit(1)
    await node.begin()
    async with node.hearing() as heard:
        reply = node.get("/files")
        look = await asked(heard)
        for wrong in (
            Seen([RunningFile("../x", 1, 1.0)]),
            Seen([RunningFile("x", -1, 1.0)]),
            Seen([RunningFile("x", 1, float("nan"))]),
            Seen([RunningFile("x", 1, 1e18)]),
            Seen([FILE] * (LOOKED_MAX + 1)),
            Seen(data=bytes(LOG_BYTES_MAX + 1)),
        ):
            with pytest.raises(LinkFrameRefused):
                await node.answer(look, wrong)
        await node.answer(look, Seen())
        assert (await reply).json()["items"] == []
        await node.answer(look, Seen([FILE]))  # too late: nobody waits


async def test_worker_that_does_not_answer_is_named(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "ANSWER_S", 0.2)
    node = await node_of(outside)
    await outside.submit(1)
    await node.begin()
    assert (await node.get("/files")).status_code == 409  # it is not connected
    async with node.hearing():
        for path in ("/files", "/file?path=d/a"):
            answer = await node.get(path)
            assert answer.status_code == 409, answer.text
            assert answer.json()["code"] == "API.FILE_ELSEWHERE"
            assert "node1" in answer.json()["title"] + answer.json().get("detail", "")


async def test_the_api_that_holds_the_connection_is_told_by_the_others(
    outside: Outside, database: dict[str, str]
) -> None:
    """A proxy brings the question to one api, the notices to another, the answer to a third."""
    node = await node_of(outside)
    await outside.submit(1)
    await node.begin()
    asking, third = [LiveApi(database["weft_api"], outside.api.settings) for _ in range(2)]
    asking.link_dsn = third.link_dsn = database["weft_worker"]
    async with asking, third:
        answering = LinkCaller(LinkFinder(third.url, outside.path / f"token-{outside.token_id}"))
        answering.incarnation_id = node.number
        async with node.hearing() as heard, asking.client() as http:
            reply = asyncio.create_task(http.get(node.url + "/files"))
            look = await asked(heard)
            forged = (node.number + 1, look.number, msgspec.msgpack.encode(Seen()))
            async with open_worker_store(database["weft_worker"]) as store:
                await store.answer_look(*forged)
            await answering.call("answer_look", node.number, look.number, Seen([FILE]))
            assert [one["path"] for one in (await reply).json()["items"]] == ["d/a"]

            reply = asyncio.create_task(http.get(node.url + "/file?path=d/a"))
            await answering.call(
                "answer_look", node.number, (await asked(heard)).number, Seen([FILE])
            )
            look = await asked(heard)
            await answering.call("answer_look", node.number, look.number, Seen(data=b"content"))
            assert (await reply).content == b"content"
        assert await as_admin(database, "SELECT FROM weft.look") == []
        answering.close()
