"""20,000 jobs through one pilot in Slurm, beside a worker outside that Slurm knows nothing of.

Besides, `srun` runs a thirtieth as many of them in an allocation of as many cores, one after
another. All on one host; pilot and worker reach the api over the link, with the same cores.
"""

import asyncio
import json
import sys
import time
from socket import socket
from typing import Any, Final

from benches.outside import LOOK_S, linked_worker, open_pools, run_many, weft
from benches.slurm_site import SlurmSite, slurm_site
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home, url_of
from weft.client.api import Api
from weft.run.home import Home

JOBS: Final = 20_000
SRUN_PART: Final = 30
CORES: Final = 2
_POOL: Final = """[[pool]]
name = "pilots"
provider = "slurm"
max_workers = 1
idle_s = 5
[pool.options]
program = "{program}"
[[pool.flavours]]
name = "node"
cpu = {cores}
memory = "4Gi"
walltime_s = 7200
[[pool]]
name = "linked"
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second in a pilot, of a linked worker, and by srun."""
    load, jobs = load_average(), plan.jobs_of(JOBS)
    n_srun = max(10, jobs // SRUN_PART)
    progress.begin(3)
    with throwaway_home(plan.directory) as home, slurm_site() as site, socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        free.close()
        own = {
            "WEFT_SLURM_CONF": str(site.conf),
            "WEFT_SLURM_DIRECTORY": str(home.path / "shared"),
            "WEFT_SLURM_CONNECT": f"http://127.0.0.1:{port}",
            "WEFT_AUTOSCALE_S": "1",
        }
        async with running_weft(home, port=port, **own), client_of(home) as client:
            await _set_up(home)
            progress.step("a linked worker")
            async with linked_worker(home, url_of(home), cores=CORES):
                linked = await _rate(client, "linked", jobs)
            progress.step("a pilot")
            pilot = await _rate(client, "pilots", jobs)
            progress.step("srun")
            srun = await _by_srun(site, n_srun)
            await _until_gone(home)
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": jobs, "srun": n_srun, "cores": CORES},
            )
    return document_of(
        Headline("jobs/s", round(pilot), round(linked), ratio_of(pilot, linked)),
        {"srun_per_s": round(srun, 1), "srun_ratio": ratio_of(pilot, srun)},
        conditions,
    )


async def _set_up(home: Home) -> None:
    program = home.path / "program"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m weft.cli "$@"\n')
    program.chmod(0o755)
    text = _POOL.format(program=program, cores=CORES)
    await open_pools(home, "pilots", "linked", text=text)


async def _rate(client: Api, where: str, count: int) -> float:
    """Return jobs per second from the first one's end on: a pilot takes its time to begin."""
    await run_many(client, where, 10)
    return count / await run_many(client, where, count)


async def _until_gone(home: Home) -> None:
    """Wait until the pool has ended its pilot: the spawner of one that is killed would stay."""
    while json.loads(  # noqa: ASYNC110 (Slurm tells nobody)
        await weft(home, "pool", "show", "pilots", "--json")
    )["machine_list"]:
        await asyncio.sleep(LOOK_S)


async def _by_srun(site: SlurmSite, count: int) -> float:
    begun = time.perf_counter()
    lines = f"for i in $(seq {count}); do srun -n1 /bin/true; done"
    await site.run("salloc", "-Q", f"-n{CORES}", "sh", "-c", lines)
    return count / (time.perf_counter() - begun)
