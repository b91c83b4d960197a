"""Ends of 100,000 parents of which a share must succeed, beside parents that all must.

Two processes claim and complete the parents with the real functions, 100 jobs a call, while a
real driver folds. Each of them is a parent of one child, which waits for 95 % of them or for all.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.filled_batch import NESTED, Filler
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.runners import Runners
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import Order, audit_findings
from weft.core.states import SHARE_NEED
from weft.ports.store import JobRows

JOBS: Final = 100_000
ROUNDS: Final = 3
SIZE: Final = 100
WARM_UP: Final = 2_000
GOAL: Final = 0.9
SHARE: Final = SHARE_NEED - 95


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return ends per second of both kinds of parents."""
    load, jobs, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    rates: dict[int, list[float]] = {SHARE: [], 1: []}
    progress.begin(2 * rounds + 2)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            runners = Runners(admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"])
            async with filler, runners:

                async def run(need: int, count: int) -> float:
                    await filler.fill(count + 1, rows=_rows(filler, count + 1, need))
                    await tidy(logins["admin"])
                    return (await runners.run(Order(kind="weft", size=SIZE))).rate

                progress.step("warm up")
                for need in rates:
                    await run(need, WARM_UP)
                for number in range(1, rounds + 1):
                    for need, found in rates.items():
                        word = "all" if need == 1 else "a share"
                        progress.step(f"{word}, round {number}")
                        found.append(await run(need, jobs))
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load,
                sizes={"jobs": jobs, "rounds": rounds, "jobs_a_call": SIZE},
            )  # fmt: skip
    share, every = median_rate(rates[SHARE]), median_rate(rates[1])
    return document_of(
        Headline("jobs/s", share, every, ratio_of(share, every)),
        {
            "goal": GOAL,
            "by_round": [round(rate) for rate in rates[SHARE]],
            "all_by_round": [round(rate) for rate in rates[1]],
            "audit_findings": findings,
        },
        conditions,
    )


def _rows(filler: Filler, child: int, need: int) -> Iterator[JobRows]:
    """Yield single jobs; all but the last are parents of that."""
    for bunch in filler.bunches(1, child, NESTED):
        if bunch.first_job + bunch.n_jobs > child:
            parents = range(1, child)
            yield replace(
                bunch,
                edge_child=[child] * len(parents),
                edge_parent=[*parents],
                edge_parent_n=[need] * len(parents),
            )
        else:
            yield bunch
