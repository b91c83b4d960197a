"""How many items of a source become jobs per second, configured and in series, beside plain jobs
that a client submits; and how fast the same items are found to be known.

The bench is the driver that keeps what a reading has found; a real api makes the jobs. Each series
has ten items, which stand further apart than `within`, so each asks what is before it and none
waits.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Final

import asyncpg

from benches.queries import query
from benches.running_api import running_api
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, throwaway_home
from weft.bench.turns import audit_findings
from weft.client.api import Api
from weft.store import DriverStore, open_driver_store

JOBS: Final = 100_000
ROUNDS: Final = 3
SET: Final = 500
"""Items of a reading, and jobs of a request."""
IN_SERIES: Final = 10
GOAL: Final = 0.05
KNOWN_GOAL: Final = 4
LOOK_S: Final = 0.05
SETUP: Final = """
[source.items]
kind = "directory"
path = "/none"
every = "1d"
job = "one"

[job.one]
command = ["true"]

[configure.one]
cancel_if = "item.cloud > 90"
series = { key = "item.tile", order = "item.at", within = "1s", late = "rerun" }
env = { MODE = "series.previous == null ? 'init' : 'nominal'" }
attributes = { tile = "item.tile" }
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return items and jobs per second."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    rates: dict[str, list[float]] = {"items": [], "again": [], "plain": []}
    progress.begin(3 * rounds + 1)
    with throwaway_home(plan.directory) as home:
        (home.path / "weft.toml").write_text('source_paths = "/none"\n')
        async with (
            running_database(home) as (logins, token),
            running_api(home) as url,
            Api(url, token, home=home.path) as client,
            open_driver_store(logins["weft_driver"]) as driver,
        ):
            admin = await asyncpg.connect(logins["admin"])
            await client.save_setup("items", SETUP)
            for number in range(rounds):
                items = _items(number * count, count)
                progress.step(f"items, round {number + 1}")
                rates["items"].append(await _made(driver, admin, items, (number + 1) * count))
                progress.step(f"the same items, round {number + 1}")
                begun = time.perf_counter()
                await _kept(driver, items)
                rates["again"].append(count / (time.perf_counter() - begun))
                progress.step(f"plain jobs, round {number + 1}")
                rates["plain"].append(await _submitted(client, count))
            await admin.close()
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            conditions = await conditions_of(
                logins["admin"],
                home.path,
                load_before=load,
                sizes={"items": count, "rounds": rounds, "series": rounds * count // IN_SERIES},
            )
    items_s, again_s, plain_s = (median_rate(rates[name]) for name in ("items", "again", "plain"))
    return document_of(
        Headline("items/s", items_s, plain_s, ratio_of(items_s, plain_s)),
        {
            "goal": GOAL,
            "by_round": [round(rate) for rate in rates["items"]],
            "again": again_s,
            "again_ratio": ratio_of(again_s, items_s),
            "again_goal": KNOWN_GOAL,
            "audit_findings": findings,
        },
        conditions,
    )


def _items(first: int, count: int) -> Sequence[dict[str, Any]]:
    return [
        {"key": f"item {n}", "fields": {"tile": f"t{n // IN_SERIES}", "at": n * 60, "cloud": 5}}
        for n in range(first, first + count)
    ]


async def _kept(driver: DriverStore, items: Sequence[dict[str, Any]]) -> None:
    """Keep readings, as a driver does."""
    epoch = await driver.try_lead()
    assert epoch is not None
    for at in range(0, len(items), SET):
        (due,) = await driver.due_sources(epoch, (), limit=1)
        found = items[at : at + SET]
        await driver.store_items(epoch, due, found, cursor=None, next_in_s=0, error=None)


async def _made(
    driver: DriverStore,
    admin: "asyncpg.Connection[Any]",
    items: Sequence[dict[str, Any]],
    count: int,
) -> float:
    """Return how many items became jobs per second, from the first reading on."""
    begun = time.perf_counter()
    await _kept(driver, items)
    while True:
        if await admin.fetchval(query("items_with_jobs")) >= count:
            return len(items) / (time.perf_counter() - begun)
        await asyncio.sleep(LOOK_S)


async def _submitted(client: Api, count: int) -> float:
    """Return how many plain jobs a client submits per second, in sets of the same size."""
    jobs = [{"command": ["true"], "name": f"item {n}"} for n in range(SET)]
    begun = time.perf_counter()
    for _ in range(0, count, SET):
        await client.create_batch({"jobs": jobs})
    return count / (time.perf_counter() - begun)
