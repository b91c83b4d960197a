"""A request whose connection breaks while its body is sent."""

import asyncio
from asyncio import AbstractEventLoop, StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import suppress

import h11
import pytest
import uvloop

from weft.net.exchange import Exchange
from weft.net.failures import Broken


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_what_broke_between_two_pieces_is_broken(
    new_loop: Callable[[], AbstractEventLoop],
) -> None:
    """Whoever sends an object reads a file meanwhile."""

    async def refuse(_: StreamReader, writer: StreamWriter) -> None:
        writer.transport.abort()

    async def send() -> None:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            exchange = Exchange(reader, writer, "x", 5.0, 1024)
            fields = [("Host", "x"), ("Content-Length", "2")]
            exchange.begin(h11.Request(method="PUT", target="/", headers=fields), None)
            with suppress(OSError):
                await reader.read()
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()
            with pytest.raises(Broken):
                await exchange.send(b"x")

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(send())
