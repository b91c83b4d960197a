"""How long the commit of an update of 1,000,000 jobs takes, beside one of 1,000.

Half of the jobs come as arrays, the other half in bunches of 10,000. A commit makes all of them
visible and runnable, and should not depend on their number: the reference is the commit of a
small update, and `--scale 16` measures 16,000,000 jobs. The real driver folds beside it.
"""

from statistics import median
from typing import Any

from benches.filled_arrays import fill_arrays
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, running_driver, throwaway_home

JOBS = 1_000_000
FEW = 1_000
ROUNDS = 3


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the milliseconds of the commits, medians over the rounds."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    times: dict[str, list[float]] = {"reference": [], "weft": []}
    rates: list[float] = []
    progress.begin(rounds + 1)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            async with Filler(logins["weft_api"], token) as filler:
                progress.step("start and warm up")
                await filler.fill(FEW)
                for number in range(1, rounds + 1):
                    progress.step(f"{count:,} jobs, round {number}")
                    for name, jobs in (("reference", FEW), ("weft", count)):
                        await fill_arrays(filler, jobs, jobs // 2)
                        times[name].append(filler.commit_ms[-1])
                    rates.append(filler.rates[-1])
            sizes = {"jobs": count, "few": FEW, "rounds": rounds}
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )
    weft, reference = median(times["weft"]), median(times["reference"])
    return document_of(
        Headline("ms", round(weft, 2), round(reference, 2), ratio_of(reference, weft)),
        {
            "commit_ms": round(weft, 2),
            "commit_max_ms": round(max(times["weft"]), 2),
            "submit_rate": round(median(rates)),
            "rounds": {name: [round(one, 2) for one in found] for name, found in times.items()},
        },
        conditions,
    )
