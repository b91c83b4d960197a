"""How long the autoscaler takes to plan a round over 1,000,000 ready jobs.

A round is what the driver's loop does: it reads machines and the head of the queue from the
database, and decides. Here nothing is carried out, so each round plans the same. Half of the jobs
are in arrays, and four users share them. The reference is 250 ms.
"""

import secrets
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Final

import msgspec

from benches.filled_arrays import fill_arrays
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, throwaway_home
from weft.core.pools import Decision, Demand, Flavour, Machine, Pool, decide
from weft.settings import load_settings
from weft.store import DriverStore, open_admin, open_api_store, open_driver_store

JOBS: Final = 1_000_000
USERS: Final = 4
ROUNDS: Final = 50
GOAL_MS: Final = 250.0
POOL: Final = Pool(
    name="default",
    provider="process",
    max_workers=100,
    flavours=(Flavour(name="four", cpu_m=4000, memory_mib=16_384),),
)


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the milliseconds of a round: median, and the longest."""
    load, jobs, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    progress.begin(3)
    with throwaway_home(plan.directory) as home:
        async with (
            running_database(home) as (logins, _),
            open_driver_store(logins["weft_driver"]) as driver,
        ):
            progress.step(f"submit {jobs:,} jobs")
            await _fill(logins["admin"], logins["weft_api"], jobs)
            await tidy(logins["admin"])
            epoch = await driver.try_lead()
            if epoch is None:
                raise BenchFailed("somebody else leads the throw-away database")
            while (await driver.fold_deltas(epoch)).deltas:
                pass
            progress.step(f"{rounds} rounds")
            limit = load_settings(environ={}).autoscale_jobs_max
            took_ms, planned = [], 0
            for _ in range(rounds):
                begun = time.perf_counter()
                planned = len(await _round(driver, epoch, limit))
                took_ms.append((time.perf_counter() - begun) * 1000)
            conditions = await conditions_of(
                logins["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": jobs, "users": USERS, "rounds": rounds, "head_jobs": limit},
            )
    figures = {"p50_ms": round(percentile(took_ms, 50), 2), "max_ms": round(max(took_ms), 2)}
    return document_of(
        Headline("ms", figures["max_ms"], GOAL_MS, ratio_of(GOAL_MS, figures["max_ms"])),
        {**figures, "machines_planned": planned},
        conditions,
    )


async def _round(driver: DriverStore, epoch: int, limit_jobs: int) -> Sequence[Decision]:
    (row,) = await driver.pool_rounds(epoch, limit_jobs=limit_jobs)
    return decide(
        msgspec.convert(row["plan"], Pool),
        msgspec.convert(row["demand"], list[Demand]),
        msgspec.convert(row["machines"], list[Machine]),
    )


async def _fill(admin_dsn: str, api_dsn: str, jobs: int) -> None:
    async with AsyncExitStack() as stack:
        admin = await stack.enter_async_context(open_admin(admin_dsn))
        store = await stack.enter_async_context(open_api_store(api_dsn))
        for number in range(USERS):
            token = secrets.token_urlsafe(32)
            await admin.ensure_local_user(user=f"user{number}", token=token)
            if number == 0:
                caller = await store.authenticate(token)
                if caller is None:
                    raise BenchFailed("the throw-away server does not know its own user")
                await store.save_pools(caller, [POOL])
            own = jobs // USERS + (number < jobs % USERS)
            filler = await stack.enter_async_context(Filler(api_dsn, token))
            await fill_arrays(filler, own, own // 2)
