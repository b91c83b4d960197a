"""How far a billing project with 1,000 running jobs exceeds its hard limit.

A real `weft up` runs 1,000 long processes, and others that begin and end all the time. The project
gets a limit that it reaches a few looks of the driver (setting `spending_interval_s`, the tick)
later; then it is paused. `weft` is what it has spent beyond the limit when nothing of it runs any
more, the reference what all that ran costs in one tick. `started_after` counts attempts that began
more than 100 ms after the pause. Then the limit is taken away, and all goes on.
"""

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import asyncpg

from benches.looking import until
from benches.queries import query
from weft.bench.figures import Headline, conditions_of, document_of, load_average
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.bench.turns import audit_findings
from weft.client.api import Api
from weft.settings import load_settings

JOBS: Final = 1000
ROUNDS: Final = 3
LONG_S: Final = 86_400
SHORT_S: Final = 0.2
SHORT_JOBS: Final = 20_000
SHORT_AT_ONCE: Final = 20
RESOURCES: Final = MappingProxyType({"cpu": "1m", "memory": "1Mi"})
TICKS_MIN, TICKS_MAX = 1.5, 2.5
"""How many ticks lie between setting a limit and reaching it; at random, so that it is not always
the same moment within a tick.
"""
HOUR_S: Final = 3600
LATE_S: Final = 0.1
LOOK_S: Final = 0.05
LOOK_ON_S: Final = 1.0
"""After the last process has ended: nothing may begin."""
PROJECT: Final = "default"
DIGITS: Final = 9


@dataclass(frozen=True)
class _Pause:
    """What was measured of one pause."""

    overrun: float
    """In money; negative: the limit was not exceeded."""
    tick_cost: float
    started_after: int
    stopped_s: float
    """From the pause until nothing of the project ran."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the overrun of a limit beside the cost of a tick, the worst of the rounds."""
    load, jobs, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    tick_s = load_settings(environ={}).spending_interval_s
    progress.begin(rounds + 2)
    with throwaway_home(plan.directory) as home:
        progress.step(f"start {jobs:,} jobs")
        async with running_weft(home), client_of(home) as client:
            admin = home.secrets()["admin"]
            batches = await _submit(client, jobs)
            pauses = []
            for number in range(1, rounds + 1):
                progress.step(f"reach the limit, round {number}")
                await until(client, batches[0], lambda batch: batch["n_running"] == jobs)
                pauses.append(await _pause(client, admin, batches, tick_s))
            progress.step("audit")
            for batch_id in batches:
                await client.cancel_batch(batch_id)
                await until(client, batch_id, lambda batch: batch["complete"])
            findings = await audit_findings(admin)
            sizes = {"jobs": jobs, "rounds": rounds, "tick_s": tick_s}
            conditions = await conditions_of(admin, home.path, load_before=load, sizes=sizes)
    worst = max(pauses, key=lambda one: one.overrun / one.tick_cost)
    return document_of(
        Headline(
            "money",
            round(worst.overrun, DIGITS),
            round(worst.tick_cost, DIGITS),
            round(worst.overrun / worst.tick_cost, 3),
        ),
        {
            "goal": "at most 1; started_after: 0",
            "overrun_in_ticks": [round(one.overrun / one.tick_cost, 3) for one in pauses],
            "started_after": sum(one.started_after for one in pauses),
            "stopped_s": [round(one.stopped_s, 2) for one in pauses],
            "audit_findings": findings,
        },
        conditions,
    )


async def _submit(client: Api, jobs: int) -> Sequence[int]:
    """Return a batch whose jobs run on, and one whose jobs come and go."""

    def jobs_of(seconds: float, count: int) -> Mapping[str, Any]:
        return {"command": ["sleep", str(seconds)], "count": count, "resources": dict(RESOURCES)}

    long = {"jobs": [jobs_of(LONG_S, jobs)]}
    short = {"jobs": [jobs_of(SHORT_S, SHORT_JOBS)], "max_running": SHORT_AT_ONCE}
    return [int((await client.submit(one))["id"]) for one in (long, short)]


async def _pause(client: Api, admin_dsn: str, batches: Sequence[int], tick_s: float) -> _Pause:
    """Let the project reach a limit, and go on."""
    before = await client.set_limit({"amount_max": None}, project=PROJECT)
    ticks = random.uniform(TICKS_MIN, TICKS_MAX)  # noqa: S311 (spreads, guards nothing)
    per_hour = float(before["amount_per_hour"])
    amount_max = float(before["amount"]) + ticks * tick_s * per_hour / HOUR_S
    await client.set_limit({"amount_max": amount_max}, project=PROJECT)
    while (found := await _limit(client))["limit_state"] != "paused":
        per_hour = max(per_hour, float(found["amount_per_hour"]))
        await asyncio.sleep(LOOK_S)
    while (await _limit(client))["amount_per_hour"]:  # noqa: ASYNC110 (another process)
        await asyncio.sleep(LOOK_S)
    stopped_at = time.time()
    await asyncio.sleep(LOOK_ON_S)
    after = await _limit(client)
    paused_at, late = await _after_pause(admin_dsn, batches)
    await client.set_limit({"amount_max": None}, project=PROJECT)
    return _Pause(
        overrun=float(after["amount"]) - amount_max,
        tick_cost=tick_s * per_hour / HOUR_S,
        started_after=late,
        stopped_s=stopped_at - paused_at,
    )


async def _limit(client: Api) -> Mapping[str, Any]:
    """Return the limit of the project, with what it has spent."""
    async for found in client.list_limits():
        if found["project"] == PROJECT:
            return found
    raise BenchFailed("the limit is gone")


async def _after_pause(admin_dsn: str, batches: Sequence[int]) -> tuple[float, int]:
    """Return when the batches were paused, and how many attempts began too long after it."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        paused_at = await connection.fetchval(query("pause_of_limit"), batches)
        late = [
            await connection.fetchval(query("started_after"), batch_id, paused_at + LATE_S)
            for batch_id in batches
        ]
    finally:
        await connection.close()
    return paused_at, sum(late)
