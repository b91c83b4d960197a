"""90 % intervals: how many hold, and how wide they are, on a recorded workload and drawn batches.

Batches of the trace are at least 30 jobs of one user, application and size, none submitted more
than some hours after the one before it; what their user ran so before is their history.
Each is run alone on `PLACES` places, in its order and shuffled, and asked when a tenth has run:
jobs of a batch are like draws if shuffled, and drift as their user went on if not.
Single jobs are asked when they are submitted, from the newest 200 of their kind that had ended.
"""

import gzip
import heapq
import os
import random
import statistics
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from weft.bench.figures import load_average, machine_conditions
from weft.bench.plan import BenchPlan, BenchProgress
from weft.core.forecast import ForecastFacts, promise
from weft.core.swf import TraceJob, read_trace
from weft.core.why import PoolFacts

PLACES = 8
JOBS_LEAST = 30
GAPS_H = (4, 24)
DRAWN = 300
KEPT = 200
JOBS_MOST = 4_000
TRACE = "NASA-iPSC-1993-3.1-cln.swf.gz"


class Tally:
    """Intervals that were asked for, and what came."""

    def __init__(self) -> None:
        self.holds: list[bool] = []
        self.widths: list[float] = []
        self.unknown = 0

    def add(self, low: float, high: float, *, came: float, whole: float) -> None:
        """Note one; its width is a share of the whole."""
        self.holds.append(low <= came <= high)
        self.widths.append((high - low) / whole)

    def document(self) -> dict[str, Any]:
        """Return share and median width."""
        return {
            "given": len(self.holds),
            "unknown": self.unknown,
            "hold": round(statistics.mean(self.holds), 3),
            "width_p50": round(statistics.median(self.widths), 3),
        }


def scheduled(draws: Sequence[float], places: int) -> list[tuple[float, float]]:
    """Return when jobs start and end that take the next free place."""
    free, times = [0.0] * places, []
    for seconds in draws:
        start = heapq.heappop(free)
        heapq.heappush(free, start + seconds)
        times.append((start, start + seconds))
    return times


def ask_batch(
    draws: Sequence[float], ends: Tally, work: Tally, like: Sequence[Sequence[float]] = ()
) -> None:
    """Ask of a batch when a tenth of it has run."""
    times = scheduled(draws, PLACES)
    now = sorted(end for _, end in times)[len(times) // 10]
    running = [now - start for start, end in times if start <= now < end]
    facts = ForecastFacts(
        n_waiting=sum(start > now for start, _ in times),
        n_running=len(running),
        elapsed=running,
        running=running,
        cpu_m=1000,
        like=like,
        own=[end - start for start, end in times if end <= now],
        pool=PoolFacts("p", cpu_active=PLACES),
    )
    found, last = promise(facts), max(end for _, end in times)
    if found is None:
        ends.unknown += 1
        return
    ends.add(*found.ends, came=last - now, whole=last)
    left = sum(end - max(start, now) for start, end in times if end > now)
    work.add(*found.work, came=left, whole=sum(draws))


def batches_of(
    jobs: Iterable[TraceJob], gap_h: float
) -> list[tuple[list[float], list[list[float]]]]:
    """Return the run times of batches, and of each ten jobs of 20 batches of its user before it:
    of its kind, or else of its size, as the store gives them.
    """
    before: dict[tuple[int, ...], list[list[TraceJob]]] = defaultdict(list)
    open_: dict[tuple[int, ...], list[TraceJob]] = {}
    found = []
    for job in jobs:
        kind = job.user, job.cpu_m, job.application
        batch = open_.setdefault(kind, [])
        if batch and (job.submit_s - batch[-1].submit_s > gap_h * 3600 or len(batch) == DRAWN):
            if len(batch) >= JOBS_LEAST:
                found.append((_seconds(batch), _like(before[kind] or before[kind[:2]])))
            before[kind].append(batch)
            before[kind[:2]].append(batch)
            batch = open_[kind] = []
        batch.append(job)
    return found


def _like(batches: Sequence[Sequence[TraceJob]]) -> list[list[float]]:
    return [_seconds(one[:: max(len(one) // 10, 1)][:10]) for one in batches[-20:]]


def _seconds(jobs: Iterable[TraceJob]) -> list[float]:
    return [max(job.run_s, 1.0) for job in jobs]


def ask_jobs(jobs: Iterable[TraceJob], ends: Tally) -> int:
    """Ask of each job how long it takes; return of how many that was not known."""
    kinds: dict[tuple[int, ...], deque[TraceJob]] = defaultdict(lambda: deque(maxlen=KEPT))
    unknown = 0
    for job in jobs:
        kind = kinds[job.user, job.application, job.cpu_m]
        own = [max(o.run_s, 1.0) for o in kind if o.submit_s + o.run_s <= job.submit_s]
        facts = ForecastFacts(
            n_waiting=0,
            n_running=1,
            elapsed=(0.0,),
            running=(),
            own=own,
            cpu_m=1000,
            pool=PoolFacts("p", cpu_active=1),
        )
        found = promise(facts)
        kind.append(job)
        if found is None:
            unknown += 1
        else:
            ends.add(*found.ends, came=max(job.run_s, 1.0), whole=max(job.run_s, 1.0))
    return unknown


def replayed(path: Path, progress: BenchProgress, rng: random.Random) -> dict[str, Any]:
    """Return what held of the trace."""
    with gzip.open(path, "rt") as lines:
        jobs = read_trace(lines, name=path.name).jobs
    found: dict[str, Any] = {}
    for gap_h, order in product(GAPS_H, ("in_order", "shuffled")):
        name = f"{order}_{gap_h}h"
        progress.step(f"batches of {path.name}, {name}")
        ends, costs = Tally(), Tally()
        for batch, like in batches_of(jobs, gap_h):
            if order == "shuffled":
                rng.shuffle(batch)
            ask_batch(batch, ends, costs, like)
        found |= {f"batches_{name}": ends.document(), f"costs_{name}": costs.document()}
    progress.step(f"jobs of {path.name}")
    single = Tally()
    unknown = ask_jobs(jobs[:JOBS_MOST], single)
    return {**found, "jobs": single.document(), "jobs_unknown": unknown}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Ask of batches whose durations are drawn, then replay the trace if there is one."""
    load, rng = load_average(), random.Random(1)  # noqa: S311 (draws)
    path = plan.trace or Path(os.environ.get("WEFT_TEST_DATA", "../shared/data")) / TRACE
    progress.begin(6)
    progress.step("batches that are drawn")
    drawn, costs = Tally(), Tally()
    for _ in range(plan.jobs_of(200)):
        sigma, count = rng.uniform(0.2, 1.0), rng.choice([200, 500, 1000, 2000])
        ask_batch([rng.lognormvariate(3, sigma) for _ in range(count)], drawn, costs)
    found = {"drawn": drawn.document(), "drawn_costs": costs.document()}
    if path.exists():
        found |= replayed(path, progress, rng)
    hold = found["drawn"]["hold"]
    return {
        "unit": "share of 90 % intervals that hold",
        "weft": hold,
        "reference": 0.9,
        "ratio": round(hold / 0.9, 3),
        **found,
        "conditions": machine_conditions(load_before=load, sizes={"drawn": len(drawn.holds)}),
    }
