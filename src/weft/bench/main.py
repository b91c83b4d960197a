"""The benches by name."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from weft.bench.plan import BenchPlan, BenchProgress
from weft.telemetry.log import configure

BENCHES: Mapping[str, str] = {
    "processes": "20,000 small processes, beside xargs",
    "statemachine": "claims and completions in SQL, beside a bare queue",
    "submit": "200,000 jobs over HTTP, beside COPY of bare rows",
    "arrays": "1,000,000 jobs of one array, beside INSERT ... SELECT of bare rows",
    "hail": "100,000 jobs of Hail's client, beside the same client with a stub",
    "latency": "submission to first instruction, beside subprocess.run",
    "commands": "signals to a running job while its agent is busy, beside none else",
    "groups": "claims and completions with 1, 3 and 6 groups per job",
    "huge": "reading a batch of 16,000,000 jobs, beside one of 1,000",
    "commit": "commit of 1,000,000 jobs, beside one of 1,000",
    "dag": "a scatter of 100,000 jobs and a gather, beside one UPDATE",
    "writers": "four processes completing jobs of one group, beside four groups",
    "cancel": "cancel of 1,000,000 jobs that run, and the batch behind them",
    "gates": "half of 100,000 jobs waiting for 1,000 concurrency keys, beside none",
    "release": "100,000 jobs blocked on one condition, when its test passes",
    "incidents": "10,000 conditions at once, each tested when it is due",
    "failures": "1,000,000 jobs that fail for three causes, beside jobs that succeed",
    "retry": "a retry of 100,000 failed jobs among 1,000,000, until all are ready",
    "claim-many": "claims among 10,000 users and 100 queues, beside one of each",
    "claim-pinned": "claims while a transaction stays open, beside claims without it",
    "claimers": "64 claimers at once, beside the number that does best",
    "grown": "claims beside 10,000,000 finished jobs, and beside 10,000",
    "functions": "50,000 calls of a function, beside ProcessPoolExecutor and Ray",
    "fairness": "shares of five users with unequal backlogs, and a late user's first start",
    "autoscale": "a round of the autoscaler over 1,000,000 ready jobs",
    "fleet": "1,000 workers on one database: heartbeats, and jobs that come for them",
    "simulate": "three months of a recorded workload, beside real time",
    "sight-pairs": "what another tenant has, beside what does not exist, on every route",
    "tenants": "one of 10,000 tenants with 10 users each, beside a tenant alone",
    "storm": "requests beside a tenant that sends ten times as many as it may, and without it",
    "limit": "1,000 running jobs whose project reaches its limit, beside the cost of a tick",
    "revoke": "a revoked token, role, user or session, until two apis refuse it",
    "trail": "entries of the trail until they are sealed, and their writers without that",
    "jwt": "JSON web tokens of each algorithm, verified with the keys at hand",
    "pages": "every page of 100,000 batches and 1,000,000 jobs, by HTTP and in Chromium",
    "idle": "a minute without work: statements, time, memory",
}
"""Name of the module that measures it, with dashes, and what it asks."""

PARTS: Mapping[str, Sequence[str]] = {"pages": ("site", "jobs", "log", "commands")}
"""The parts of benches that can be measured alone."""

Measure = Callable[[BenchPlan, BenchProgress], Awaitable[dict[str, Any]]]


def run_bench(name: str, plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Measure one thing and return `weft`, `reference`, `ratio`, `conditions` and more.

    What it started is ended before this returns or raises, also after Ctrl-C and SIGTERM.
    """
    configure(level="warning", format="auto", role="bench")
    measure: Measure = import_module(f"weft.bench.{name.replace('-', '_')}").measure
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
