"""What grows while weft works at full rate: memory, files, connections, and disk beyond data.

A real `weft up` runs batch after batch of no-ops, two at once, by the public client. Each process
is looked at every few seconds. The slope is that of a straight line through the samples after the
first third; its bounds are two standard errors away.
"""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation, fmean, linear_regression
from typing import Any

import asyncpg

from benches.queries import query
from up.weft_up import processes_of
from weft.bench.figures import Headline, conditions_of, document_of, load_average, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.processes import run_batch
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.bench.turns import audit_findings
from weft.client.api import Api
from weft.run.home import Home

HOUR_S = 3600.0
JOBS = 2_000
"""Of each batch."""
FEEDERS = 2
SAMPLES = 120
WARM_UP = 1 / 3
"""The share of the samples that is left out: caches and pools fill."""
GROWS = 0.05
"""Per hour, of the mean: less is flat."""
PARTS = {
    "api": "weft.run.api",
    "driver": "weft.run.driver",
    "worker": "weft.run.worker",
    "up": "weft.run.up",
    "spawner": "spawner",
    "postgres": "postgres",
}
MB = 1_000_000

Sample = Mapping[str, float]


@dataclass(frozen=True)
class Slope:
    """How one figure went."""

    first: float
    last: float
    per_hour: float
    error: float
    """One standard error of `per_hour`."""
    mean: float

    @property
    def verdict(self) -> str:
        """Return whether it grows by more than a little, as far as the samples can tell."""
        most = GROWS * self.mean
        if self.per_hour - 2 * self.error > most:
            return "grows"
        return "flat" if self.per_hour + 2 * self.error <= most else "undecided"


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the slope of each figure of each process, and how many jobs ran meanwhile."""
    load, window_s, jobs = load_average(), HOUR_S * plan.scale, plan.jobs or JOBS
    progress.begin(SAMPLES + 2)
    ends: list[float] = []
    samples: list[tuple[float, Sample]] = []
    with throwaway_home(plan.directory) as home:
        async with running_weft(home) as up_pid, client_of(home) as client:
            progress.step("start and warm up")
            await run_batch(client, jobs)
            connection = await asyncpg.connect(home.secrets()["admin"])
            begun = time.monotonic()
            feeders = [asyncio.create_task(_feed(client, jobs, ends)) for _ in range(FEEDERS)]
            try:
                for number in range(1, SAMPLES + 1):
                    progress.step(f"{window_s * number / SAMPLES:.0f} of {window_s:.0f} s")
                    due = begun + window_s * number / SAMPLES
                    await asyncio.wait(
                        feeders,
                        timeout=max(0.0, due - time.monotonic()),
                        return_when=asyncio.FIRST_EXCEPTION,
                    )
                    for feeder in feeders:
                        if feeder.done():
                            feeder.result()
                    samples.append(
                        (time.monotonic() - begun, await _sample(home, up_pid, connection))
                    )
            finally:
                for feeder in feeders:
                    feeder.cancel()
                await asyncio.gather(*feeders, return_exceptions=True)
                await connection.close()
            progress.step("audit")
            findings = await audit_findings(home.secrets()["admin"])
            sizes = {"jobs": jobs * len(ends), "seconds": round(window_s), "batch": jobs}
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load, sizes=sizes
            )
    slopes = {name: _slope(samples, name) for name in samples[-1][1]}
    half = window_s / 2
    first, last = (
        jobs * sum(low < end - begun <= low + half for end in ends) / half for low in (0.0, half)
    )
    growing = [name for name, slope in slopes.items() if slope.verdict == "grows"]
    return document_of(
        Headline("jobs/s", round(last), round(first), ratio_of(last, first)),
        {
            "grows": growing,
            "slopes": {
                name: {
                    "first": round(slope.first, 2),
                    "last": round(slope.last, 2),
                    "per_hour": round(slope.per_hour, 2),
                    "error": round(slope.error, 2),
                    "verdict": slope.verdict,
                }
                for name, slope in slopes.items()
            },
            "audit_findings": findings,
        },
        conditions,
    )


async def _feed(client: Api, jobs: int, ends: list[float]) -> None:
    """Run batch after batch; note when each was complete."""
    while True:
        await run_batch(client, jobs)
        ends.append(time.monotonic())


async def _sample(home: Home, up_pid: int, connection: asyncpg.Connection) -> Sample:
    """Return the figures of this moment."""
    found = dict.fromkeys(
        (f"{part} {what}" for part in PARTS for what in ("MB", "files", "processes")), 0.0
    )
    for pid, command in {**processes_of(home.path), up_pid: PARTS["up"]}.items():
        part = next((part for part, mark in PARTS.items() if mark in command), None)
        if part is not None:
            found[f"{part} MB"] += _own_memory(pid) / MB
            found[f"{part} files"] += _files(pid)
            found[f"{part} processes"] += 1
    row = await connection.fetchrow(query("connections"))
    found["connections"] = row["connections"]
    found["write-ahead log MB"] = row["wal_bytes"] / MB
    found["rest of the home MB"] = sum(_sizes_beside(home.path, {"pg"})) / MB
    return found


def _own_memory(pid: int) -> int:
    """Return the resident bytes of a process without what is shared, as PostgreSQL's buffers."""
    fields = dict(line.split(":", 1) for line in _read(pid, "status").splitlines() if ":" in line)
    kib = {name: int(fields.get(name, "0").split()[0]) for name in ("VmRSS", "RssShmem")}
    return (kib["VmRSS"] - kib["RssShmem"]) * 1024


def _files(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""


def _sizes_beside(top: Path, without: set[str]) -> Iterator[int]:
    """Yield the bytes on disk of each file below, except in these folders of the top."""
    for folder, folders, names in os.walk(top):
        if Path(folder) == top:
            folders[:] = [name for name in folders if name not in without]
        for name in names:
            try:
                yield (Path(folder) / name).lstat().st_blocks * 512
            except OSError:
                continue


def _slope(samples: Sequence[tuple[float, Sample]], name: str) -> Slope:
    kept = samples[int(len(samples) * WARM_UP) :]
    hours = [at / HOUR_S for at, _ in kept]
    values = [sample[name] for _, sample in kept]
    fields = {"first": values[0], "last": values[-1], "mean": fmean(values)}
    if len(set(values)) == 1:
        return Slope(per_hour=0.0, error=0.0, **fields)
    per_hour = linear_regression(hours, values).slope
    left = max(0.0, 1 / correlation(hours, values) ** 2 - 1) if per_hour else 0.0
    return Slope(
        per_hour=per_hour, error=abs(per_hour) * (left / (len(kept) - 2)) ** 0.5, **fields
    )
