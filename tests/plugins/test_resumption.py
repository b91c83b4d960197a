"""Transfers whose connection breaks, from real servers: each goes on with what it began, or says
that it must begin again; none is put together of two versions.
"""

from collections.abc import AsyncIterator, Callable

import pytest

from breaking_server import BEGINS_AGAIN, GOES_ON, OLD, Answer, BreakingServer, tag
from weft.core.addresses import parse_allowed_hosts
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.web import WebFiles
from weft.ports.file_store import NotResumable

Read = Callable[[str], AsyncIterator[bytes]]
CARRIER = HttpCarrier(parse_allowed_hosts("127.0.0.1"), 10)
READERS: dict[str, Read] = {"web": WebFiles(CARRIER).read, "object": CARRIER.read}
readers = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


async def fetched(read: Read, server: BreakingServer) -> bytes:
    return b"".join([piece async for piece in read(f"{server.url}/a")])


@readers
@pytest.mark.parametrize("answer", GOES_ON.values(), ids=GOES_ON)
async def test_rest_of_the_same_file_is_taken(read: Read, answer: Answer) -> None:
    async with BreakingServer(answer).running() as server:
        assert await fetched(read, server) == OLD
    assert f"{tag(OLD)}\r\n" in server.heads[1]  # in a condition


@readers
@pytest.mark.parametrize("answer", BEGINS_AGAIN.values(), ids=BEGINS_AGAIN)
async def test_no_rest_of_another_file_is_taken(read: Read, answer: Answer) -> None:
    async with BreakingServer(answer).running() as server:
        with pytest.raises(NotResumable):
            await fetched(read, server)
    assert len(server.heads) == 2


@readers
@pytest.mark.parametrize("version", ["", f"W/{tag(OLD)}"], ids=["no ETag", "weak ETag"])
async def test_file_without_a_version_does_not_go_on(read: Read, version: str) -> None:
    async with BreakingServer(GOES_ON["206"], version=version).running() as server:
        with pytest.raises(NotResumable):
            await fetched(read, server)
    assert len(server.heads) == 1


async def test_read_from_a_position_goes_on_behind_it() -> None:
    """As the server reads what jobs left in stores."""
    for name, answer in GOES_ON.items():
        async with BreakingServer(answer).running() as server:
            server.heads.append("")  # the first answer does not break
            pieces = CARRIER.read(f"{server.url}/a", 5000)
            assert b"".join([piece async for piece in pieces]) == OLD[5000:], name
