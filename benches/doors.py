"""How many jobs per second come by the door of JobWeaver, one a request, beside `/v1`; and a page.

Both take the same simulated job, from as many clients at a time, in turns. Afterwards each side is
asked for pages of 100 of its newest jobs.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from statistics import median
from typing import Any, Final

import httpx

from weft.bench.conditions import conditions_of, load_average
from weft.bench.figures import Headline, document_of, median_rate, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import running_weft, throwaway_home
from weft.run.home import Home

JOBS: Final = 2_000
ROUNDS: Final = 3
CLIENTS: Final = 8
PAGES: Final = 50
GOAL: Final = 0.3
_STEPS: Final[Mapping[str, Any]] = {"steps": []}
DOOR: Final = "door"
V1: Final = "v1"
_SUBMISSIONS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    V1: ("/v1/batches", {"jobs": [{"simulation": _STEPS}]}),
    DOOR: ("/api/jobs", {"jobType": "SIMULATION", "payload": _STEPS, "maxRetryCount": 0}),
}
_LISTS: Final = {V1: "/v1/batches?limit=100", DOOR: "/api/jobs?page=0&size=100"}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return submissions per second and the milliseconds of a page, of both sides."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    rates: dict[str, list[float]] = {V1: [], DOOR: []}
    pages: dict[str, list[float]] = {V1: [], DOOR: []}
    progress.begin(2 * rounds + 1)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home), _client_of(home) as client:
            for number in range(1, rounds + 1):
                for side, found in rates.items():
                    progress.step(f"{side}, round {number}")
                    found.append(await _submit(client, side, count))
            progress.step("pages")
            for _ in range(PAGES):
                for side, took in pages.items():
                    begun = time.perf_counter()
                    (await client.get(_LISTS[side])).raise_for_status()
                    took.append((time.perf_counter() - begun) * 1000)
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load,
                sizes={"jobs": count, "rounds": rounds, "clients": CLIENTS},
            )  # fmt: skip
    door, plain = median_rate(rates[DOOR]), median_rate(rates[V1])
    page_ms = {side: round(median(took), 1) for side, took in pages.items()}
    return document_of(
        Headline("submissions/s", door, plain, ratio_of(door, plain)),
        {"page_ms": page_ms, "page_ratio": ratio_of(page_ms[DOOR], page_ms[V1]), "goal": GOAL},
        conditions,
    )


def _client_of(home: Home) -> httpx.AsyncClient:
    known = json.loads(home.client_file.read_bytes())
    headers = {"authorization": f"Bearer {known['token']}"}
    return httpx.AsyncClient(base_url=known["url"], headers=headers, timeout=60)


async def _submit(client: httpx.AsyncClient, side: str, count: int) -> float:
    """Submit jobs one by one, some at a time; return how many a second."""
    path, body = _SUBMISSIONS[side]
    left = iter(range(count))

    async def submit_some() -> None:
        for _ in left:
            (await client.post(path, json=body)).raise_for_status()

    begun = time.perf_counter()
    await asyncio.gather(*(submit_some() for _ in range(CLIENTS)))
    return count / (time.perf_counter() - begun)
