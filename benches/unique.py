"""Submissions with a key (`unique`) beside submissions without, among 1,000,000 keys.

Batches of one job are submitted by the api's function, one after the other, in turns with a new
key and without. The batches that hold the keys are made in the tables, without jobs.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import asyncpg

from benches.queries import query
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.filled_batch import SHAPE, TRACE_ID, Filler, NestedGroups
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.ports.store import NewBatch, Origin
from weft.wire.keys import Unique

KEYS: Final = 1_000_000
SUBMISSIONS: Final = 500
"""Of each kind in a round."""
ROUNDS: Final = 9
GOAL: Final = 0.9


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return submissions per second of both kinds."""
    load, keys, rounds = load_average(), plan.jobs_of(KEYS), plan.rounds_of(ROUNDS)
    rates: Mapping[bool, list[float]] = {True: [], False: []}
    progress.begin(rounds + 2)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            async with Filler(logins["weft_api"], token) as filler:
                progress.step("warm up")
                batch = await _submit(filler, None)
                await _submit(filler, "warm-up")
                progress.step(f"{keys:,} keys")
                await _hold(logins["admin"], batch, keys)
                for number in range(1, rounds + 1):
                    progress.step(f"round {number}")
                    for has_key in (True, False) if number % 2 else (False, True):
                        begun = time.perf_counter()
                        for n in range(SUBMISSIONS):
                            await _submit(filler, f"new-{number}-{n}" if has_key else None)
                        rates[has_key].append(SUBMISSIONS / (time.perf_counter() - begun))
            conditions = await conditions_of(
                logins["admin"],
                home.path,
                load_before=load,
                sizes={"keys": keys, "rounds": rounds, "submissions": SUBMISSIONS},
            )
    with_key, without = (median_rate(rates[has_key]) for has_key in (True, False))
    return document_of(
        Headline("submissions/s", with_key, without, ratio_of(with_key, without)),
        {
            "goal": GOAL,
            "by_round": [round(rate) for rate in rates[True]],
            "without_by_round": [round(rate) for rate in rates[False]],
        },
        conditions,
    )


async def _submit(filler: Filler, key: str | None) -> int:
    store, caller = filler.opened
    (bunch,) = filler.bunches(1, 1, NestedGroups(deep=0))
    unique = None if key is None else Unique(key=key)
    new = NewBatch(name="bench", unique=unique)
    rows = replace(bunch, shapes=[SHAPE])
    batch, *_ = await store.submit(caller, new, [], rows, Origin(trace_id=TRACE_ID))
    return batch


async def _hold(admin_dsn: str, batch: int, keys: int) -> None:
    connection = await asyncpg.connect(admin_dsn)
    try:
        await connection.execute(query("many_keys"), batch, keys)
        await connection.execute("VACUUM ANALYZE weft.batch")
    finally:
        await connection.close()
