"""Files of web servers, against real ones on this host: whole, resumed, redirected, refused."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from cases import cases
from weft.core.addresses import AllowedHosts, parse_allowed_hosts
from weft.core.files.file_paths import UrlFile, WrongPath, parse_source
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.web import WebFiles
from weft.ports.file_store import FileMissing, FileProblem, FileRefused, NotResumable, StoreAway

HERE = parse_allowed_hosts("127.0.0.1")
Answer = Callable[[str], bytes]


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[str]:
    """Give the address of a server that sends what `answer` returns for the head of a request."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        writer.write(answer(head))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def said(status: str, body: bytes = b"", *headers: str, n_bytes: int | None = None) -> bytes:
    size = f"Content-Length: {len(body) if n_bytes is None else n_bytes}"
    return "\r\n".join([f"HTTP/1.1 {status}", size, *headers, "", ""]).encode() + body


async def fetched(url: str, allowed: AllowedHosts = HERE) -> bytes:
    files = WebFiles(HttpCarrier(allowed, 10, setting="input_private_hosts"))
    return b"".join([piece async for piece in files.read(url)])


async def test_file_comes_whole_and_after_redirections() -> None:
    def answer(head: str) -> bytes:
        if head.startswith("GET /first?x=1 "):
            return said("302 Found", b"", "Location: second")
        return said("200 OK", b"abc") if head.startswith("GET /second ") else said("500 No")

    async with serving(answer) as url:
        assert await fetched(f"{url}/first?x=1") == b"abc"


async def test_broken_connection_goes_on_where_it_broke() -> None:
    def answer(head: str) -> bytes:
        if "Range: bytes=3-" in head:
            assert 'If-Range: "v1"' in head
            return said("206 Part", b"def", "Content-Range: bytes 3-5/6", 'ETag: "v1"')
        return said("200 OK", b"abc", 'ETag: "v1"', n_bytes=6)

    async with serving(answer) as url:
        assert await fetched(f"{url}/a") == b"abcdef"


async def test_a_fetch_goes_on_at_no_other_place() -> None:
    first = said("200 OK", b"abc", 'ETag: "v1"', n_bytes=6)
    moved = said("302 There", b"", "Location: /b")
    async with serving(lambda head: moved if "Range:" in head else first) as url:
        with pytest.raises(NotResumable):
            await fetched(f"{url}/a")


@cases(
    ("answer", "problem", "words"),
    [
        (said("404 None"), FileMissing, "404"),
        (said("403 No"), FileRefused, "403"),
        (said("503 Later"), StoreAway, "503"),
        (said("302 There", b"", "Location: http://10.0.0.1/x"), FileRefused, "input_private"),
        (said("302 There", b"", "Location: file:///etc/passwd"), FileRefused, "no address"),
        (said("302 There", b"", "Location: /again"), FileRefused, "5 times"),
    ],
)
async def test_other_answers_are_told(
    answer: bytes, problem: type[FileProblem], words: str
) -> None:
    async with serving(lambda _: answer) as url:
        with pytest.raises(problem, match=words):
            await fetched(f"{url}/a")


@cases(
    "to",
    [
        "169.254.169.254/latest/meta-data",
        "[::ffff:169.254.169.254]/x",
        "2852039166/x",
        "[fd00:ec2::254]/x",
        "127.0.0.2/x",
        "0/x",
        "[no-address",
    ],
)
async def test_no_redirection_leads_to_what_only_the_host_may_ask(to: str) -> None:
    async with serving(lambda _: said("302 Found", b"", f"Location: http://{to}")) as url:
        with pytest.raises(FileRefused):
            await fetched(f"{url}/a", parse_allowed_hosts("127.0.0.1"))


def test_address_names_the_file() -> None:
    url = "https://data.example.org/sets/a%20b.txt?version=2"
    assert parse_source(url) == UrlFile(url, "a b.txt")
    for wrong in (
        "https://u:p@example.org/a",
        "https:///a",
        "http://example.org/a#b",
        "ftp://x/y",
    ):
        with pytest.raises(WrongPath):
            parse_source(wrong)
