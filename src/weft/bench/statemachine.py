"""How many jobs per second are claimed and completed, beside a bare queue.

Two processes with one connection each call the real functions with the rights of a worker, while a
real driver folds. The reference is one table with two UPDATEs per job, called by the same two
processes on the same server. Jobs sit in groups three deep; billing, history and events are on.

A worker reports the start of a short job together with its end, and the ends that wait together
with its next claim, so the main figure is one call that completes a set and claims the next.
Besides: with a call for each, with a report of its own for every start, and through the store's
classes as the worker's agent uses them (with what Python adds to each job); and the bare queue
with both its UPDATEs in one call.
"""

import asyncio
import os
from statistics import median
from typing import Any

import asyncpg

from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    query,
    ratio_of,
    written,
    written_for,
)
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.process_tree import cpu_s_below
from weft.bench.runners import Runners
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import Kind, Order, audit_findings
from weft.run.home import Home

ROUNDS = 5
JOBS_BY_SIZE = {500: 100_000, 100: 100_000, 20: 40_000}
"""Jobs of one round, by jobs of one call: a second or two of work."""
GROWTH_JOBS = 1_000_000
GROWTH_SIZE = 500
WARM_UP = 2_000
FOLDED_S = 0.7
"""After this the driver has folded what a run left."""
VARIANTS = ("plain", "in_two_calls", "with_start_calls", "with_store_classes")
KINDS: dict[str, Kind] = {"in_two_calls": "weft_in_two", "with_store_classes": "store"}
"""By variant, where it is not the usual one."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second by jobs of one call, and the rates at both ends of a long run."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    jobs_by_size = {size: _whole(plan.jobs_of(jobs), size) for size, jobs in JOBS_BY_SIZE.items()}
    growth_jobs = _whole(round(GROWTH_JOBS * plan.scale), GROWTH_SIZE)
    progress.begin(len(jobs_by_size) * rounds + 4)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            bench = _Bench(home, Filler(logins["weft_api"], token), progress)
            async with bench.runners, bench.filler:
                progress.step("start and warm up")
                await bench.warm_up()
                sizes = [
                    await bench.measure_size(size, jobs, rounds)
                    for size, jobs in jobs_by_size.items()
                ]
                growth = await bench.measure_growth(growth_jobs)
                progress.step("audit")
                findings = await audit_findings(logins["admin"])
                conditions = await conditions_of(
                    logins["admin"],
                    home.path,
                    load_before=load,
                    sizes={
                        "rounds": rounds,
                        "processes": bench.runners.count,
                        "growth_jobs": growth_jobs,
                        **{f"jobs_at_{size}": jobs for size, jobs in jobs_by_size.items()},
                    },
                )
    worst = min(sizes, key=lambda siz: float(siz["ratio"]))
    return document_of(
        Headline("jobs/s", worst["weft"], worst["reference"], worst["ratio"]),
        {
            "sizes": sizes,
            **growth,
            "submit_rate": round(median(bench.filler.rates)),
            "audit_findings": findings,
        },
        conditions,
    )


class _Bench:
    """One server, its runners, and what is measured on them."""

    def __init__(self, home: Home, filler: Filler, progress: BenchProgress) -> None:
        self._admin_dsn = home.secrets()["admin"]
        self._progress = progress
        self.filler = filler
        self._cpu_us: dict[str, list[float]] = {}
        self._each: dict[str, dict[str, float]] = {}
        """What the server wrote for each job in the last round."""
        self.runners = Runners(admin_dsn=self._admin_dsn, worker_dsn=home.secrets()["weft_worker"])

    async def warm_up(self) -> None:
        """Let every connection plan its statements."""
        for kind in ("bare", "bare_in_one"):
            await self._run_bare(100, WARM_UP, kind)
        for variant in VARIANTS:
            await self._run_weft(100, WARM_UP, variant)
        self.filler.rates.clear()

    async def measure_size(self, size: int, jobs: int, rounds: int) -> dict[str, Any]:
        """Return the medians at one size of calls: reference, weft and its variants in turns."""
        bare: list[float] = []
        bare_in_one: list[float] = []
        self._cpu_us.clear()
        weft: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
        for number in range(1, rounds + 1):
            self._progress.step(f"{size} jobs a call, round {number}")
            bare.append(await self._run_bare(size, jobs, "bare"))
            bare_in_one.append(await self._run_bare(size, jobs, "bare_in_one"))
            for variant, rates in weft.items():
                rates.append(await self._run_weft(size, jobs, variant))
        reference, plain = median_rate(bare), median_rate(weft["plain"])
        result: dict[str, Any] = {
            "size": size,
            "weft": plain,
            "reference": reference,
            "ratio": ratio_of(plain, reference),
            "reference_in_one_call": median_rate(bare_in_one),
            "cpu_us": {name: round(median(used), 2) for name, used in self._cpu_us.items()},
            "each": self._each["weft"],
        }
        for variant in VARIANTS[1:]:
            rate = median_rate(weft[variant])
            result[variant] = {"weft": rate, "ratio": ratio_of(rate, reference)}
        rounds_of = {"weft": weft["plain"], "reference": bare}
        return result | {
            "rounds": {name: list(map(round, rates)) for name, rates in rounds_of.items()}
        }

    async def measure_growth(self, jobs: int) -> dict[str, Any]:
        """Return the rates of the first and the last tenth of one run; nothing is tidied in it."""
        self._progress.step(f"submit {jobs} jobs")
        await self.filler.fill(jobs)
        self._progress.step(f"claim and complete {jobs} jobs")
        done = await self.runners.run(Order(kind="weft", size=GROWTH_SIZE))
        first, last = done.rate_between(0.0, 0.1), done.rate_between(0.9, 1.0)
        return {
            "first_tenth": round(first),
            "last_tenth": round(last),
            "last_by_first": ratio_of(last, first),
        }

    async def _run_bare(self, size: int, jobs: int, kind: Kind) -> float:
        await fill_bare(self._admin_dsn, jobs)
        name = "reference" if kind == "bare" else "reference_in_one_call"
        return await self._run(name, jobs, Order(kind=kind, size=size))

    async def _run_weft(self, size: int, jobs: int, variant: str) -> float:
        await self.filler.fill(jobs)
        await tidy(self._admin_dsn)
        order = Order(
            kind=KINDS.get(variant, "weft"),
            size=size,
            start_calls=variant == "with_start_calls",
        )
        return await self._run("weft" if variant == "plain" else variant, jobs, order)

    async def _run(self, name: str, jobs: int, order: Order) -> float:
        """Return the rate; note what all processes used per job, the last fold included."""
        before_s, first = cpu_s_below(os.getpid()), await written(self._admin_dsn)
        done = await self.runners.run(order)
        await asyncio.sleep(FOLDED_S if order.kind in {"weft", "weft_in_two", "store"} else 0)
        used_s = cpu_s_below(os.getpid()) - before_s
        self._each[name] = written_for(first, await written(self._admin_dsn), jobs)
        self._cpu_us.setdefault(name, []).append(used_s / jobs * 1e6)
        return done.rate


async def fill_bare(admin_dsn: str, jobs: int) -> None:
    """Make the bare queue with this number of jobs."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        await connection.execute(query("bare_queue"))
        await connection.copy_records_to_table(
            "queue", schema_name="bare", records=((number, 1, 0) for number in range(1, jobs + 1))
        )
    finally:
        await connection.close()
    await tidy(admin_dsn)


async def tidy(admin_dsn: str) -> None:
    """Give both the same clean start, so that no autovacuum of the other's rows comes."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        await connection.execute("VACUUM (ANALYZE)")
    finally:
        await connection.close()


def _whole(jobs: int, size: int) -> int:
    """Return a number of jobs that is a multiple of what the two runners take in one call each."""
    return max(2, round(jobs / (2 * size))) * 2 * size
