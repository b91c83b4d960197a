"""`HEAD` is answered as the `GET` of its path: the same head, and no body."""

import asyncio

import httpx

from api.live import DEADLINE_S, LiveWorker
from api.test_logs import ended_job

VARYING = {"date", "traceparent", "x-trace-id"}


async def test_head_is_that_of_a_get(http: httpx.AsyncClient) -> None:
    cases = [
        ("/v1/batches", 200), ("/openapi.json", 200), ("/v1/batches?limit=0", 400),
        ("/v1/batches/9", 404), ("/v1/nothing", 404), ("/v1/batches/1/cancel", 405),
    ]  # fmt: skip
    for path, status in cases:
        heads = [await http.request(method, path) for method in ("GET", "HEAD", "GET")]
        shown = [{k: v for k, v in one.headers.items() if k not in VARYING} for one in heads]

        assert [one.status_code for one in heads] == [status] * 3
        assert shown[0] == shown[1]
        assert heads[1].content == b""


async def test_head_of_output_says_its_size_and_range(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    path = f"{await ended_job(http, worker)}?stream=stdout"
    whole = await http.head(path)
    part = await http.head(path, headers={"range": "bytes=2-5"})

    assert (whole.status_code, whole.headers["content-length"]) == (200, "8")
    assert (part.status_code, part.headers["content-range"]) == (206, "bytes 2-5/8")
    assert part.content == whole.content == b""


async def test_head_of_a_stream_ends_it(http: httpx.AsyncClient) -> None:
    async with asyncio.timeout(DEADLINE_S):
        answer = await http.head("/v1/events")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


async def test_stranger_gets_the_head_of_a_refusal(http: httpx.AsyncClient) -> None:
    answer = await http.head("/v1/batches", headers={"authorization": "Bearer none"})

    assert (answer.status_code, answer.content) == (401, b"")
