"""How long from `weft exec`'s request to the first byte that its command writes.

Commands run beside a job that sleeps: of the worker of a `weft up`, and of a linked one that is
reached through a relay, which holds each byte for 10 ms both ways. One after the other, in turns.
"""

import time
from contextlib import AsyncExitStack
from typing import Any, Final

from benches.commands import until_started
from benches.connect_processes import DELAY_S, delaying
from benches.outside import linked_worker, open_pools
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home, url_of
from weft.client.api import Api

COMMANDS: Final = 200
WARM_UP: Final = 5
GOALS: Final = {"here": 50, "delayed": 200}
"""Milliseconds, of the median."""
WAYS: Final = ("here", "delayed")
_MS: Final = 1000


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the milliseconds of both ways."""
    load, count = load_average(), plan.jobs_of(COMMANDS)
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    progress.begin(2)
    progress.step("start")
    async with AsyncExitStack() as stack:
        home = stack.enter_context(throwaway_home(plan.directory))
        await stack.enter_async_context(running_weft(home))
        client = await stack.enter_async_context(client_of(home))
        await open_pools(home, "delayed")
        url = url_of(home)
        far = await stack.enter_async_context(delaying(url))
        await stack.enter_async_context(linked_worker(home, url, name="delayed", through=far))
        batches = {way: await _sleeping(client, way) for way in WAYS}
        progress.step(f"{count} commands each")
        for number in range(WARM_UP + count):
            for way, batch in batches.items():
                took = await _first_byte(client, batch)
                if number >= WARM_UP:
                    times[way].append(took)
        for batch in batches.values():
            await client.cancel_batch(batch)
        conditions = await conditions_of(
            home.secrets()["admin"],
            home.path,
            load_before=load,
            sizes={"commands": count, "delay_s": DELAY_S},
        )
    here, delayed = (
        {f"p{one}_ms": round(percentile(times[way], one), 1) for one in (50, 99)} for way in WAYS
    )
    ratio = ratio_of(GOALS["here"], here["p50_ms"])
    return document_of(
        Headline("ms", here, {"p50_ms": GOALS["here"]}, ratio),
        {"goals": GOALS, "delayed": delayed},
        conditions,
    )


async def _sleeping(client: Api, where: str) -> int:
    rest = {"attributes": {"where": where}, "resources": {"cpu": "10m", "memory": "16Mi"}}
    job = {"command": ["/bin/sleep", "3600"], **rest}
    batch = int((await client.create_batch({"jobs": [job]}))["id"])
    await until_started(client, batch)
    return batch


async def _first_byte(client: Api, batch: int) -> float:
    """Return the milliseconds until a command has said something."""
    at: list[float] = []

    async def hear(_: int, __: bytes) -> None:
        at.append(time.perf_counter())

    begun = time.perf_counter()
    ended = await (await client.begin_exec(batch, 1, ["/bin/echo", "x"])).run(on_output=hear)
    if not at or ended.exit_code:
        raise BenchFailed("a command said nothing", detail=f"It ended with {ended.exit_code}.")
    return (at[0] - begun) * _MS
