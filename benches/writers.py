"""Whether processes that complete jobs of the same group wait for each other.

Four processes with one connection each claim and complete, as in `statemachine`: once all jobs sit
in one group, once consecutive sets of them sit in four, so that the processes write to counters of
different groups as a rule. Each group stands below the root, which counts all jobs in both.
"""

from typing import Any

from benches.layout import Sets
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

JOBS = 100_000
ROUNDS = 5
SIZE = 100
"""Jobs a call, and neighbours in the same group."""
WARM_UP = 2_000
PROCESSES = 4
LAYOUTS = {"weft": Sets(1, SIZE, choices=1), "reference": Sets(1, SIZE, choices=PROCESSES)}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second in one group and in four."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    a_turn = SIZE * PROCESSES
    jobs = max(1, round(plan.jobs_of(JOBS) / a_turn)) * a_turn
    rates: dict[str, list[float]] = {name: [] for name in LAYOUTS}
    progress.begin(rounds + 2)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            runners = Runners(
                admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"], count=PROCESSES
            )

            async def run(name: str, jobs: int) -> float:
                await filler.fill(jobs, LAYOUTS[name])
                await tidy(logins["admin"])
                return (await runners.run(Order(kind="weft", size=SIZE))).rate

            async with runners, filler:
                progress.step("start and warm up")
                for name in LAYOUTS:
                    await run(name, WARM_UP)
                for number in range(1, rounds + 1):
                    progress.step(f"round {number}")
                    for name, found in rates.items():
                        found.append(await run(name, jobs))
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            sizes = {"rounds": rounds, "jobs": jobs, "jobs_a_call": SIZE, "processes": PROCESSES}
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )
    weft, reference = median_rate(rates["weft"]), median_rate(rates["reference"])
    return document_of(
        Headline("jobs/s", weft, reference, ratio_of(weft, reference)),
        {
            "rounds": {name: list(map(round, found)) for name, found in rates.items()},
            "audit_findings": findings,
        },
        conditions,
    )
