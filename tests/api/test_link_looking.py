"""The files of a running job, of which a worker outside is asked."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest

from api.live import LiveApi, as_admin
from api.test_worker_link import Outside, facts, outside
from builders import key_of, request, start_report
from weft.core.errors import LinkFrameRefused, LinkRefused
from weft.core.states import AttemptKey
from weft.extensions.link.serving import looking
from weft.extensions.link.worker.calls import LinkCaller
from weft.extensions.link.worker.looking import LinkFinder
from weft.ports.running_files import RunningFile
from weft.ports.store import Registered, WorkerStore
from weft.ports.worker_link import LOG_BYTES_MAX, LOOKED_MAX, Look, Seen
from weft.store import open_worker_store

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
