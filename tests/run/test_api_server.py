"""The server of the api: what it waits for at its end."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import uvicorn
import uvloop

from api.live import NO_TLS
from weft.run.api import Server


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize("is_asked", [False, True])
def test_server_waits_for_requests_and_not_for_connections(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_asked: bool,
) -> None:
    """The least that uvicorn waits is a tenth of a second, at each restart of the api."""
    usual, n_waits = uvicorn.Server.shutdown, 0

    async def stop() -> None:
        asked, may_answer = asyncio.Event(), asyncio.Event()

        async def shutdown(server: uvicorn.Server, sockets: Any = None) -> None:  # noqa: ANN401
            nonlocal n_waits
            n_waits += 1
            may_answer.set()
            await usual(server, sockets)

        async def answer(scope: Any, _receive: Any, send: Any) -> None:  # noqa: ANN401
            if scope["path"] == "/late":
                asked.set()
                await may_answer.wait()
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        monkeypatch.setattr(uvicorn.Server, "shutdown", shutdown)
        server = Server(uvicorn.Config(answer, lifespan="off", ws="none", log_config=None))
        listener = socket.create_server(("127.0.0.1", 0))
        serving = asyncio.create_task(server.run_on(listener))
        await server.listening.wait()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with httpx.AsyncClient(base_url=url, verify=NO_TLS) as client:
            await client.get("/")  # its connection stays open
            late = asyncio.create_task(client.get("/late")) if is_asked else None
            if late is not None:
                await asked.wait()
            server.stopping.set()
            await serving
            assert late is None or (await late).status_code == 204

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(stop())

    assert n_waits == int(is_asked)
