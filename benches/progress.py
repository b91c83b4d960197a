"""`/bin/true` beside 100 jobs that tell their progress 1,000 times a second, and beside the same
jobs that write as often into another file.
"""

from statistics import median
from typing import Any, Final

from benches.looking import until
from benches.outside import run_many
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api

JOBS: Final = 3000
ROUNDS: Final = 5
WARM_UP: Final = 100
TELLERS: Final = 100
GOAL: Final = 0.98
SCRIPT: Final = """
import os, sys, time
file = os.open(os.environ[sys.argv[1]] + sys.argv[2], os.O_CREAT | os.O_WRONLY, 0o600)
n, at = 0, time.monotonic()
while True:
    for _ in range(100):
        n += 1
        os.pwrite(file, b"%02d epoch %012d\\n" % (n // 1000 % 100, n), 0)
    at += 0.1
    time.sleep(max(0, at - time.monotonic()))
"""
WAYS: Final = {"told": "", "written": ".not"}
"""What is added to the name of the file."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second beside both."""
    load, jobs, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    progress.begin(len(WAYS) * rounds + 1)
    progress.step("start")
    with throwaway_home(plan.directory) as home:
        async with running_weft(home), client_of(home) as client:
            await run_many(client, "here", WARM_UP)
            for number in range(1, rounds + 1):
                for way in WAYS if number % 2 else reversed(WAYS):
                    progress.step(f"{way}, round {number}")
                    batch = await _telling(client, WAYS[way])
                    rates[way].append(jobs / await run_many(client, "here", jobs))
                    await client.cancel_batch(batch)
                    await until(client, batch, lambda one: one["complete"])
            conditions = await conditions_of(
                home.secrets()["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": jobs, "rounds": rounds, "tellers": TELLERS},
            )
    told, written = (round(median(rates[way]), 1) for way in WAYS)
    return document_of(
        Headline("jobs/s", told, written, ratio_of(told, written)),
        {"goal": GOAL, "rounds": {way: list(map(round, rates[way])) for way in WAYS}},
        conditions,
    )


async def _telling(client: Api, suffix: str) -> int:
    """Return a batch whose jobs all run and write."""
    command = ["python3", "-I", "-S", "-c", SCRIPT, "WEFT_PROGRESS", suffix]
    resources = {"cpu": "1m", "memory": "16Mi"}
    job = {"command": command, "count": TELLERS, "resources": resources}
    batch = int((await client.create_batch({"jobs": [job]}))["id"])
    await until(client, batch, lambda one: one["n_running"] == TELLERS)
    return batch
