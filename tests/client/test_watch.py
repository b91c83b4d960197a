"""Waiting for what the server tells, and how its stream of events is read."""

import asyncio
import json
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.http_server import DROP, Request, answer, serving, stream
from weft import Client, aio
from weft.client.http.sse import EventParser, ServerEvent
from weft.core.errors import InvalidDocument, Unavailable

OPEN = b"id: 1-1\n: connected\n\n"
GONE = b'event: error\ndata: {"title": "gone", "code": "API.EVENTS_GONE", "status": 410}\n\n'
STREAM = (
    b": connected\n\n"
    b'id: 7-1\nevent: jobs.success\ndata: {"a":\ndata: 1}\n\n'
    b"data:no space\r\n\r\n"
    b"id: 7-2\n\n"
    b"event: end\rdata: caf\xc3\xa9\r\r"
    b"data: torn"
)
EXPECTED = [
    ServerEvent("jobs.success", '{"a":\n1}', "7-1"),
    ServerEvent("message", "no space", "7-1"),
    ServerEvent("end", "café", "7-2"),
]


def event(kind: str, **facts: object) -> bytes:
    data = json.dumps({"kind": kind, "jobs": [], "groups": [], **facts})
    return f"id: 1-2\nevent: {kind}\ndata: {data}\n\n".encode()


def batch(*, complete: bool) -> bytes:
    counts = ("n_jobs", "n_completed", "n_failed", "n_errored", "n_running")
    document = {"id": 7, "state": "running", "complete": complete, **dict.fromkeys(counts, 0)}
    return json.dumps(document).encode()


class Told:
    """A server with these streams and these documents, in turn; the last document for ever."""

    def __init__(self, streams: list[bytes], documents: list[bytes]) -> None:
        self.streams: Iterator[bytes] = iter(streams)
        self.documents = documents
        self.n_looks = 0

    def __call__(self, request: Request) -> bytes:
        if request.target.startswith("/v1/events"):
            return next(self.streams, stream(OPEN, ends=False))
        self.n_looks += 1
        return answer(200, self.documents[min(self.n_looks, len(self.documents)) - 1])


async def test_events_that_are_gone_are_made_up_for_by_a_look() -> None:
    documents = [batch(complete=False), batch(complete=True)]
    told = Told([stream(OPEN, GONE)], documents)
    async with serving(told) as server, aio.Client(server.url, "t") as client:
        ended = await (await client.get_batch(7)).wait()

    assert ended["complete"]


async def test_only_the_end_is_looked_at_where_nobody_watches() -> None:
    """Two looks for the wait: one to begin with, one for the end, none for what is between."""
    between = [event("jobs.success", jobs=[n]) for n in range(50)]
    between += [event("group.complete", groups=[n]) for n in range(1, 50)]
    documents = [batch(complete=False), batch(complete=False), batch(complete=True)]
    told = Told([stream(OPEN, *between, event("batch.complete", groups=[0]))], documents)
    async with serving(told) as server, aio.Client(server.url, "t") as client:
        b = await client.get_batch(7)
        await b.wait(progress=False)

    assert told.n_looks == 3


async def test_the_error_of_an_operation_is_raised() -> None:
    error = {"title": "bad query", "code": "API.INVALID_DOCUMENT", "status": 400, "detail": "Why."}
    running = {"id": 3, "batch_id": 7, "state": "running", "done": 0, "total": 9}
    failed = {**running, "state": "failed", "error": error}
    documents = [batch(complete=True), *(json.dumps(d).encode() for d in (running, failed))]
    told = Told([stream(OPEN, event("operation.failed"))], documents)
    async with serving(told) as server, aio.Client(server.url, "t") as client:
        b = await client.get_batch(7)
        with pytest.raises(InvalidDocument) as caught:
            await b.create_job_group("x")

    assert caught.value.detail == "Why."


