"""What each function of the database takes of claiming and completing a plain job.

The server counts and times its functions (`track_functions`), which it does for no other bench:
the time of the whole grows by that, so the shares are what to read. Statements of a function
written in SQL that the planner takes into its caller's are the caller's.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import asyncpg

from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.runners import Runners
from weft.bench.statemachine import WARM_UP, tidy
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import Order

JOBS: Final = 100_000
SIZE: Final = 100
"""Jobs of a call."""
SHOWN: Final = 30
COSTS: Final = """
SELECT funcname AS name, calls, self_time AS self_ms FROM pg_stat_user_functions
WHERE schemaname = 'weft' ORDER BY self_time DESC
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second with and without the count, and microseconds a job by function."""
    load, jobs = load_average(), plan.jobs_of(JOBS)
    progress.begin(3)
    rates: dict[bool, float] = {}
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            for is_counted in (False, True):
                progress.step(f"{jobs:,} jobs{', each function counted' * is_counted}")
                kind = "all" if is_counted else "none"
                await _tell(logins["admin"], f"ALTER SYSTEM SET track_functions = '{kind}'")
                rates[is_counted] = await _rate(logins, token, jobs)
            progress.step("read the counts")
            functions = await _functions(logins["admin"], jobs)
            sizes = {"jobs": jobs, "size": SIZE}
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )
    counted, alone = (round(rates[one]) for one in (True, False))
    return document_of(
        Headline("jobs/s", counted, alone, ratio_of(counted, alone)),
        {"functions": functions, "us": round(sum(one["us"] for one in functions), 2)},
        conditions,
    )


async def _rate(logins: Mapping[str, str], token: str, jobs: int) -> float:
    """Return how many jobs a second new processes claim and complete; the counts are of these."""
    admin = logins["admin"]
    order = Order(kind="weft", size=SIZE)
    async with Runners(admin_dsn=admin, worker_dsn=logins["weft_worker"]) as runners:
        # A session tells its counts at its end at the latest; those of this one are reset.
        async with Filler(logins["weft_api"], token) as filler:
            await filler.fill(WARM_UP)
            await runners.run(order)
            await filler.fill(jobs)
        await tidy(admin)
        await _tell(admin, "SELECT pg_stat_reset()")
        return (await runners.run(order)).rate


async def _functions(admin: str, jobs: int) -> Sequence[Mapping[str, Any]]:
    """Return for those that took most how often each is called beside a set of jobs, and its own
    time for each job.
    """
    connection = await asyncpg.connect(admin)
    try:
        rows = await connection.fetch(COSTS)
    finally:
        await connection.close()
    return [
        {
            "name": row["name"],
            "calls": round(row["calls"] / jobs * SIZE, 2),
            "us": round(row["self_ms"] * 1000 / jobs, 2),
        }
        for row in rows[:SHOWN]
    ]


async def _tell(admin: str, statement: str) -> None:
    connection = await asyncpg.connect(admin)
    try:
        await connection.execute(statement)
        await connection.execute("SELECT pg_reload_conf()")
    finally:
        await connection.close()
