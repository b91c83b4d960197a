"""A web server that counts what is asked of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Server:
    """Files by their paths, each with its version."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, str]] = {}
        self.sent: list[str] = []
        """The paths of the files that were sent."""
        self.n_asked = 0
        self.url = ""
        self.goes_on = asyncio.Event()
        """Each answer waits for it in its middle."""
        self.goes_on.set()
        self.has_begun = asyncio.Event()
        self.headers = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Server"]:
        """Serve."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.n_asked += 1
        path = head.split()[1]
        body, version = self.files.get(path, (b"", ""))
        tag = "" if not version else f"ETag: {version}\r\n"
        if path not in self.files:
            writer.write(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
        elif version and f"If-None-Match: {version}\r\n" in head:
            writer.write(f"HTTP/1.1 304 Same\r\n{tag}\r\n".encode())
        else:
            self.sent.append(path)
            size = f"Content-Length: {len(body)}\r\n"
            writer.write(f"HTTP/1.1 200 OK\r\n{size}{tag}{self.headers}\r\n".encode())
            writer.write(body[: len(body) // 2])
            await writer.drain()
            self.has_begun.set()
            await self.goes_on.wait()
            writer.write(body[len(body) // 2 :])
