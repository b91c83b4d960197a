"""How many statuses per second claims and ends bring, beside the same changes without a lifecycle.

Both are what two processes claim and complete with the real functions, 100 jobs a call, while a
real driver folds. The lifecycle has a status for each state, so that each change of the core
brings one: two for a job.
"""

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
from weft.extensions.lines.rules.setup import parse_setup

JOBS: Final = 50_000
ROUNDS: Final = 5
SIZE: Final = 100
WARM_UP: Final = 2_000
CHANGES: Final = 2
"""Of a job: it starts, and ends."""
GOAL: Final = 0.5
NAME: Final = "bench"
LIFECYCLE: Final = """
[lifecycle.bench]
statuses = ["ready", "started", "done", "broken"]
first = ["ready"]
next = { ready = ["started"], started = ["done", "broken"] }
core = { ready = "ready", started = "running", done = "success", broken = ["failed", "error"] }
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return changes per second of both sides."""
    load, jobs, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    rates: dict[str | None, list[float]] = {None: [], NAME: []}
    progress.begin(2 * rounds + 2)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            runners = Runners(admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"])
            async with filler, runners:
                store, caller = filler.opened
                await store.save_setup(caller, NAME, LIFECYCLE, parse_setup(LIFECYCLE))

                async def run(lifecycle: str | None, count: int) -> float:
                    await filler.fill(count, lifecycle=lifecycle)
                    await tidy(logins["admin"])
                    done = await runners.run(Order(kind="weft", size=SIZE))
                    return CHANGES * done.rate

                progress.step("warm up")
                for lifecycle in rates:
                    await run(lifecycle, WARM_UP)
                for number in range(1, rounds + 1):
                    for lifecycle, found in rates.items():
                        word = "statuses" if lifecycle else "the core alone"
                        progress.step(f"{word}, round {number}")
                        found.append(await run(lifecycle, jobs))
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load,
                sizes={"jobs": jobs, "rounds": rounds, "jobs_a_call": SIZE},
            )  # fmt: skip
    statuses_s, core_s = median_rate(rates[NAME]), median_rate(rates[None])
    return document_of(
        Headline("changes/s", statuses_s, core_s, ratio_of(statuses_s, core_s)),
        {
            "goal": GOAL,
            "by_round": [round(rate) for rate in rates[NAME]],
            "core_by_round": [round(rate) for rate in rates[None]],
            "audit_findings": findings,
        },
        conditions,
    )
