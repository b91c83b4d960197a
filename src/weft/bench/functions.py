"""How many calls of a Python function per second, beside `ProcessPoolExecutor` and Ray.

A real `weft up` and `weft.Executor`, from the call of `map` until the last value is there, every
job durable; the function does nothing. `weft` chooses its chunks, `weft_single` makes each call
a job. The references are pools with a process per core, which keep nothing.
"""

import asyncio
import importlib
import importlib.util
import json
import operator
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from typing import Any

from weft.bench.figures import conditions_of, load_average, median_rate, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.process_tree import use_by_role
from weft.bench.throwaway import running_weft, throwaway_home
from weft.client.functions.executor import Executor
from weft.run.home import Home

CALLS = 50_000
ROUNDS = 3
WARM_UP = 200
CHUNK = 1000
REST_S = 1.0
"""Pause between two runs, so that the rest of one is not the load of the other."""

nothing = operator.index
"""Returns its argument. No process has to import a module for it."""
Map = Callable[[Iterable[int]], Iterable[int]]
"""Calls `nothing` for each number and returns what the calls returned."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return calls per second of each, medians over the rounds."""
    load, rounds, calls = load_average(), plan.rounds_of(ROUNDS), plan.jobs_of(CALLS)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home) as up_pid:
            found = await asyncio.to_thread(_measure, home, up_pid, calls, rounds, progress)
            sizes = {"calls": calls, "rounds": rounds, "chunk": CHUNK}
            conditions = await conditions_of(
                home.secrets()["admin"], home.path, load_before=load, sizes=sizes
            )
    return {"unit": "calls/s", **found, "conditions": conditions}


def _measure(
    home: Home, up_pid: int, calls: int, rounds: int, progress: BenchProgress
) -> dict[str, Any]:
    with ExitStack() as until_end:
        maps = _maps(home, until_end)
        rates: dict[str, list[float]] = {name: [] for name in maps}
        progress.begin(1 + rounds * len(maps))
        progress.step("start and warm up")
        for run in maps.values():
            _time(run, min(calls, WARM_UP))
        cpu_s: dict[str, float] = {}
        for number in range(1, rounds + 1):
            for name, run in maps.items():
                progress.step(f"{name}, round {number}")
                time.sleep(REST_S)
                before = _cpu_s(home, up_pid)
                rates[name].append(calls / _time(run, calls))
                if name == "weft_single":
                    time.sleep(REST_S)
                    for role, used in _cpu_s(home, up_pid).items():
                        cpu_s[role] = cpu_s.get(role, 0.0) + used - before[role]
    medians = {name: median_rate(found) for name, found in rates.items()}
    return {
        **medians,
        "ratio": ratio_of(medians["weft"], medians["reference"]),
        "cpu_us": {role: round(used / calls / rounds * 1e6, 1) for role, used in cpu_s.items()},
        "rounds": {name: list(map(round, found)) for name, found in rates.items()},
    }


def _maps(home: Home, until_end: ExitStack) -> Mapping[str, Map]:
    """Return what is compared, each ready to be called."""
    url = json.loads(home.client_file.read_bytes())["url"]
    executor = until_end.enter_context(Executor(url=url, token=home.token(), name="bench"))
    # Not forked: this process has threads.
    pool = until_end.enter_context(ProcessPoolExecutor(mp_context=get_context("spawn")))
    maps: dict[str, Map] = {
        "weft": lambda numbers: executor.map(nothing, numbers),
        "weft_single": lambda numbers: executor.map(nothing, numbers, chunksize=1),
        "reference": lambda numbers: pool.map(nothing, numbers),
        "reference_chunked": lambda numbers: pool.map(nothing, numbers, chunksize=CHUNK),
    }
    if importlib.util.find_spec("ray") is not None:
        maps["ray"] = until_end.enter_context(_running_ray())
    return maps


@contextmanager
def _running_ray() -> Iterator[Map]:
    ray: Any = importlib.import_module("ray")  # not a dependency, so it has no types here
    ray.init(num_cpus=len(os.sched_getaffinity(0)), include_dashboard=False, logging_level="error")
    call = ray.remote(lambda number: number)
    try:
        yield lambda numbers: ray.get([call.remote(number) for number in numbers])
    finally:
        ray.shutdown()


def _time(run: Map, calls: int) -> float:
    """Return the seconds until the last value is there."""
    begun = time.perf_counter()
    found = sum(run(range(calls)))
    took = time.perf_counter() - begun
    if found != calls * (calls - 1) // 2:
        raise BenchFailed("a call failed", detail=f"The sum of all values is {found}.")
    return took


def _cpu_s(home: Home, up_pid: int) -> dict[str, float]:
    """Return the time used by each role and the client; warm processes count in the worker."""
    by_role = {role: use.cpu_s for role, use in use_by_role(home, up_pid).items()}
    client = time.process_time()
    return {**by_role, "client": client, "weft": sum(by_role.values()) + client}
