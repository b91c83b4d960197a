"""What lies between the processes: wires that fail, and who is told of batches."""

import asyncio
import json
import time
from asyncio import Server, StreamReader, StreamWriter
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from weft_siege.mailbox import Mailbox
from weft_siege.twice import Requests, send_again

CHUNK_BYTES = 1 << 16
LATE_S = 0.3
RECENT_S = 10.0
FAILS = 3
"""One of this number of callbacks is answered with 503."""
REFUSED_MAX = 4
"""No delivery is refused more often: the pauses between its tries grow to minutes."""
SOCKET = ".s.PGSQL.5432"
SINK = "sink"
"""The path to which a production line sends messages."""
Act = Literal["", "cut", "hang", "slow", "twice"]


class Wire:
    """Carries what comes to a port of its own to another one.

    cut: all connections end, and each new one; hang: what these carry is lost, and nobody is told,
    also not later; slow: all arrives late; twice: a request of HTTP comes again beside itself.
    """

    def __init__(self, host: str, port: int) -> None:
        self.port = 0
        self._to = host, port
        self._again: set[asyncio.Task[None]] = set()
        self._act: Act = ""
        self._writers: set[StreamWriter] = set()
        self._left_at = -RECENT_S

    @asynccontextmanager
    async def carrying(self) -> AsyncIterator[None]:
        """Listen."""
        async with await self._listen():
            try:
                yield
            finally:
                self.suffer("cut")

    async def _listen(self) -> Server:
        server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _reach(self) -> tuple[StreamReader, StreamWriter]:
        return await asyncio.open_connection(*self._to)

    @property
    def is_used(self) -> bool:
        """Say whether something was connected a moment ago: some stay, some come for a request."""
        return bool(self._writers) or time.monotonic() < self._left_at + RECENT_S

    def suffer(self, act: Act) -> None:
        """Fail in this way from now on; `""`: no more."""
        self._act = act
        for writer in self._writers if act == "cut" else ():
            writer.transport.abort()

    def recover(self, act: Act) -> None:
        """End this act, unless another one has come since."""
        if self._act == act:
            self._act = ""

    async def _join(self, near: StreamReader, back: StreamWriter) -> None:
        self._writers.add(back)
        with suppress(OSError):
            if self._act != "cut":
                far, on = await self._reach()
                self._writers.add(on)
                ways = self._carry(near, on, self._requests()), self._carry(far, back)
                await asyncio.gather(*ways, return_exceptions=True)
                self._writers.discard(on)
        self._writers.discard(back)
        self._left_at = time.monotonic()
        back.close()

    def _requests(self) -> Requests | None:
        return Requests()

    async def _carry(
        self, reader: StreamReader, writer: StreamWriter, requests: Requests | None = None
    ) -> None:
        is_lost = False
        try:
            while data := await reader.read(CHUNK_BYTES):
                if self._act == "slow":
                    await asyncio.sleep(LATE_S)
                is_lost = is_lost or self._act == "hang"
                for request in requests.feed(data) if requests else ():
                    if self._act == "twice":
                        self._again.add(
                            task := asyncio.create_task(send_again(request, *self._to))
                        )
                        task.add_done_callback(self._again.discard)
                if not is_lost:
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()


class DatabaseWire(Wire):
    """Carries what comes to a socket in a directory of its own to that of PostgreSQL."""

    def __init__(self, directory: Path) -> None:
        super().__init__("", 0)
        self._directory = directory
        self._server = ""

    def dsn(self, dsn: str) -> str:
        """Return by which address a login comes over the wire."""
        parts = urlsplit(dsn)
        query = dict(parse_qsl(parts.query))
        self._server = query["host"]
        return urlunsplit(parts._replace(query=urlencode({**query, "host": self._directory})))

    async def _listen(self) -> Server:
        self._directory.mkdir(mode=0o700)
        return await asyncio.start_unix_server(self._join, self._directory / SOCKET)

    async def _reach(self) -> tuple[StreamReader, StreamWriter]:
        return await asyncio.open_unix_connection(f"{self._server}/{SOCKET}")

    def _requests(self) -> None:
        return None


class Receiver:
    """Is told of batches that end and of jobs of a line; some of it it refuses at first."""

    def __init__(self) -> None:
        self.port = 0
        self.told: dict[str, Counter[str]] = {}
        """How often each delivery was accepted, by the path of its URL, of a sink with the job."""
        self.mailbox = Mailbox()
        self._count = 0
        self._refused = Counter[str]()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen."""
        taking = await asyncio.start_server(self._take, "127.0.0.1", 0)
        async with self.mailbox.listening(), taking as server:
            self.port = server.sockets[0].getsockname()[1]
            yield

    def names(self) -> dict[str, list[str]]:
        """Return under which names came what was accepted, also in the tries that were not."""
        return {name: list(ids) for name, ids in self.told.items() if ids.total()}

    async def _take(self, reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(OSError, EOFError):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = dict(line.lower().split(": ", 1) for line in lines if line)
            body = await reader.readexactly(int(fields["content-length"]))
            self._count += 1
            name = first.split()[1].strip("/")
            if name == SINK:
                name += f"/{json.loads(body)['job']}"
            ids, delivery = self.told.setdefault(name, Counter()), fields["weft-delivery"]
            is_taken = bool(self._count % FAILS) or self._refused[delivery] == REFUSED_MAX
            self._refused[delivery] += not is_taken
            ids[delivery] += is_taken
            status = "200 OK" if is_taken else "503 Service Unavailable"
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
            )
            await writer.drain()
        writer.close()
