"""The benches by name."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any

from weft.bench.plan import BenchPlan, BenchProgress
from weft.telemetry.log import configure

BENCHES: Mapping[str, str] = {
    "processes": "20,000 small processes, beside xargs",
    "statemachine": "claims and completions in SQL, beside a bare queue",
    "submit": "200,000 jobs over HTTP, beside COPY of bare rows",
    "latency": "submission to first instruction, beside subprocess.run",
    "functions": "50,000 calls of a function, beside ProcessPoolExecutor and Ray",
}
"""Name of the module that measures it, with dashes, and what it asks."""

Measure = Callable[[BenchPlan, BenchProgress], Awaitable[dict[str, Any]]]


def run_bench(
    name: str, plan: BenchPlan, progress: BenchProgress, *, package: str = "weft.bench"
) -> dict[str, Any]:
    """Measure one thing and return `weft`, `reference`, `ratio`, `conditions` and more.

    What it started is ended before this returns or raises, also after Ctrl-C and SIGTERM.
    """
    configure(level="warning", format="auto", role="bench")
    measure: Measure = import_module(f"{package}.{name.replace('-', '_')}").measure
    return {"bench": name, **asyncio.run(_interruptible(measure, plan, progress))}


async def _interruptible(
    measure: Measure, plan: BenchPlan, progress: BenchProgress
) -> dict[str, Any]:
    task = asyncio.ensure_future(measure(plan, progress))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
