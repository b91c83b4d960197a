"""How many simulated jobs without a step end per second, and how long 10,000 sleep for a second.

They hold no process, so all sleep at once. The reference of the first is the goal of 3,000 a
second; that of the second is the second that they sleep.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

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

SLEEPERS: Final = 10_000
EMPTY: Final = 1_000
ROUNDS: Final = 3
SLEEP_S: Final = 1.0
GOAL: Final = 3_000
_SLEEP: Final = {"action": "SLEEP", "durationMs": round(SLEEP_S * 1000)}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return empty jobs per second, and the seconds of all that sleep."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    sleepers, empty = plan.jobs_of(SLEEPERS), plan.jobs_of(EMPTY)
    rates: list[float] = []
    slept_s: list[float] = []
    progress.begin(2 * rounds)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home), client_of(home) as client:
            for number in range(1, rounds + 1):
                progress.step(f"without a step, round {number}")
                rates.append(empty / await _run(client, [], empty))
                progress.step(f"asleep, round {number}")
                slept_s.append(await _run(client, [_SLEEP], sleepers))
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={"sleepers": sleepers, "empty": empty, "rounds": rounds},
            )
    rate = median_rate(rates)
    return document_of(
        Headline("jobs/s", rate, GOAL, ratio_of(rate, GOAL)),
        {"asleep_s": round(sorted(slept_s)[len(slept_s) // 2], 2), "sleep_s": SLEEP_S},
        conditions,
    )


async def _run(client: Api, steps: Sequence[Mapping[str, Any]], count: int) -> float:
    """Return the seconds from the commit of an array until all of it has ended."""
    jobs = [{"simulation": {"steps": steps}, "count": count}]
    batch = await client.create_batch({"jobs": jobs})
    begun = time.perf_counter()
    async for _ in client.watch_batch(int(batch["id"])):
        pass
    return time.perf_counter() - begun
