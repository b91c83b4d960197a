"""How much a claim and a completion cost when jobs are in more groups.

The state machine as in `statemachine`, at 500 jobs a call, with jobs in 1, 3 and 6 groups besides
the root: one of the tree, the others sets. Consecutive jobs sit in the same groups, as those of a
stage do; beside it, to know the other end, no two neighbours do (`scattered`).
"""

from statistics import median
from typing import Any

from benches.layout import Sets
from weft.bench.figures import conditions_of, load_average, median_rate, ratio_of
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.runners import Runners
from weft.bench.statemachine import fill_bare, tidy
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import Order, audit_findings

ROUNDS = 5
JOBS = 100_000
SIZE = 500
WARM_UP = 2_000
BLOCK = 100
"""Neighbours in the same groups."""
PER_JOB = (1, 3, 6)


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second by groups of a job, and of the bare queue."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    jobs = max(2, round(plan.jobs_of(JOBS) / (2 * SIZE))) * 2 * SIZE
    progress.begin(rounds + 2)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            runners = Runners(admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"])
            async with runners, filler:
                progress.step("start and warm up")
                bench = _Bench(logins["admin"], filler, runners)
                await bench.round(WARM_UP)
                bench.rates.clear()
                for number in range(1, rounds + 1):
                    progress.step(f"round {number}")
                    await bench.round(jobs)
                progress.step("audit")
                findings = await audit_findings(logins["admin"])
                conditions = await conditions_of(
                    logins["admin"],
                    home.path,
                    load_before=load,
                    sizes={"rounds": rounds, "jobs": jobs, "jobs_a_call": SIZE, "block": BLOCK},
                )
    return {**bench.figures(), "audit_findings": findings, "conditions": conditions}


class _Bench:
    """Rounds in which each layout has its turn."""

    def __init__(self, admin_dsn: str, filler: Filler, runners: Runners) -> None:
        self._admin_dsn = admin_dsn
        self._filler = filler
        self._runners = runners
        self.rates: dict[str, list[float]] = {}

    async def round(self, jobs: int) -> None:
        """Let the bare queue and each layout do the jobs."""
        await fill_bare(self._admin_dsn, jobs)
        bare = await self._runners.run(Order(kind="bare", size=SIZE))
        self._note("reference", bare.rate)
        for block, suffix in ((BLOCK, ""), (1, "_scattered")):
            for per_job in PER_JOB:
                await self._filler.fill(jobs, Sets(per_job, block))
                await tidy(self._admin_dsn)
                done = await self._runners.run(Order(kind="weft", size=SIZE))
                self._note(f"{per_job}{suffix}", done.rate)

    def _note(self, name: str, rate: float) -> None:
        self.rates.setdefault(name, []).append(rate)

    def figures(self) -> dict[str, Any]:
        """Return the medians and their ratios."""
        rate = {name: median_rate(rates) for name, rates in self.rates.items()}
        return {
            "unit": "jobs/s",
            "weft": rate["3"],
            "reference": rate["reference"],
            "ratio": ratio_of(rate["3"], rate["reference"]),
            "six_by_three": ratio_of(rate["6"], rate["3"]),
            "by_groups": {name: found for name, found in rate.items() if name != "reference"},
            "submit_rate": round(median(self._filler.rates)),
            "rounds": {name: list(map(round, rates)) for name, rates in self.rates.items()},
        }
