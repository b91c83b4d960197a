"""weft beside others, the same work in one run: commands, functions, sleepers, memory, latency,
and what becomes of jobs when the worker or the server is killed.

Each peer takes its rounds in turns with weft. docs/peers.md says how each is set up.
"""

import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from statistics import median
from typing import Any, Final

from benches.engine_loop import run
from benches.peers.cases import SLEEPERS_AT_ONCE, Cases
from benches.peers.sides import PEERS, Side, pss_mb, remove, side_of
from weft.bench.figures import Headline, document_of, load_average, machine_conditions, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress

JOBS: Final = 500
"""Commands; functions are twice as many."""
ROUNDS: Final = 2
LATENCIES: Final = 40
WARM_UP: Final = 100
KILL_AT_ONCE: Final = 4
REST_S: Final = 3.0
CORES: Final = os.cpu_count() or 1


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the figures of each peer beside weft's of the same rounds."""
    load, names = load_average(), [name for name in PEERS if plan.wants(name)]
    progress.begin(1 + 5 * len(names))
    figures: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        progress.step("start weft")
        weft = await _started(stack, "weft")
        figures["weft"] = await _at_rest(weft)
        for name in names:
            progress.step(f"start {name}")
            await run("tools/peer.sh", name)
            figures[name] = await _beside(name, weft, plan, progress)
        figures["weft"] |= await _loaded(weft)
    sizes = {"commands": plan.jobs_of(JOBS), "functions": 2 * plan.jobs_of(JOBS)}
    conditions = machine_conditions(load_before=load, sizes=sizes)
    ratios = [one["process"]["ratio"] for name, one in figures.items() if name != "weft"]
    return document_of(Headline("ratio", min(ratios), 1, min(ratios)), figures, conditions)


async def _beside(
    name: str, weft: Cases, plan: BenchPlan, progress: BenchProgress
) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        peer = await _started(stack, name)
        figures = await _at_rest(peer)
        kinds = ("process", "noop") if peer.side.peer.functions else ("process",)
        for kind in kinds:
            progress.step(f"{name}: {kind}")
            count = plan.jobs_of(JOBS) * (1 if kind == "process" else 2)
            if kind == "noop" and peer.side.peer.forks:
                count //= 5
            figures[kind] = await _in_turns((weft, peer), kind, count, plan.rounds_of(ROUNDS))
        progress.step(f"{name}: latency")
        own, ours = [await one.latency_ms(LATENCIES) for one in (peer, weft)]
        figures["latency_ms"] = {"weft": ours, "peer": own, "ratio": ratio_of(own, ours)}
        progress.step(f"{name}: sleepers, kills")
        return figures | await _loaded(peer)


async def _in_turns(
    sides: Sequence[Cases], kind: str, count: int, rounds: int
) -> dict[str, float]:
    for side in sides:
        await side.rate(kind, WARM_UP)
    rates = [[await side.rate(kind, count) for side in sides] for _ in range(rounds)]
    weft, peer = (median(some) for some in zip(*rates, strict=True))
    return {"weft": round(weft), "peer": round(peer), "ratio": ratio_of(weft, peer)}


async def _at_rest(cases: Cases) -> dict[str, Any]:
    await cases.rate("process", WARM_UP)
    await asyncio.sleep(REST_S)
    return {"rest_mb": pss_mb(cases.side.pids())}


async def _loaded(cases: Cases) -> dict[str, Any]:
    await cases.side.start(SLEEPERS_AT_ONCE)
    await cases.rate("process", SLEEPERS_AT_ONCE)
    figures: dict[str, Any] = {"sleepers": await cases.sleepers()}
    await cases.side.start(KILL_AT_ONCE)
    figures["worker_killed"] = await cases.killed("worker")
    if cases.side.peer.keeps_jobs and cases.side.peer.server:
        figures["server_killed"] = await cases.killed("server")
    return figures


async def _started(stack: AsyncExitStack, name: str) -> Cases:
    side = side_of(name)
    stack.callback(remove, side)
    stack.push_async_callback(Side.stop, side)
    await side.start(CORES)
    return Cases(side)
