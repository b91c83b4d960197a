"""How many jobs per second are claimed and completed if half of them wait for concurrency keys.

As in `statemachine`, at 100 jobs a call: two processes call the real functions, while a real
driver folds and visits gates. Every other job has one of 1,000 keys, with each of which two jobs
run at a time. The reference is the same without keys.
"""

from typing import Any

from benches.filled_arrays import fill_keys
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.runners import Runners
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import Order, audit_findings
from weft.run.home import Home

JOBS = 100_000
KEYS = 1_000
JOBS_OF_KEY = 20
"""At least this number of jobs for each key, with and without one; so a small run has fewer."""
ROUNDS = 3
SIZE = 100
WARM_UP = 2_000
PATIENCE_S = 5.0
"""The driver passes gates that were busy within milliseconds; after this nothing is left."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second with and without keys, and of submissions, medians of the rounds."""
    load, rounds, jobs = load_average(), plan.rounds_of(ROUNDS), plan.jobs_of(JOBS)
    keys = min(KEYS, max(1, jobs // JOBS_OF_KEY))
    progress.begin(2 * rounds + 2)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            runners = Runners(admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"])
            filler = Filler(logins["weft_api"], token)
            async with runners, filler:
                progress.step("start and warm up")
                for number in (keys, 0):
                    await _run(home, runners, filler, min(jobs, WARM_UP), number)
                with_keys, without, submitted = [], [], []
                for number in range(1, rounds + 1):
                    progress.step(f"with {keys:,} keys, round {number}")
                    with_keys.append(await _run(home, runners, filler, jobs, keys))
                    submitted.append(filler.rates[-1])
                    progress.step(f"without keys, round {number}")
                    without.append(await _run(home, runners, filler, jobs, 0))
                progress.step("audit")
                findings = await audit_findings(logins["admin"])
                sizes = {"jobs": jobs, "keys": keys, "rounds": rounds, "processes": runners.count}
                conditions = await conditions_of(
                    logins["admin"], home.path, load_before=load, sizes=sizes
                )
    weft, reference = median_rate(with_keys), median_rate(without)
    return document_of(
        Headline("jobs/s", weft, reference, ratio_of(weft, reference)),
        {
            "submit_rate": median_rate(submitted),
            "rounds": {
                "weft": list(map(round, with_keys)),
                "reference": list(map(round, without)),
            },
            "audit_findings": findings,
        },
        conditions,
    )


async def _run(home: Home, runners: Runners, filler: Filler, jobs: int, keys: int) -> float:
    """Submit jobs and run all of them; return the rate."""
    await fill_keys(filler, jobs, keys)
    await tidy(home.secrets()["admin"])
    order = Order(kind="weft", size=SIZE, patience_s=PATIENCE_S if keys else 0.0)
    done = await runners.run(order)
    n_done = sum(count for _, count in done.calls)
    if n_done != jobs:
        raise BenchFailed(f"only {n_done:,} of {jobs:,} jobs were run")
    return done.rate