async def test_wait_outlasts_a_server_that_is_away_for_longer_than_requests_bear() -> None:
    """The server drops connections from the second look on, until the outage was told."""
    outage, is_away = asyncio.Event(), asyncio.Event()
    told = Told([], [batch(complete=False), batch(complete=True)])

    def away_after_a_look(request: Request) -> bytes:
        if told.n_looks and not is_away.is_set():
            is_away.set()
        return DROP if is_away.is_set() and not outage.is_set() else told(request)

    async with (
        serving(away_after_a_look) as server,
        aio.Client(
            server.url, "t", patience_s=0, wait_patience_s=60, on_outage=lambda _: outage.set()
        ) as client,
    ):
        b = await client.get_batch(7)
        waiting = asyncio.create_task(b.wait(progress=False))
        await asyncio.wait_for(is_away.wait(), 30)
        with pytest.raises(Unavailable):
            await b.status()
        ended = await asyncio.wait_for(waiting, 30)

    assert outage.is_set()
    assert ended["complete"]


@pytest.mark.parametrize("what", ["batch", "job"])
async def test_wait_is_given_up_after_its_time_limit(what: str) -> None:
    """By both clients; the server is told nothing."""
    told = Told([], [batch(complete=False)])

    def use(url: str) -> None:
        with Client(url, "t") as client:
            b = client.get_batch(7)
            waited = b if what == "batch" else b.get_job(1)
            with pytest.raises(TimeoutError):
                waited.wait(timeout_s=0.1)

    async with serving(told) as server, aio.Client(server.url, "t") as client:
        b = await client.get_batch(7)
        with pytest.raises(TimeoutError):
            await (b if what == "batch" else b.get_job(1)).wait(timeout_s=0.1)
        await asyncio.wait_for(asyncio.to_thread(use, server.url), 30)


async def test_wait_gives_up_after_its_patience() -> None:
    told = Told([], [batch(complete=False)])

    def gone_after_a_look(request: Request) -> bytes:
        return DROP if told.n_looks else told(request)

    async with (
        serving(gone_after_a_look) as server,
        aio.Client(server.url, "t", patience_s=0, wait_patience_s=0.2) as client,
    ):
        b = await client.get_batch(7)
        with pytest.raises(Unavailable):
            await asyncio.wait_for(b.wait(progress=False), 30)


async def test_threads_share_a_client() -> None:
    told = Told([], [batch(complete=True)])
    found: list[int] = []

    def use(url: str) -> None:
        with Client(url, "t") as client:

            def ask() -> None:
                found.extend(client.get_batch(7).id for _ in range(5))

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)

    async with serving(told) as server:
        await asyncio.to_thread(use, server.url)

    assert found == [7] * 20


async def test_a_deleted_batch_is_an_operation() -> None:
    operation = b'{"id": 3, "kind": "delete_batch", "state": "running"}'
    answers = (answer(200, batch(complete=True)), answer(202, operation))
    async with serving(*answers) as server, aio.Client(server.url, "t") as client:
        told = await (await client.get_batch(7)).delete()

    assert told["kind"] == "delete_batch"
    assert (server.requests[1].method, server.requests[1].target) == ("DELETE", "/v1/batches/7")


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_events_do_not_depend_on_where_the_stream_is_cut(cuts: list[int]) -> None:
    parser = EventParser()
    ends = sorted(cuts)
    found = []
    for start, end in zip([0, *ends], [*ends, len(STREAM)], strict=True):
        found += parser.feed(STREAM[start:end])

    assert found == EXPECTED


def test_an_id_without_data_is_remembered() -> None:
    parser = EventParser()

    assert parser.feed(b"id: 3-4\n: connected\n\n") == []
    assert parser.last_id == "3-4"


def test_the_last_id_goes_on_in_the_next_connection() -> None:
    assert EventParser("3-4").feed(b"data: x\n\n") == [ServerEvent("message", "x", "3-4")]
