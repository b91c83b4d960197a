"""Bytes on a real connection: too many, too slow, or no HTTP at all."""

import asyncio
import json
import resource
from collections.abc import AsyncIterator

import pytest

from api.fakes import TOKEN, RecordingStore
from api.test_tls import serving
from cases import cases
from weft.api.app import Application

HEAD = f"authorization: Bearer {TOKEN}\r\nhost: weft\r\ncontent-type: application/json\r\n"


@pytest.fixture
async def port(app: Application) -> AsyncIterator[int]:
    """Give the port of a real server on the recording store."""
    async with serving(app) as address:
        yield int(address.partition(":")[2])


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    async with asyncio.timeout(60):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
        return int(head.split()[1]), json.loads(await reader.readexactly(length))


def memory_peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def test_body_of_100_mb_is_refused_early_in_flat_memory(
    port: int, store: RecordingStore
) -> None:
    """The answer comes before the body has gone, and a sender that reads late still gets it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST /v1/batches HTTP/1.1\r\n{HEAD}content-length: 100000000\r\n\r\n".encode())

    status, problem = await read_answer(reader)
    before = memory_peak_bytes()
    block = b" " * 100_000
    for _ in range(1000):
        writer.write(block)
        await writer.drain()
    writer.close()

    assert (status, problem["code"]) == (413, "API.TOO_LARGE")
    assert memory_peak_bytes() - before < 8 << 20
    assert store.created == []


async def test_body_without_a_length_is_refused_at_the_limit(
    port: int, store: RecordingStore
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /v1/batches HTTP/1.1\r\n{HEAD}transfer-encoding: chunked\r\n\r\n"
    writer.write(head.encode())
    for _ in range(40):
        writer.write(b"80000\r\n" + b" " * 0x80000 + b"\r\n")
        await writer.drain()
    writer.write(b"0\r\n\r\n")

    status, problem = await read_answer(reader)

    writer.close()
    assert (status, problem["code"]) == (413, "API.TOO_LARGE")
    assert store.created == []


@cases("text", [b"\x16\x03\x01 hello\r\n\r\n", b"GET\r\n\r\n", b"\r\n\0\r\n\r\n"])
async def test_what_is_no_http_is_a_problem(port: int, text: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)

    status, problem = await read_answer(reader)

    writer.close()
    assert (status, problem["code"]) == (400, "API.MALFORMED_REQUEST")


async def test_head_without_end_is_refused(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\n")
    for number in range(200):
        writer.write(b"x-%d: %s\r\n" % (number, b"y" * 1000))

    status, problem = await read_answer(reader)

    writer.close()
    assert (status, problem["code"]) == (431, "API.HEAD_TOO_LARGE")


async def test_connection_serves_one_request_after_the_other(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(3):
        writer.write(f"POST /v1/batches HTTP/1.1\r\n{HEAD}content-length: 2\r\n\r\n{{}}".encode())
        status, _ = await read_answer(reader)
        assert status == 201
    writer.close()
