"""A small real HTTP server whose answers a test writes, to see what the client does with them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


DROP = b""
"""An answer that closes the connection without a word."""

Answer = Callable[[Request], bytes]


def answer(
    status: int, body: bytes = b"{}", *, close: bool = False, retry_after: int | None = None
) -> bytes:
    head = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}"]
    if close:
        head.append("connection: close")
    if retry_after is not None:
        head.append(f"retry-after: {retry_after}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def stream(*chunks: bytes, ends: bool = True) -> bytes:
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head + body + (b"0\r\n\r\n" if ends else b"")


@dataclass
class Server:
    """What it was asked, and what it answers: each answer once, the last for ever."""

    answers: list[bytes | Answer]
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    n_connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.n_connections += 1
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                chosen = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                data = chosen if isinstance(chosen, bytes) else chosen(request)
                writer.write(data)
                await writer.drain()
                if data == DROP or b"connection: close" in data or not _is_whole(data):
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client has gone, or the test is over
        finally:
            writer.close()


def _is_whole(data: bytes) -> bool:
    return b"chunked" not in data or data.endswith(b"0\r\n\r\n")


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, target, _ = head[0].split(" ")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, target, headers, body)


@asynccontextmanager
async def serving(*answers: bytes | Answer, port: int = 0) -> AsyncIterator[Server]:
    result = Server(list(answers))
    server = await asyncio.start_server(result.serve, "127.0.0.1", port)
    result.port = server.sockets[0].getsockname()[1]
    try:
        yield result
    finally:
        server.close()
        # Not wait_closed: from Python 3.12 on it waits for the client's idle connections.
