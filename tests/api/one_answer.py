"""A web server that always gives one answer, and remembers how it was asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class OneAnswer:
    """Where it listens on this host, and the heads of the requests that it got."""

    port: int
    heads: list[str] = field(default_factory=list)


@asynccontextmanager
async def one_answer(body: bytes) -> AsyncIterator[OneAnswer]:
    """Serve it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        found = OneAnswer(server.sockets[0].getsockname()[1])
        yield found
