"""A wire carries, repeats and loses what it should."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cases import cases
from weft_siege.network import SOCKET, Act, DatabaseWire, Wire
from weft_siege.twice import Requests

POST = b"POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody"
STREAM = b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
GET = b"GET /c HTTP/1.1\r\nHost: x\r\n\r\n"


@asynccontextmanager
async def listening(heard: list[bytes]) -> AsyncIterator[int]:
    """Answer each piece with a byte."""

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            heard.append(data)
            writer.write(b"x")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@cases(
    ("sent", "whole"),
    [
        ([POST], [POST]),
        ([POST[:30], POST[30:50], POST[50:] + GET + POST[:9], POST[9:]], [POST, POST]),
        ([GET, POST], [POST]),
        ([STREAM + POST, POST], []),
    ],
)
def test_whole_requests_are_found(sent: list[bytes], whole: list[bytes]) -> None:
    requests = Requests()

    assert [one for data in sent for one in requests.feed(data)] == whole


@cases(("act", "times"), [("", 1), ("slow", 1), ("twice", 2), ("hang", 0), ("cut", 0)])
async def test_wire_does_what_its_act_says(act: Act, times: int) -> None:
    heard: list[bytes] = []
    async with listening(heard) as port:
        wire = Wire("127.0.0.1", port)
        async with wire.carrying():
            reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
            wire.suffer(act)
            writer.write(POST)
            try:
                async with asyncio.timeout(1):
                    answer = await reader.read(2)
            except (TimeoutError, ConnectionError):
                answer = b""
            await asyncio.sleep(0.1)
            writer.close()

    assert (heard, answer) == ([POST] * times, b"x" * bool(times))


async def test_way_to_a_database_is_a_socket_of_its_own(tmp_path: Path) -> None:
    """Its login stays, and it goes where that led."""
    (server := tmp_path / "server").mkdir()
    wire = DatabaseWire(tmp_path / "wire")
    dsn = wire.dsn(f"postgresql://weft_driver:x@/postgres?host={server}")

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        writer.write(await reader.read(4) + b"!")
        writer.close()

    async def heard() -> bytes:
        reader, writer = await asyncio.open_unix_connection(tmp_path / "wire" / SOCKET)
        try:
            writer.write(b"said")
            return await asyncio.wait_for(reader.read(), 20)
        except ConnectionError:
            return b""
        finally:
            writer.close()

    async with await asyncio.start_unix_server(answer, server / SOCKET), wire.carrying():
        assert await heard() == b"said!"
        wire.suffer("cut")
        assert await heard() == b""

    assert dsn.startswith("postgresql://weft_driver:x@/postgres?host=")
    assert dsn.endswith("wire")
