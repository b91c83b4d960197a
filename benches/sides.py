"""Two sides that the same two processes claim and complete in turns, beside a real driver."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.runners import Runners
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import Order, audit_findings

SIZE: Final = 100
"""Jobs a call."""
WARM_UP: Final = 2_000
Fill = Callable[[Filler, bool, int], Awaitable[object]]
"""Makes this number of jobs of a side: the one that is measured (true), or the reference."""


async def measure_sides(
    plan: BenchPlan,
    progress: BenchProgress,
    fill: Fill,
    *,
    jobs: int,
    rounds: int,
    goal: float,
    words: tuple[str, str],
    reference: str,
    unit: str = "jobs/s",
    of_job: int = 1,
) -> dict[str, Any]:
    """Return how many per second of both. `words`: what both are called while they run;
    `reference`: the other one's figures are `…_by_round`; `of_job`: how many a job counts.
    """
    load, jobs, rounds = load_average(), plan.jobs_of(jobs), plan.rounds_of(rounds)
    rates: dict[bool, list[float]] = {True: [], False: []}
    progress.begin(2 * rounds + 2)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            runners = Runners(admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"])
            async with filler, runners:

                async def run(side: bool, count: int) -> float:  # noqa: FBT001 (as `Fill`)
                    await fill(filler, side, count)
                    await tidy(logins["admin"])
                    return of_job * (await runners.run(Order(kind="weft", size=SIZE))).rate

                progress.step("warm up")
                for side in rates:
                    await run(side, WARM_UP)
                for number in range(1, rounds + 1):
                    for side, found in rates.items():
                        progress.step(f"{words[not side]}, round {number}")
                        found.append(await run(side, jobs))
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            conditions = await conditions_of(
                logins["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": jobs, "rounds": rounds, "jobs_a_call": SIZE},
            )
    measured, beside = median_rate(rates[True]), median_rate(rates[False])
    return document_of(
        Headline(unit, measured, beside, ratio_of(measured, beside)),
        {
            "goal": goal,
            "by_round": [round(rate) for rate in rates[True]],
            f"{reference}_by_round": [round(rate) for rate in rates[False]],
            "audit_findings": findings,
        },
        conditions,
    )
