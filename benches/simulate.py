"""How fast the simulator is, and whether a pool beats static clusters of equal machine hours.

Runs a recorded workload (`--trace`), or one that is made up, on a pool of machines each of which
holds the largest job. The reference is a million times real time. `wait_ratio` compares waits:
those of a static cluster, first come first served, divided by those in the pool.
"""

import gzip
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final

from weft.bench.figures import load_average, machine_conditions, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.core.pools import Flavour, Pool
from weft.core.swf import Trace, TraceJob, read_trace
from weft_simulator.model import Options
from weft_simulator.model.figures import compare

ROUNDS: Final = 3
JOBS: Final = 18_000
"""Of a trace that is made up: as many as a machine of 128 nodes had in a quarter of 1993."""
GAP_S: Final = 430.0
RUN_S: Final = 300.0
"""The median; one job in twenty takes over an hour."""
USERS: Final = 70
CORES: Final = (1, 1, 1, 2, 4, 8, 16, 32, 64, 128)
MACHINES: Final = 3
IDLE_S: Final = 600.0
GOAL_TIMES: Final = 1_000_000


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return seconds of the trace per second, the median of the rounds, and the mean waits."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    progress.begin(rounds + 1)
    progress.step("read the trace")
    trace = _made_up(plan.jobs_of(JOBS)) if plan.trace is None else _recorded(plan.trace)
    pool = _pool_for(trace)
    speeds, document = [], {}
    for number in range(1, rounds + 1):
        progress.step(f"simulate, round {number}")
        document = compare(pool, trace, Options(), name="trace").document
        speeds.append(document["speed"])
    times = [one["times_real_time"] for one in speeds]
    policies = document["policies"]
    waits = {name: one["wait_s"]["mean"] for name, one in policies.items()}
    return {
        "unit": "s of the trace per s",
        "weft": round(median(times)),
        "reference": GOAL_TIMES,
        "ratio": ratio_of(median(times), GOAL_TIMES),
        "wait_ratio": ratio_of(waits["fifo"], waits["weft"]),
        "wait_mean_s": waits,
        "wait_p95_s": {name: one["wait_s"]["p95"] for name, one in policies.items()},
        "core_hours": {name: one["core_hours"] for name, one in policies.items()},
        "decisions_per_s": round(median(one["decisions_per_s"] for one in speeds)),
        "rounds": {"weft": times},
        "conditions": machine_conditions(
            load_before=load,
            sizes={
                "jobs": len(trace.jobs),
                "recorded": int(plan.trace is not None),
                "rounds": rounds,
            },
        ),
    }


def _recorded(file: Path) -> Trace:
    try:
        with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
            return read_trace(lines, name=str(file))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BenchFailed(f"cannot read {file}", detail=f"{error}.") from error


def _made_up(count: int) -> Trace:
    """Return jobs that come in bursts, most of them small and short, of few busy users."""
    return Trace(jobs=list(_jobs(count, Random(1))))  # noqa: S311 (a workload is no secret)


def _jobs(count: int, random: Random) -> Iterator[TraceJob]:
    at_s = 0.0
    for number in range(1, count + 1):
        at_s += random.expovariate(1 / GAP_S) * (0.1 if random.random() < 0.5 else 1.9)  # noqa: PLR2004 (half of them in bursts)
        run_s = round(min(random.lognormvariate(math.log(RUN_S), 1.6), 86_400.0))
        yield TraceJob(
            number=number,
            submit_s=round(at_s),
            run_s=run_s,
            cpu_m=random.choice(CORES) * 1000,
            memory_mib=1,
            user=int(USERS * random.random() ** 3),
            limit_s=run_s,
        )


def _pool_for(trace: Trace) -> Pool:
    cpu_m = max(job.cpu_m for job in trace.jobs)
    memory_mib = max(job.memory_mib for job in trace.jobs)
    flavour = Flavour(name="whole", cpu_m=cpu_m, memory_mib=memory_mib * cpu_m // 1000)
    return Pool(
        name="bench", provider="none", max_workers=MACHINES, idle_s=IDLE_S, flavours=(flavour,)
    )
