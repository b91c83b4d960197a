"""A real receiver on this host whose manners a test chooses."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from contexts import beside
from weft.ports.patience import end_tasks

DEADLINE_S = 30.0


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Manner = Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]


def answering(status: int, *, body: bytes = b"", headers: str = "") -> Manner:
    """Answer with a status."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n{headers}\r\n"
        writer.write(head.encode() + body)
        await writer.drain()

    return answer


def saying(data: bytes, *, pause_s: float = 0.0, times: int = 1) -> Manner:
    """Say these bytes, perhaps again and again with a pause."""

    async def say(writer: asyncio.StreamWriter) -> None:
        for _ in range(times):
            writer.write(data)
            await writer.drain()
            with suppress(TimeoutError):
                await asyncio.wait_for(_never(), pause_s)

    return say


async def hang(_writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await _never()


async def _never() -> None:
    await asyncio.Event().wait()


@dataclass
class Receiver:
    """What it was sent, and what it does: each manner once, the last for ever."""

    manners: list[Manner]
    port: int = 0
    received: list[Received] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    n_open_max: int = 0
    _serving: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?key=1"

    async def until(self, count: int) -> list[Received]:
        """Wait until `count` requests have come; return all."""
        async with asyncio.timeout(DEADLINE_S), self.changed:
            await self.changed.wait_for(lambda: len(self.received) >= count)
        return list(self.received)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; its sender may leave in the middle."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self.n_open_max = max(len(self._serving), self.n_open_max)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._serving.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read(reader)
        chosen = self.manners.pop(0) if len(self.manners) > 1 else self.manners[0]
        async with self.changed:
            self.received.append(request)
            self.changed.notify_all()
        async with beside(chosen(writer)) as talking, beside(reader.read()) as leaving:
            await asyncio.wait({talking, leaving}, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """End what is still being served."""
        await end_tasks(self._serving)


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = dict(line.split(": ", 1) for line in head[1:] if line)
    low = {name.lower(): value for name, value in headers.items()}
    body = await reader.readexactly(int(low.get("content-length", 0)))
    return Received(method, target, low, body)


@asynccontextmanager
async def receiving(
    *manners: Manner, port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    """Serve on this host; without manners every request is answered with 200."""
    result = Receiver(list(manners) or [answering(200)])
    server = await asyncio.start_server(result.serve, "127.0.0.1", port, ssl=tls)
    result.port = server.sockets[0].getsockname()[1]
    try:
        yield result
    finally:
        server.close()
        await result.close()
