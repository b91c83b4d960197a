"""A real proxy between two ends, which does to the bytes what networks do; it may end TLS and
record, or be asked with CONNECT.
"""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from weft.ports.patience import end_tasks, tasks_beside

Way = Literal["up", "down"]
"""To the server, or from it."""
ANSWER = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Middle:
    """Forwards to a server. What it does may be changed at any time, from any thread."""

    def __init__(
        self, host: str, port: int, *, tls: ssl.SSLContext | None = None, asked: bool = False
    ) -> None:
        self._server, self._tls, self._is_asked = (host, port), tls, asked
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.recorded = bytearray()
        """All that was sent through it, in the clear if it ends TLS."""
        self.heads: list[bytes] = []
        """What it was asked with CONNECT; every name leads to the server."""
        self.answer = ANSWER
        self.delay_s = 0.0
        self.swallows: Way | None = None
        """Bytes of this direction are lost, and nobody is told."""
        self.passes_max: int | None = None
        """Both ends are cut, once, after this number of further bytes from the server."""
        self.is_cut = False
        self.n_refused = 0
        """How many connections came while it was cut."""

    def cut(self) -> None:
        """End all connections, and each that comes until `mend`."""
        self.is_cut = True
        self._loop.call_soon_threadsafe(self._abort_all)

    def mend(self) -> None:
        """Forward again."""
        self.is_cut = False

    @contextmanager
    def running(self) -> Iterator["Middle"]:
        """Listen on a port of loopback."""
        ready, self._loop = threading.Event(), asyncio.new_event_loop()
        thread = threading.Thread(target=self._run, args=(ready,))
        thread.start()
        try:
            assert ready.wait(10)
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._end.set)
            thread.join()
            self._loop.close()

    def _run(self, ready: threading.Event) -> None:
        self._loop.run_until_complete(self._serve(ready))

    async def _serve(self, ready: threading.Event) -> None:
        self._end = asyncio.Event()
        server = await asyncio.start_server(self._forward, "127.0.0.1", 0, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._end.wait()
        server.close()
        self._abort_all()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await end_tasks(others)

    def _abort_all(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            if self.is_cut:
                self.n_refused += 1
                writer.transport.abort()
                return
            host, port = self._server
            if self._is_asked:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                if self.answer != ANSWER:
                    writer.write(self.answer)
                    return
            far_reader, far_writer = await asyncio.open_connection(host, port)
            self._writers.add(far_writer)
            if self._is_asked:
                writer.write(self.answer)
            try:
                pumps = [
                    asyncio.create_task(self._pump("up", reader, far_writer)),
                    asyncio.create_task(self._pump("down", far_reader, writer)),
                ]
                async with tasks_beside(pumps):
                    await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self._writers.discard(far_writer)
                far_writer.close()
        except (OSError, EOFError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _pump(
        self, way: Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                self.recorded += data
                if self.delay_s:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._end.wait(), self.delay_s)
                if self.swallows == way:
                    continue
                if way == "down" and self.passes_max is not None:
                    data, self.passes_max = data[: self.passes_max], self.passes_max - len(data)
                writer.write(data)
                await writer.drain()
                if way == "down" and self.passes_max is not None and self.passes_max <= 0:
                    self.passes_max = None
                    return
