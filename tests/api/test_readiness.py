"""Health is told in time, also while the database stands still."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from api.live import LiveApi
from half_open_wires import half_open_wire

WITHIN_S = 4.0
"""The answer is due after 2 s; the limits of a call and of a new connection are longer."""
LOOKS = 20


@asynccontextmanager
async def standing_still(api: LiveApi) -> AsyncIterator[LiveApi]:
    """Give an api whose database accepts connections, and never says a word."""
    accepted: list[asyncio.StreamWriter] = []

    async def keep(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(writer)

    server = await asyncio.start_server(keep, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        dsn = f"postgresql://weft_api:x@127.0.0.1:{port}/weft?sslmode=disable"
        async with LiveApi(dsn, api.settings) as silent:
            yield silent
        assert len(accepted) < LOOKS
    finally:
        server.close()
        for writer in accepted:
            writer.close()


@asynccontextmanager
async def coming_to_a_stand(api: LiveApi) -> AsyncIterator[LiveApi]:
    """Give an api whose database stops answering on the connections that it has."""
    async with half_open_wire(api.dsn) as wire, LiveApi(wire.dsn, api.settings) as stopped:
        async with stopped.client() as http:
            assert (await http.get("/readyz")).status_code == 200
        await wire.lose()
        yield stopped


@pytest.mark.parametrize("stop", [standing_still, coming_to_a_stand])
async def test_health_of_an_api_whose_database_stands_still(
    stop: Callable[[LiveApi], AbstractAsyncContextManager[LiveApi]], api: LiveApi
) -> None:
    async with stop(api) as stopped, stopped.client() as http:
        for headers in ({}, {"authorization": ""}, {"authorization": "Bearer another"}):
            async with asyncio.timeout(WITHIN_S):
                alive = await http.get("/healthz", headers=headers)
            async with asyncio.timeout(WITHIN_S):
                looks = [http.get("/readyz", headers=headers) for _ in range(LOOKS)]
                ready = await asyncio.gather(*looks)

            assert alive.status_code == 200
            assert {one.status_code for one in ready} == {503}
            assert {one.json()["title"] for one in ready} == {"the database does not answer"}
