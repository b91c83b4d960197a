"""2,000 `/bin/true` through a gateway to Slurm, beside as many calls of `sbatch`.

Both go to one Slurm on this host. Queued: Slurm has taken all; ended: all are over, and weft has
recorded that. The calls of `sbatch` follow each other, as a script makes them.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Final

import asyncpg

from benches.outside import worker
from benches.queries import query
from benches.slurm_site import LOOK_S, SlurmSite, slurm_site
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
from weft.client.api import Api
from weft.run.home import Home

JOBS: Final = 2_000
ROUNDS: Final = 1


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs that are queued and ended per second, of both."""
    load, rounds, jobs = load_average(), plan.rounds_of(ROUNDS), plan.jobs_of(JOBS)
    progress.begin(2 * rounds)
    of_weft, of_sbatch = [], []
    with throwaway_home(plan.directory) as home, slurm_site() as site:
        own = {"WEFT_SLURM_CONF": str(site.conf)}
        async with running_weft(home), client_of(home) as client:
            words = ("--worker-name", "hpc", "--runner", "slurm", "--worker-cpu", str(jobs))
            async with worker(home.path, *words, "--worker-memory", "1Ti", **own):
                await _through_weft(home, client, 10)
                for number in range(1, rounds + 1):
                    progress.step(f"weft, round {number}")
                    of_weft.append(await _through_weft(home, client, jobs))
                    progress.step(f"sbatch, round {number}")
                    of_sbatch.append(await _by_sbatch(site, jobs))
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": jobs, "rounds": rounds, "cpus": site.cpus},
            )
    queued, ended = [
        [median_rate([jobs / one[n] for one in both]) for both in (of_weft, of_sbatch)]
        for n in (0, 1)
    ]
    figures: Mapping[str, Any] = {
        "queued_per_s": queued[0],
        "sbatch_queued_per_s": queued[1],
        "queued_ratio": ratio_of(*queued),
    }
    return document_of(
        Headline("jobs/s", ended[0], ended[1], ratio_of(*ended)), figures, conditions
    )


async def _through_weft(home: Home, client: Api, count: int) -> tuple[float, float]:
    """Return the seconds until all are in Slurm, and until all have ended."""
    one = {"command": ["/bin/true"], "executor": "slurm", "count": count}
    resources = {"cpu": 1, "memory": "16Mi"}
    begun = time.perf_counter()
    batch = await client.create_batch({"jobs": [{**one, "resources": resources}]})
    queued = asyncio.ensure_future(_until_queued(home, int(batch["id"])))
    async for _ in client.watch_batch(int(batch["id"])):
        pass
    ended_s = time.perf_counter() - begun
    return await queued - begun, ended_s


async def _until_queued(home: Home, batch: int) -> float:
    connection = await asyncpg.connect(home.secrets()["admin"])
    try:
        while await connection.fetchval(query("not_in_engine"), batch):  # noqa: ASYNC110 (no event)
            await asyncio.sleep(LOOK_S)
        return time.perf_counter()
    finally:
        await connection.close()


async def _by_sbatch(site: SlurmSite, count: int) -> tuple[float, float]:
    begun = time.perf_counter()
    for _ in range(count):
        await site.run(
            "sbatch", "--parsable", "--mem=16M", "--output=/dev/null", "--wrap=/bin/true"
        )
    queued_s = time.perf_counter() - begun
    await site.until_empty()
    return queued_s, time.perf_counter() - begun
