"""How long from a submission to the first instruction of its process, on an idle system.

The job is `date +%s%N`, which says when it ran. Its own start (loading libraries, reading the
locale) counts in weft's figure and in the reference, which is `subprocess.run` of the same.
Before each submission the system has come to rest: the job before it is recorded and folded.
"""

import asyncio
import random
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api

SUBMISSIONS = 500
WARM_UP = 5
GOALS: Mapping[str, float] = {"p50": 5, "p99": 15}
"""How many times as long as `subprocess.run` it may take."""
COMMAND = ["/bin/date", "+%s%N"]
REST_MIN_S, REST_MAX_S = 0.15, 0.25
"""At random, so that nothing with a period of its own is hit at the same moment each time."""
LOOK_S = 0.05
LOOKS_MAX = 200
STEPS = 20
_NS_PER_MS = 1e6


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the milliseconds from submission to start, median and 99th percentile, and how many
    times those of `subprocess.run` they are.
    """
    load, count = load_average(), plan.jobs_of(SUBMISSIONS)
    weft: list[float] = []
    reference: list[float] = []
    progress.begin(min(STEPS, count) + 1)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home), client_of(home) as client:
            progress.step("start and warm up")
            for _ in range(WARM_UP):
                await submit_one(client)
            for number in range(count):
                if number % max(1, count // STEPS) == 0:
                    progress.step(f"submission {number + 1} of {count}")
                weft.append(await submit_one(client))
                reference.append(_run_one())
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load, sizes={"submissions": count}
            )
    figures, of_reference = _figures(weft), _figures(reference)
    times = {name: ratio_of(figures[f"{name}_ms"], of_reference[f"{name}_ms"]) for name in GOALS}
    return document_of(
        Headline("ms", figures, of_reference, ratio_of(of_reference["p50_ms"], figures["p50_ms"])),
        {**figures, "times_as_long": times, "goals": GOALS},
        conditions,
    )


async def submit_one(client: Api) -> float:
    """Return the milliseconds of one submission; afterwards nobody has anything to do."""
    await asyncio.sleep(random.uniform(REST_MIN_S, REST_MAX_S))  # noqa: S311 (spreads, guards nothing)
    begun_ns = time.time_ns()
    batch = await client.create_batch({"jobs": [{"command": COMMAND}]})
    for _ in range(LOOKS_MAX):
        await asyncio.sleep(LOOK_S)  # nobody looks while the job is being started
        # To its end: an answer that is left half read costs the connection.
        outputs = [output async for output in client.outputs(int(batch["id"]), 1, 1)]
        if outputs:
            return (int(outputs[0]["stdout"]) - begun_ns) / _NS_PER_MS
    raise BenchFailed("a job did not end", detail=f"Batch {batch['id']} holds only `date`.")


def _run_one() -> float:
    begun_ns = time.time_ns()
    done = subprocess.run(COMMAND, check=True, capture_output=True)
    return (int(done.stdout) - begun_ns) / _NS_PER_MS


def _figures(values: list[float]) -> dict[str, float]:
    return {f"p{percent}_ms": round(percentile(values, percent), 2) for percent in (50, 99)}
