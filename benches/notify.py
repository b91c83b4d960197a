"""How many jobs with three subscriptions end per second, beside jobs with none.

Both are submitted by the door of Agave, one a request, and run for real. A listener in this
process takes what the subscriptions are told; the next round waits until it has all of it.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg
import httpx

from benches.agave_app import app_folder, http_client
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home

JOBS: Final = 20_000
ROUNDS: Final = 3
CLIENTS: Final = 8
GOAL: Final = 0.95
LOOK_S: Final = 0.1
_EVENTS: Final = ("RUNNING", "FINISHED", "*")
_ENDED: Final = "SELECT count(*) FROM weft.attempt WHERE ended_at IS NOT NULL"


class Listener:
    """Counts the requests of subscriptions, and answers that they have come."""

    def __init__(self) -> None:
        self.count = 0
        self.url = ""

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of a connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                sizes = [line for line in head.lower().split(b"\r\n") if b"content-length" in line]
                await reader.readexactly(int(sizes[0].partition(b":")[2]))
                self.count += 1
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """Give a listener."""
    listener = Listener()
    server = await asyncio.start_server(listener.take, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()[:2]
        listener.url = f"http://{host}:{port}/"
        yield listener


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second of both sides, and how long the listener waited for the last."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    rates: dict[int, list[float]] = {0: [], len(_EVENTS): []}
    told_s: list[float] = []
    progress.begin(2 * rounds)
    with throwaway_home(plan.directory) as home:
        (home.path / "weft.toml").write_text('callback_private_hosts = "127.0.0.1"\n')
        async with running_weft(home), listening() as listener, http_client(home) as http:
            async with client_of(home) as client:
                await client.add_app(app_folder(home.path))
            database = await asyncpg.connect(home.secrets()["admin"])
            for number in range(1, rounds + 1):
                for n_told, found in rates.items():
                    progress.step(f"{n_told} subscriptions, round {number}")
                    found.append(await _run(http, database, count, listener.url, n_told))
                    if n_told:
                        told_s.append(await _told(listener, number * count * n_told))
            await database.close()
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": count, "rounds": rounds, "clients": CLIENTS},
            )
    told, plain = (median_rate(rates[n]) for n in (len(_EVENTS), 0))
    return document_of(
        Headline("jobs/s", told, plain, ratio_of(told, plain)),
        {"told_s": round(max(told_s), 2), "goal": GOAL},
        conditions,
    )


async def _run(
    http: httpx.AsyncClient, database: "asyncpg.Connection[Any]", count: int, url: str, n_told: int
) -> float:
    """Submit jobs and wait until they have ended; return how many a second."""
    told = [{"url": url, "event": event} for event in _EVENTS[:n_told]]
    document = {"name": "bench", "appId": "bench-1.0", "archive": False, "notifications": told}
    before, left = await database.fetchval(_ENDED), iter(range(count))

    async def submit_some() -> None:
        for _ in left:
            (await http.post("/jobs/v2", json=document)).raise_for_status()

    begun = time.perf_counter()
    await asyncio.gather(*(submit_some() for _ in range(CLIENTS)))
    while True:
        if await database.fetchval(_ENDED) >= before + count:
            return count / (time.perf_counter() - begun)
        await asyncio.sleep(LOOK_S)


async def _told(listener: Listener, count: int) -> float:
    """Return the seconds until the listener has been told so often in all."""
    begun = time.perf_counter()
    while True:
        if listener.count >= count:
            return time.perf_counter() - begun
        await asyncio.sleep(LOOK_S)
