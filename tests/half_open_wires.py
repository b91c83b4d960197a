"""A wire between a program and PostgreSQL that becomes half-open.

Bytes are lost both ways, neither end is told, and what one end closes the other does not learn.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from weft.ports.patience import end_tasks


class HalfOpenWire:
    """Carries what comes to a port of this host to the server of a DSN."""

    def __init__(self, dsn: str) -> None:
        self._parts = urlsplit(dsn)
        self._query = dict(parse_qsl(self._parts.query))
        self._carriers: set[asyncio.Task[None]] = set()
        self._sockets: list[socket.socket] = []
        self.dsn = ""

    async def lose(self) -> None:
        """Lose from now on what the connections carry that there are; new ones are good."""
        carriers, self._carriers = self._carriers, set()
        await end_tasks(carriers)

    def _accept(self, listening: socket.socket) -> None:
        near, _ = listening.accept()
        near.settimeout(0)
        far = socket.socket(socket.AF_UNIX if "host" in self._query else socket.AF_INET)
        self._sockets += near, far
        self._carriers.add(asyncio.create_task(self._join(near, far)))

    async def _join(self, near: socket.socket, far: socket.socket) -> None:
        far.settimeout(0)
        loop, port = asyncio.get_running_loop(), self._parts.port or 5432
        directory, host = self._query.get("host"), self._parts.hostname
        there = f"{directory}/.s.PGSQL.{port}" if directory else (host, port)
        with suppress(OSError):
            await loop.sock_connect(far, there)
            await asyncio.gather(_carry(near, far), _carry(far, near))

    @asynccontextmanager
    async def open(self) -> AsyncIterator["HalfOpenWire"]:
        """Listen."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.settimeout(0)
            user = self._parts.netloc.rpartition("@")[0]
            query = {
                name: value for name, value in self._query.items() if name not in {"host", "port"}
            }
            self.dsn = urlunsplit(
                self._parts._replace(
                    netloc=f"{user}@127.0.0.1:{listening.getsockname()[1]}",
                    query=urlencode(query),
                )
            )
            loop = asyncio.get_running_loop()
            loop.add_reader(listening, self._accept, listening)
            try:
                yield self
            finally:
                loop.remove_reader(listening)
                await self.lose()
                for one in self._sockets:
                    one.close()


async def _carry(one: socket.socket, other: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while data := await loop.sock_recv(one, 1 << 16):
            await loop.sock_sendall(other, data)
        other.shutdown(socket.SHUT_WR)


@asynccontextmanager
async def half_open_wire(dsn: str) -> AsyncIterator[HalfOpenWire]:
    """Give a wire to the server of a DSN; its own `dsn` leads through it."""
    async with HalfOpenWire(dsn).open() as wire:
        yield wire
