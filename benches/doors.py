"""How many jobs per second come by the doors of JobWeaver and Agave, one a request, beside `/v1`;
and pages of 100.

All take jobs that do nothing, from as many clients at a time, in turns. Then the jobs of both
doors become many more, and each side is asked for pages of its newest jobs, the doors for searches
and orders, too.
"""

import asyncio
import time
from collections.abc import Mapping
from statistics import median
from typing import Any, Final

import asyncpg
import httpx

from benches.agave_app import app_folder, http_client
from benches.queries import query
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home

JOBS: Final = 2_000
ROUNDS: Final = 3
CLIENTS: Final = 8
PAGES: Final = 20
ROWS: Final = 100
STORED: Final = 1_000_000
"""Jobs of each door that are there when pages are asked for."""
GOAL: Final = 0.3
LOOK_S: Final = 0.1
PAGE_GOAL: Final = 2.0
_STEPS: Final[Mapping[str, Any]] = {"steps": []}
JOBWEAVER: Final = "jobweaver"
AGAVE: Final = "agave"
V1: Final = "v1"
_SUBMISSIONS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    V1: ("/v1/batches", {"jobs": [{"simulation": _STEPS}]}),
    JOBWEAVER: ("/api/jobs", {"jobType": "SIMULATION", "payload": _STEPS, "maxRetryCount": 0}),
    AGAVE: ("/jobs/v2", {"name": "bench", "appId": "bench-1.0", "archive": False}),
}
_PAGES: Final = {
    V1: "/v1/batches?limit=100",
    JOBWEAVER: "/api/jobs?page=0&size=100",
    AGAVE: "/jobs/v2",
    "agave_name": "/jobs/v2?name=name 77",
    "agave_status": "/jobs/v2?status=FAILED",
    "agave_app": "/jobs/v2?appId=rare-1.0",
    "agave_no_app": "/jobs/v2?appId=none-1.0",
    "agave_no_end": "/jobs/v2?endTime.lt=2020-01-01",
    "jobweaver_failed": "/internal/jobs?status=FAILED&size=100",
    "jobweaver_completed": "/internal/jobs?status=COMPLETED&size=100",
    "jobweaver_running": "/internal/jobs?status=RUNNING&size=100",
    "jobweaver_changed_first": "/internal/jobs?sort=updatedAt,asc&size=100",
    "agave_times": "/jobs/v2?startTime.gt=2020-01-01&endTime.lt=now&archive=false",
    "agave_nothing": "/jobs/v2?executionSystem=nowhere",
    "agave_sorted": "/jobs/v2?sortBy=endTime&sort=desc",
    "agave_sorted_names": "/jobs/v2?sortBy=name&sort=asc",
}
_ENDED: Final = "SELECT count(*) FROM weft.group_completion"
_PLAIN: Final = "SET session_replication_role = replica"
"""No trigger counts what is made."""
_NUMBERS: Final = """SELECT setval(pg_get_serial_sequence('weft.batch', 'batch_id'),
    (SELECT max(batch_id) FROM weft.batch))"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return submissions per second and the milliseconds of pages, of all sides."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    stored = round(STORED * plan.scale)
    rates: dict[str, list[float]] = {side: [] for side in _SUBMISSIONS}
    progress.begin(len(rates) * rounds + 4)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home), http_client(home) as client:
            async with client_of(home) as own:
                await own.add_app(app_folder(home.path))
            for number in range(1, rounds + 1):
                for side, found in rates.items():
                    progress.step(f"{side}, round {number}")
                    found.append(await _submit(client, side, count))
            progress.step(f"make {stored:,} jobs")
            await _grow(home.secrets()["admin"], len(rates) * rounds * count, stored)
            await _submit(client, V1, 2 * ROWS)  # a page of them
            progress.step("pages")
            refused: dict[str, str] = {}
            page_ms = await _pages_ms(client, refused)
            progress.step(f"make {stored:,} jobs that wait")
            await _grow(home.secrets()["admin"], 0, stored, are_open=True)
            progress.step("pages beside them")
            open_ms = await _pages_ms(client, refused)
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": count, "rounds": rounds, "clients": CLIENTS, "stored": stored},
            )
    done = {side: median_rate(one) for side, one in rates.items()}
    return document_of(
        Headline("submissions/s", done[JOBWEAVER], done[V1], ratio_of(done[JOBWEAVER], done[V1])),
        {
            "agave": round(done[AGAVE]),
            "agave_ratio": ratio_of(done[AGAVE], done[V1]),
            "page_ms": page_ms,
            "beside_open_ms": open_ms,
            "refused": refused,
            "page_ratio": {side: ratio_of(ms, page_ms[V1]) for side, ms in page_ms.items()},
            "goal": GOAL,
            "page_goal": PAGE_GOAL,
        },
        conditions,
    )


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


async def _grow(admin: str, n_there: int, count: int, *, are_open: bool = False) -> None:
    """Wait until all has ended, and make this number of jobs like one of each door."""
    database = await asyncpg.connect(admin)
    while True:
        if await database.fetchval(_ENDED) >= n_there:
            break
        await asyncio.sleep(LOOK_S)
    await database.execute(_PLAIN)
    for door in ("aloe", "jobweaver"):
        await database.execute(query("many_door_jobs"), count, door, are_open)
    await database.execute(_NUMBERS)
    await database.execute("VACUUM ANALYZE")
    await database.close()


async def _pages_ms(client: httpx.AsyncClient, refused: dict[str, str]) -> dict[str, float]:
    return {side: await _page_ms(client, side, path, refused) for side, path in _PAGES.items()}


async def _page_ms(
    client: httpx.AsyncClient, side: str, path: str, refused: dict[str, str]
) -> float:
    """Return the median of some pages. `refused` gets what a door says that reads too much."""
    took = []
    for _ in range(PAGES):
        begun = time.perf_counter()
        answer = await client.get(path)
        took.append((time.perf_counter() - begun) * 1000)
        if answer.status_code == httpx.codes.BAD_REQUEST and side != V1:
            refused[side] = answer.text
        else:
            answer.raise_for_status()
    return round(median(took), 1)
