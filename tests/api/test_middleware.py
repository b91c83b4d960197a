"""What is counted of a request, and how one is answered that is not finished."""

import asyncio
import time

from weft.api.http.doors import DoorPaths
from weft.api.http.middleware import CompleteReplies, RecordRequests
from weft.api.http.routing import Message, Receive, Scope, Send
from weft.telemetry import metrics

SUM = "weft_http_request_seconds_sum"
LASTS_S = 0.05


async def _stream(scope: Scope, _receive: Receive, send: Send) -> None:
    scope["path_template"] = "/stream"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x", "more_body": True})
    until = time.perf_counter() + LASTS_S
    while time.perf_counter() < until:
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def test_time_of_a_stream_is_that_of_its_first_byte() -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Message) -> None:
        return

    scope = {"type": "http", "method": "GET", "path": "/healthz", "headers": []}
    begun = time.perf_counter()
    await RecordRequests(_stream, DoorPaths([]))(scope, receive, send)
    whole_s = time.perf_counter() - begun

    took_s = metrics.REGISTRY.get_sample_value(SUM, {"route": "/stream"})
    assert took_s is not None
    assert 0 < took_s < whole_s - LASTS_S


async def test_request_that_a_stop_cuts_off_may_be_repeated() -> None:
    sent: asyncio.Queue[Message] = asyncio.Queue()

    async def hang(_scope: Scope, _receive: Receive, _send: Send) -> None:
        answering.cancel()
        await asyncio.Event().wait()

    scope = {"type": "http", "path": "/v1", "state": {"headers": {}, "trace_id": "0" * 32}}
    answering = asyncio.create_task(CompleteReplies(hang)(scope, sent.get, sent.put))
    await answering

    assert sent.get_nowait()["status"] == 503
