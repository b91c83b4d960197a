"""A server that answers Hail's client at once, so that the client alone is measured."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import parse_qs, urlsplit

_RESERVED: Final = {"start_job_group_id": 1, "start_job_id": 1}
_PAGE: Final = 50


class HailStub:
    """Answers by path."""

    def __init__(self, batch: bytes, pages: Sequence[bytes]) -> None:
        self._batch = batch
        self._pages = pages

    def answer(self, method: str, target: str) -> bytes:
        """Return the body of an answer."""
        path, query = urlsplit(target)[2:4]
        if path.endswith("/jobs") and method == "GET":
            last = int(parse_qs(query).get("last_job_id", ["0"])[0])
            return self._pages[min(last // _PAGE, len(self._pages) - 1)]
        if path.endswith(("/jobs/create", "/job-groups/create")):
            return b""
        if method == "GET":
            return self._batch
        return json.dumps({"id": 1, "update_id": 1, **_RESERVED}).encode()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after the other."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                lines = [line.partition(":") for line in head[1:]]
                sizes = [
                    int(value) for name, _, value in lines if name.lower() == "content-length"
                ]
                await reader.readexactly(sizes[0] if sizes else 0)
                method, target, _ = head[0].split(" ")
                body = self.answer(method, target)
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


@asynccontextmanager
async def running_stub(batch: bytes, pages: Sequence[bytes]) -> AsyncIterator[str]:
    """Give the address of a stub that has this batch and these pages of its jobs."""
    server = await asyncio.start_server(HailStub(batch, pages).serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
