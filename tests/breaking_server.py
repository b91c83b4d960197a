"""A web server whose first answer breaks off; it goes on as real ones do, and as none should."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

OLD: Final = b"old " * 2_000
NEW: Final = b"new " * 2_000
"""As long as the old one: its size does not tell."""
HALF: Final = len(OLD) // 2
Answer = Callable[[int], bytes]
"""Answers a request for the bytes from a position on."""


def tag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:8]}"'


def whole(body: bytes, version: str) -> bytes:
    return _answer("200 OK", body, version)


def part(body: bytes, start: int, version: str, *, total: int | None = None) -> bytes:
    """Return the rest of a body; `total`: a size that the server makes up."""
    size = len(body) if total is None else total
    rest = f"Content-Range: bytes {start}-{len(body) - 1}/{size}\r\n"
    return _answer("206 Partial Content", body[start:], version, rest)


def _answer(status: str, body: bytes, version: str = "", more: str = "") -> bytes:
    tagged = f"ETag: {version}\r\n" if version else ""
    return (
        f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{tagged}{more}\r\n".encode() + body
    )


def _short(start: int) -> bytes:
    """A server that gives at most 1000 bytes of a range."""
    some = OLD[start : start + 1000]
    stop = start + len(some) - 1
    rest = f"Content-Range: bytes {start}-{stop}/{len(OLD)}\r\n"
    return _answer("206 Partial Content", some, tag(OLD), rest)


GOES_ON: Final[dict[str, Answer]] = {
    "206": lambda start: part(OLD, start, tag(OLD)),
    "206 in pieces": _short,
    "200 with the same ETag: no ranges": lambda _: whole(OLD, tag(OLD)),
}
"""What gives the rest of the file that was begun."""
BEGINS_AGAIN: Final[dict[str, Answer]] = {
    "206 with another ETag": lambda start: part(NEW, start, tag(NEW)),
    "206 with another total": lambda start: part(OLD, start, tag(OLD), total=len(OLD) + 5),
    "206 without an ETag": lambda start: part(NEW, start, ""),
    "206 with a weak ETag": lambda start: part(NEW, start, f"W/{tag(OLD)}"),
    "206 of another range": lambda start: _answer(
        "206 Partial Content",
        NEW[:start],
        tag(OLD),
        f"Content-Range: bytes 0-{start - 1}/{len(NEW)}\r\n",
    ),
    "206 without a range": lambda start: _answer("206 Partial", NEW[start:], tag(OLD)),
    "200 with another ETag": lambda _: whole(NEW, tag(NEW)),
    "200 without an ETag": lambda _: whole(NEW, ""),
    "200 with the same ETag and another size": lambda _: whole(NEW + b"!", tag(OLD)),
    "412": lambda _: _answer("412 Precondition Failed", b""),
    "416": lambda _: _answer("416 Range Not Satisfiable", b"", "", "Content-Range: bytes */3\r\n"),
}
"""After these, only a read from the beginning gives one version."""


class BreakingServer:
    """Serves one file at any path. `version`: of its first answer, which breaks off; `always`:
    each whole one does.
    """

    def __init__(
        self, answer: Answer, *, version: str | None = None, always: bool = False
    ) -> None:
        self._answer, self._always = answer, always
        self._version = tag(OLD) if version is None else version
        self.heads: list[str] = []
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator["BreakingServer"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        is_part = "\r\nRange: bytes=" in head
        if len(self.heads) == 1 or (self._always and not is_part):
            writer.write(whole(OLD, self._version)[:-HALF])
        elif is_part:
            start = int(head.partition("\r\nRange: bytes=")[2].partition("-")[0])
            writer.write(self._answer(start))
        else:
            writer.write(whole(NEW, tag(NEW)))
        await writer.drain()
        writer.close()
