"""How many small processes per second, beside `xargs`.

A real `weft up` with all its processes and the public client; from the first request until the
batch is complete in the database, output kept and every commit durable. One round is one batch,
then the same number of processes by xargs.
"""

import asyncio
import resource
import time
from typing import Any

from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
    written,
    written_for,
)
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.process_tree import use_by_role
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api
from weft.run.home import Home

JOBS = 20_000
ROUNDS = 3
WARM_UP = 200
REST_S = 1.0
"""Pause between a round and its reference, so that the rest of one is not the other's load."""
PROGRAM = "/bin/true"


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second of weft and of xargs, medians over the rounds."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    each = plan.jobs_of(JOBS)
    weft: list[float] = []
    submit_s: list[float] = []
    reference: list[float] = []
    progress.begin(2 * rounds + 1)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home) as up_pid, client_of(home) as client:
            progress.step("start and warm up")
            await run_batch(client, min(each, WARM_UP))
            await _run_xargs(min(each, WARM_UP))
            before = _cpu_s(home, up_pid)
            first = await written(home.secrets()["admin"])
            for number in range(1, rounds + 1):
                await asyncio.sleep(REST_S)
                progress.step(f"weft, round {number}")
                sent_s, took_s = await run_batch(client, each)
                weft.append(each / took_s)
                submit_s.append(sent_s)
                await asyncio.sleep(REST_S)
                progress.step(f"xargs, round {number}")
                reference.append(each / await _run_xargs(each))
            await asyncio.sleep(REST_S)
            after = _cpu_s(home, up_pid)
            last = await written(home.secrets()["admin"])
            sizes = {"jobs": each, "rounds": rounds}
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load, sizes=sizes
            )
    return document_of(
        Headline(
            "jobs/s",
            median_rate(weft),
            median_rate(reference),
            ratio_of(median_rate(weft), median_rate(reference)),
        ),
        {
            "submit_s": round(sum(submit_s) / rounds, 3),
            "cpu_us": {
                name: round((after[name] - before[name]) / (each * rounds) * 1e6, 1)
                for name in after
            },
            "each": written_for(first, last, each * rounds),
            "rounds": {"weft": list(map(round, weft)), "reference": list(map(round, reference))},
        },
        conditions,
    )


def _cpu_s(home: Home, up_pid: int) -> dict[str, float]:
    """Return the time that each role, the client and the reference have used until now.

    Processes of jobs count in the worker, those of xargs in the reference.
    """
    by_role = {role: use.cpu_s for role, use in use_by_role(home, up_pid).items()}
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        **by_role,
        "client": time.process_time(),
        "weft": sum(by_role.values()) + time.process_time(),
        "reference": of_children.ru_utime + of_children.ru_stime,
    }


async def run_batch(client: Api, count: int) -> tuple[float, float]:
    """Return the seconds until the batch was committed, and until it was complete."""
    begun = time.perf_counter()
    created = await client.submit({"name": "bench", "jobs": [{"command": [PROGRAM]}] * count})
    sent = time.perf_counter()
    succeeded = 0
    async for batch in client.watch_batch(int(created["id"])):
        succeeded = batch["n_succeeded"]
    ended = time.perf_counter()
    if succeeded != count:
        raise BenchFailed("a job failed", detail=f"{succeeded} of {count} succeeded.")
    return sent - begun, ended - begun


async def _run_xargs(count: int) -> float:
    """Return the seconds that the same number of processes takes without weft."""
    begun = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", f'seq {count} | xargs -P"$(nproc)" -n1 {PROGRAM}'
    )
    try:
        code = await process.wait()
    except BaseException:
        process.kill()
        raise
    if code:
        raise BenchFailed("the reference failed", detail=f"xargs ended with {code}.")
    return time.perf_counter() - begun
