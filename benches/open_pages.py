"""What 200 open pages cost: beside a quiet system, and beside 2,000 small processes a second.

The pages are those of `benches.readers`: each follows events and reads itself again.
"""

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx

from benches.sessions import Session, log_in
from weft.bench.figures import median_rate, ratio_of
from weft.bench.plan import BenchFailed
from weft.bench.process_tree import ROLES, cpu_s_below, use_by_role
from weft.bench.processes import WARM_UP, run_batch
from weft.bench.throwaway import client_of, url_of
from weft.run.home import Home

OPEN_PAGES = 200
PATHS = ("/ui", "/ui/batches", "/ui/batches/1", "/ui/workers")
ROUNDS = 3
JOBS = 10_000
READY_S = 120.0


@dataclass
class Readers:
    """What the readers did, once they have ended."""

    n_read: int = 0
    cpu_s: float = field(default=0.0)
    """Of the readers, which in real life are browsers elsewhere."""


async def quiet_cores(session: Session, window_s: float) -> float:
    """Return how much of a core open pages take beside none while nothing happens."""

    async def used() -> float:
        begin = cpu_s_below(os.getpid())
        await asyncio.sleep(window_s)
        return cpu_s_below(os.getpid()) - begin

    before = await used()
    async with open_pages(session):
        beside = await used()
    return round((beside - before) / window_s, 4)


async def rates(home: Home, up_pid: int, jobs: int, rounds: int) -> dict[str, object]:
    """Return jobs per second with and without open pages, in turns, and the CPU time for each."""
    without: list[float] = []
    beside: list[float] = []
    cpu: dict[str, dict[str, float]] = {"without": {}, "beside": {}}
    n_read, cpu_s = 0, 0.0

    async def run(rate: list[float], cpu: dict[str, float]) -> None:
        before = _cpu_s(home, up_pid)
        rate.append(jobs / (await run_batch(client, jobs))[1])
        for role, used in _cpu_s(home, up_pid).items():
            cpu[role] = cpu.get(role, 0.0) + used - before[role]

    async with client_of(home) as client, httpx.AsyncClient(base_url=url_of(home)) as http:
        session = await log_in(http, home.token())
        await run_batch(client, min(jobs, WARM_UP))
        for _ in range(rounds):
            await run(without, cpu["without"])
            async with open_pages(session) as readers:
                await run(beside, cpu["beside"])
            n_read, cpu_s = n_read + readers.n_read, cpu_s + readers.cpu_s
    return {
        "jobs_rate": median_rate(beside),
        "jobs_rate_without": median_rate(without),
        "jobs_rate_ratio": ratio_of(median_rate(beside), median_rate(without)),
        "pages_read_again": n_read,
        "readers_cpu_s": round(cpu_s, 2),
        "cpu_us": {
            name: {role: round(s / (jobs * rounds) * 1e6, 1) for role, s in used.items()}
            for name, used in cpu.items()
        },
        "rounds_of_jobs": {
            "beside": list(map(round, beside)),
            "without": list(map(round, without)),
        },
    }


def _cpu_s(home: Home, up_pid: int) -> Mapping[str, float]:
    """Return the time that each role has used until now; processes of jobs count in the worker."""
    used = use_by_role(home, up_pid)
    return {role: used[role].cpu_s for role in ROLES}


@contextlib.asynccontextmanager
async def open_pages(session: Session, paths: Sequence[str] = PATHS) -> AsyncIterator[Readers]:
    """Keep pages open."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "benches.readers",
        session.url,
        session.cookie,
        str(OPEN_PAGES),
        *paths,
        stdin=PIPE,
        stdout=PIPE,
    )
    readers = Readers()
    try:
        assert process.stdout is not None
        async with asyncio.timeout(READY_S):
            if await process.stdout.readline() != b"ready\n":
                raise BenchFailed("the pages could not be opened")
        yield readers
        said, _ = await process.communicate(b"")
        n_read, cpu_s = said.split()
        readers.n_read, readers.cpu_s = int(n_read), float(cpu_s)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
