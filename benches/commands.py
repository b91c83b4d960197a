"""How long from `POST …/signal` to the trap of the job, while its agent is busy.

Beside a batch of small processes, of which thousands begin and end meanwhile; the reference is the
same without them. The job is a shell that runs `date` when it gets the signal.
"""

import asyncio
import time
from pathlib import Path
from typing import Any

from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api

SIGNALS = 500
BUSY_JOBS = 100_000
SCRIPT = """
trap 'date +%s%N >> "$1"; kill $!' USR1
while :; do sleep 1000 & wait; done
"""
LOOK_S = 0.002
PATIENCE_S = 60.0
_NS_PER_MS = 1e6


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the milliseconds from a command to its effect, with and without other work."""
    load, count = load_average(), plan.jobs_of(SIGNALS)
    progress.begin(3)
    with throwaway_home(plan.directory) as home:
        heard = home.path / "heard"
        async with running_weft(home), client_of(home) as client:
            progress.step("start")
            job = {"command": ["sh", "-c", SCRIPT, "sh", str(heard)], "resources": {"cpu": "10m"}}
            batch = int((await client.create_batch({"jobs": [job]}))["id"])
            await until_started(client, batch)
            progress.step(f"{count} signals, nothing else")
            reference = [await _signal(client, batch, heard) for _ in range(count)]
            progress.step(f"{count} signals beside small processes")
            busy = await client.create_batch(
                {"jobs": [{"command": ["/bin/true"], "count": BUSY_JOBS}]}
            )
            weft = [await _signal(client, batch, heard) for _ in range(count)]
            n_ended = (await client.get_batch(int(busy["id"])))["n_completed"]
            for one in (int(busy["id"]), batch):
                await client.cancel_batch(one)
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load, sizes={"signals": count}
            )
    figures, of_reference = _figures(weft), _figures(reference)
    return document_of(
        Headline("ms", figures, of_reference, ratio_of(of_reference["p50_ms"], figures["p50_ms"])),
        {**figures, "n_ended_beside": n_ended},
        conditions,
    )


async def until_started(client: Api, batch: int) -> None:
    """Return when its first job runs."""
    until = time.monotonic() + PATIENCE_S
    while (await client.get_job(batch, 1))["started_at"] is None:
        if time.monotonic() > until:
            raise BenchFailed("the job did not start", detail=f"It is the one of batch {batch}.")
        await asyncio.sleep(LOOK_S)


async def _signal(client: Api, batch: int, heard: Path) -> float:
    """Return the milliseconds of one signal."""
    n_before = len(_lines(heard))
    begun_ns, until = time.time_ns(), time.monotonic() + PATIENCE_S
    await client.signal_job(batch, 1, "USR1")
    while len(lines := _lines(heard)) <= n_before:
        if time.monotonic() > until:
            raise BenchFailed("a signal was lost", detail=f"It was for the job of batch {batch}.")
        await asyncio.sleep(LOOK_S)
    return (int(lines[n_before]) - begun_ns) / _NS_PER_MS


def _lines(path: Path) -> list[str]:
    return path.read_text().split("\n")[:-1] if path.exists() else []


def _figures(values: list[float]) -> dict[str, float]:
    return {f"p{percent}_ms": round(percentile(values, percent), 2) for percent in (50, 99)}
