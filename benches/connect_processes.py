"""`/bin/true` by one real worker that is linked, beside a direct one of the same size.

In turns a worker with a login runs a batch, a linked one, and a linked one behind a relay that
holds each byte for a while, both ways. Then so many jobs sleep on the linked one that its memory
can be told for each of them, without that of the jobs' own processes.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final
from urllib.parse import urlsplit

from benches.looking import until
from benches.outside import linked_worker, open_pools, run_many
from benches.process_trees import pids_of_tree
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home, url_of
from weft.client.api import Api

JOBS: Final = 3000
ROUNDS: Final = 3
WARM_UP: Final = 100
SLEEPERS: Final = 125
DELAY_S: Final = 0.01
"""Each way."""
GOALS: Final = {"ratio": 0.95, "delayed_ratio": 0.8, "mb_per_job": 1.0}
WAYS: Final = ("direct", "linked", "delayed")
_MB: Final = 1_000_000
_CHUNK: Final = 1 << 16


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second of each worker, and the memory of a linked one."""
    load, jobs, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    sleepers = max(1, round(SLEEPERS * min(plan.scale, 1.0)))
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    figures: dict[str, Any] = {}
    progress.begin(len(WAYS) * rounds + 2)
    progress.step("start")
    async with AsyncExitStack() as stack:
        home = stack.enter_context(throwaway_home(plan.directory))
        await stack.enter_async_context(running_weft(home))
        client = await stack.enter_async_context(client_of(home))
        await open_pools(home, "linked", "delayed")
        url = url_of(home)
        far = await stack.enter_async_context(delaying(url))
        pid = await stack.enter_async_context(linked_worker(home, url))
        await stack.enter_async_context(linked_worker(home, url, name="delayed", through=far))
        if plan.wants("rates"):
            for way in WAYS:
                await run_many(client, way, WARM_UP)
            for _ in range(rounds):
                for way in WAYS:
                    progress.step(way)
                    rates[way].append(jobs / await run_many(client, way, jobs))
        if plan.wants("memory"):
            progress.step(f"{sleepers} sleeping jobs")
            figures = await _memory(client, pid, sleepers)
        conditions = await conditions_of(
            home.secrets()["admin"],
            home.path,
            load_before=load,
            sizes={"jobs": jobs, "rounds": rounds, "sleepers": sleepers, "delay_s": DELAY_S},
        )
    direct, linked, delayed = (round(median(rates[way] or [0.0]), 1) for way in WAYS)
    return document_of(
        Headline("jobs/s", linked, direct, ratio_of(linked, direct)),
        {
            "goals": GOALS,
            "delayed": delayed,
            "delayed_ratio": ratio_of(delayed, direct),
            "rounds": {way: list(map(round, rates[way])) for way in WAYS},
            **figures,
        },
        conditions,
    )


async def _memory(client: Api, pid: int, count: int) -> dict[str, Any]:
    """Return what agent and spawner take while jobs sleep, in millions of bytes."""
    before = _worker_mb(pid)
    job = {
        "command": ["/bin/sleep", "3600"],
        "count": count,
        "attributes": {"where": "linked"},
        "resources": {"cpu": "10m", "memory": "16Mi"},
    }
    batch = int((await client.create_batch({"jobs": [job]}))["id"])
    await until(client, batch, lambda one: one["n_running"] == count)
    during = _worker_mb(pid)
    await client.cancel_batch(batch)
    return {
        "worker_mb": round(during, 1),
        "mb_per_job": round(during / count, 2),
        "more_mb_per_job": round((during - before) / count, 3),
    }


def _worker_mb(pid: int) -> float:
    """Return the memory of a worker without its jobs; what processes share counts once."""
    n_kib = 0
    for one in pids_of_tree(pid):
        if b"/bin/sleep" in Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0"):
            continue
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                n_kib += int(line.split()[1])
    return n_kib * 1024 / _MB


@asynccontextmanager
async def delaying(url: str) -> AsyncIterator[str]:
    """Give the address of a relay that passes bytes on as late as a long way would."""
    target = urlsplit(url)

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(target.hostname, target.port)
        await asyncio.gather(
            delay(reader, far_writer), delay(far_reader, writer), return_exceptions=True
        )

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def delay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass each piece on after the delay; pieces do not wait for each other."""
    loop = asyncio.get_running_loop()
    while data := await reader.read(_CHUNK):
        loop.call_later(DELAY_S, writer.write, data)
    loop.call_later(DELAY_S, writer.close)
