"""Whether users with unequal backlogs get equal shares, and how soon a late small user starts.

A real `weft up` runs jobs of 100 ms. Five users have backlogs of 1 to 16 parts, of jobs of one of
two sizes; while all of them wait, what their jobs took is compared: `weft` is Jain's index of
their mCPU seconds, which is 1 if all are equal. Meanwhile other users come with ten jobs each:
`first_start_ms` is from the answer to their request to the first start.
Source: R. Jain et al., "A quantitative measure of fairness", DEC-TR-301, 1984.
"""

import asyncio
import math
import os
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from statistics import median
from typing import Any, Final

import asyncpg

from benches.queries import query
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api
from weft.run.home import Home
from weft.store import open_admin

WINDOW_S: Final = 60.0
WINDOW_MIN_S: Final = 6.0
"""Late users come one after the other, which takes seconds on a busy machine."""
JOB_S: Final = 0.1
COMMAND: Final = ("/bin/sleep", f"{JOB_S}")
LATE_COMMAND: Final = ("/bin/sh", "-c", f"date +%s%N; exec sleep {JOB_S}")
PARTS: Final = (1, 2, 4, 8, 16)
"""The backlogs of the users; the smallest lasts for longer than the window."""
SIZES_M: Final = (100, 200)
LATE_USERS: Final = 5
LATE_JOBS: Final = 10
BEGIN_S: Final = 2.0
"""Until the worker knows how long jobs take."""
SPARE: Final = 2.5
GOAL_JAIN: Final = 0.98
GOAL_START_MS: Final = JOB_S * 1000
NS_PER_S: Final = 1e9


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return Jain's index of the users' mCPU seconds, and the first starts of late users."""
    load, window_s = load_average(), max(WINDOW_S * plan.scale, WINDOW_MIN_S)
    progress.begin(LATE_USERS + 3)
    with throwaway_home(plan.directory) as home:
        progress.step("start and submit")
        async with running_weft(home):
            bench = _Bench(home)
            backlogs = await bench.submit_backlogs(window_s)
            await asyncio.sleep(BEGIN_S)
            begin_s = time.time()
            late_ms = []
            for number in range(LATE_USERS):
                progress.step(f"late user {number + 1} of {LATE_USERS}")
                await asyncio.sleep(max(begin_s + window_s * number / LATE_USERS - time.time(), 0))
                late_ms.append(await bench.come_late(number))
            progress.step("the rest of the window")
            await asyncio.sleep(max(begin_s + window_s - time.time(), 0))
            used = await bench.used(backlogs, begin_s, time.time())
            admin = home.secrets()["admin"]
            sizes = {"window_s": window_s, "jobs": sum(backlogs.values())}
            conditions = await conditions_of(admin, home.path, load_before=load, sizes=sizes)
    return document_of(
        Headline("Jain index", jain(used), GOAL_JAIN, ratio_of(jain(used), GOAL_JAIN)),
        {
            "jain": jain(used),
            "core_s_by_user": [round(one / 1000, 1) for one in used],
            "first_start_ms": {
                "median": round(median(late_ms), 1),
                "max": round(max(late_ms), 1),
                "goal": GOAL_START_MS,
            },
        },
        conditions,
    )


def jain(values: Sequence[float]) -> float:
    """Return how equal values are, from 1 / n (one has all) to 1.

    >>> jain([1.0, 1.0, 1.0, 1.0]), jain([1.0, 0.0])
    (1.0, 0.5)
    """
    squares = sum(value * value for value in values)
    return round(sum(values) ** 2 / (len(values) * squares), 4) if squares else 0.0


class _Bench:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._admin_dsn = home.secrets()["admin"]

    async def submit_backlogs(self, window_s: float) -> Mapping[int, int]:
        """Return the number of jobs of each user's batch."""
        cores = len(os.sched_getaffinity(0))
        seconds = BEGIN_S + window_s
        least = math.ceil(SPARE * cores * 1000 / min(SIZES_M) * seconds / JOB_S / len(PARTS))
        found = {}
        for number, parts in enumerate(PARTS):
            size_m = SIZES_M[number % len(SIZES_M)]
            jobs = least * parts
            async with self._user(f"user{number}") as client:
                batch = await client.submit({"jobs": [_jobs(COMMAND, jobs, size_m)]})
            found[int(batch["id"])] = jobs
        return found

    async def come_late(self, number: int) -> float:
        """Submit a few jobs as a new user; return the milliseconds to the first start."""
        async with self._user(f"late{number}") as client:
            await client.is_ready()
            document = {"jobs": [_jobs(LATE_COMMAND, LATE_JOBS, SIZES_M[0])]}
            batch_id = int((await client.submit(document))["id"])
            ready_s = time.time()
            async for _ in client.watch_batch(batch_id):
                pass
            starts = []
            for job in range(1, LATE_JOBS + 1):
                starts += [int(one["stdout"]) async for one in client.outputs(batch_id, job, job)]
        if not starts:
            raise BenchFailed("the jobs of a late user left no output")
        return (min(starts) / NS_PER_S - ready_s) * 1000

    async def used(
        self, backlogs: Mapping[int, int], begin_s: float, end_s: float
    ) -> Sequence[float]:
        """Return the mCPU seconds of each batch between two times."""
        connection = await asyncpg.connect(self._admin_dsn)
        try:
            rows = await connection.fetch(query("cpu_used"), list(backlogs), begin_s, end_s)
        finally:
            await connection.close()
        if any(row["n_waiting"] == 0 for row in rows):
            raise BenchFailed(
                "a user had no work left before the end", detail="Jobs were faster than planned."
            )
        return [float(row["used"]) for row in rows]

    @asynccontextmanager
    async def _user(self, name: str) -> AsyncIterator[Api]:
        token = secrets.token_urlsafe(32)
        async with open_admin(self._admin_dsn) as admin:
            await admin.ensure_local_user(user=name, token=token)
        async with client_of(self._home, token=token) as client:
            yield client


def _jobs(command: Sequence[str], count: int, cpu_m: int) -> Mapping[str, Any]:
    resources = {"cpu": cpu_m / 1000, "memory": "16Mi"}
    return {"command": list(command), "count": count, "resources": resources}
