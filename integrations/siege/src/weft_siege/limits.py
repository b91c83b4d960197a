"""Batches that stop at a limit of CPU or of money, and go on when that is lifted."""

import asyncio
import time
from dataclasses import replace
from typing import Literal

from weft.client.api import Api
from weft_siege.evidence import CPU_M, MEMORY_MIB, Evidence
from weft_siege.load import PAUSE_S, Batch, Load, after

KIND = "limited"
LIMIT_CPU_S = 4.0
PAUSED_WITHIN_S = 60.0
OVERRUN_S = 25.0
"""For so long a worker that is stopped may go on with what it runs when a limit is reached: until
it is given up, with the time in which a driver follows another.
"""
STANDSTILL_S = 3.0
Measure = Literal["cpu", "cost"]


async def limited(load: Load, measure: Measure, client: Api, evidence: Evidence) -> None:
    """Submit a batch that waits for a person until it has its limit."""
    asked = replace(evidence.true(), document={"wait": {"for": "approval"}})
    slow = [evidence.slow(load.chance.uniform(2, 4)) for _ in range(20)]
    batch = await load.submit(client, KIND, evidence, [asked, *(after(job, 1) for job in slow)])
    of_cpu_s = 1 / 3600 if measure == "cpu" else await _price_of_cpu_s(client)
    changes = {"measure": measure, "amount_max": LIMIT_CPU_S * of_cpu_s}
    await client.set_limit(changes, batch_id=batch.batch_id)
    await client.answer_job(batch.batch_id, 1)
    load.watch(_watch(client, batch, measure, of_cpu_s))


async def _price_of_cpu_s(client: Api) -> float:
    """Return what our jobs cost while they use a second of CPU; prices are for mCPU and MiB."""
    newest = max(await client.list_rates(), key=lambda card: card["version"])
    prices = {rate["resource"]: float(rate["price"]) for rate in newest["rates"]}
    a_second = (prices["cpu"] * CPU_M + prices["memory"] * MEMORY_MIB) / 3600
    return a_second / (CPU_M / 1000)


async def _watch(client: Api, batch: Batch, measure: Measure, of_cpu_s: float) -> None:
    """Wait until a batch is paused, see that it stands still, and lift its limit. Where very many
    workers run it at once, it may end before a driver has seen that it is beyond its limit: by
    what the jobs wrote, since many requests may be needed to learn of it.
    """
    begun_at = time.monotonic()
    while (used := await _used_at_standstill(client, batch)) is None:
        if time.monotonic() > begun_at + PAUSED_WITHIN_S:
            batch.overspent.append(f"it was not paused at its limit of {measure}")
            break
        await asyncio.sleep(PAUSE_S[1])
    else:
        begun = batch.evidence.begun
        await asyncio.sleep(STANDSTILL_S)
        if more := batch.evidence.begun - begun:
            batch.overspent.append(f"{more} runs began while it was paused")
        most = LIMIT_CPU_S + begun * CPU_M / 1000 * OVERRUN_S
        if used / of_cpu_s > most:
            used_s = f"{used / of_cpu_s:.0f} s of CPU"
            batch.overspent.append(f"it used {used_s}, or their {measure}, {most:.0f} at most")
    await client.set_limit({"measure": measure, "amount_max": None}, batch_id=batch.batch_id)


async def _used_at_standstill(client: Api, batch: Batch) -> float | None:
    """Return what a batch has used, in the measure of its limit, if it runs no more, because it is
    paused or all of it ran within `OVERRUN_S`: 0 if what had begun was lost.
    """
    limits = [
        limit
        async for limit in client.list_limits(batch.batch_id)
        if limit["batch_id"] == batch.batch_id
    ]
    now = await client.get_batch(batch.batch_id)
    is_over = now["complete"] and batch.evidence.lasted_s < OVERRUN_S
    for limit in limits:
        if not now["n_running"] and (limit["limit_state"] == "paused" or is_over):
            return float(limit["amount"])
    return None
