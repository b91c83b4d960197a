"""Does the time of a 404 tell whether the thing exists in another tenant?

Each thing of another tenant is asked for beside one that does not exist, in turns, on one
connection each way round, so that whatever else the machine does hits both alike. The ratio is the
one of the medians that is farthest from 1.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from statistics import median
from typing import Any

from weft.bench.conditions import conditions_of, load_average
from weft.bench.figures import ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import running_api, running_database, throwaway_home
from weft.client.api import Api
from weft.core.errors import NotFound

PAIRS = 1000
WARM_UP = 50
MISSING = 2_000_000_000
GOAL = 0.05
"""How far from 1 the ratio may be."""
_US_PER_S = 1e6
Ask = Callable[[int], Awaitable[object]]


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the medians of both in microseconds, for each kind of thing."""
    load, pairs = load_average(), plan.jobs_of(PAIRS)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_api(home) as url:
            async with Api(url, token, home=home.path) as site:
                batch_id = (await site.create_batch({"jobs": [{"name": "a"}]}))["id"]
                other = await site.create_tenant("other", admin="ann")
            async with Api(url, other["token"], home=home.path) as client:
                kinds = _kinds(client)
                progress.begin(len(kinds))
                medians = {}
                for name, ask in kinds.items():
                    progress.step(f"ask for a {name}")
                    medians[name] = await _medians(ask, batch_id, pairs)
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes={"pairs": pairs}
            )
    name = max(medians, key=lambda one: abs(1 - _ratio(medians[one])))
    return {
        "unit": "us",
        "weft": medians[name]["exists"],
        "reference": medians[name]["missing"],
        "ratio": _ratio(medians[name]),
        "goal": f"within {GOAL:.0%} of 1",
        "medians_us": medians,
        "conditions": conditions,
    }


def _kinds(client: Api) -> Mapping[str, Ask]:
    return {
        "batch": client.get_batch,
        "job": lambda batch_id: client.get_job(batch_id, 1),
        "group": lambda batch_id: client.get_group(batch_id, 0),
        "attempt": lambda batch_id: client.list_attempts(batch_id, 1),
    }


def _ratio(medians: Mapping[str, float]) -> float:
    return ratio_of(medians["exists"], medians["missing"])


async def _medians(ask: Ask, batch_id: int, pairs: int) -> Mapping[str, float]:
    for _ in range(WARM_UP):
        await _time_us(ask, batch_id)
        await _time_us(ask, MISSING)
    exists: list[float] = []
    missing: list[float] = []
    for number in range(pairs):
        if number % 2:
            missing.append(await _time_us(ask, MISSING))
            exists.append(await _time_us(ask, batch_id))
        else:
            exists.append(await _time_us(ask, batch_id))
            missing.append(await _time_us(ask, MISSING))
    return {"exists": round(median(exists), 1), "missing": round(median(missing), 1)}


async def _time_us(ask: Ask, batch_id: int) -> float:
    begun = time.perf_counter()
    try:
        await ask(batch_id)
    except NotFound:
        return (time.perf_counter() - begun) * _US_PER_S
    raise BenchFailed("what belongs to another tenant was shown")
