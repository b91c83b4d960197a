"""Batches that stop at a limit of CPU or of money, and go on when that is lifted."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from weft.client.api import Api
from weft.core.errors import ProjectExists
from weft_siege.evidence import CPU_M, MEMORY_MIB, Evidence
from weft_siege.load import PAUSE_S, Batch, Load, after

KIND = "limited"
LIMIT_CPU_S = 4.0
LANES = 4
"""So many run at once at most: without its limit a batch lasts some fifteen seconds, in which a
driver looks, however many workers there are.
"""
SETTLED_WITHIN_S = 60.0
"""For so long after the last fault a batch may neither stand still nor be paused."""
LOOKS = 2
"""So often a driver looks at all limits before a batch that is still beyond its own is wrong."""
OVERRUN_S = 25.0
"""For so long a worker that is stopped may go on with what it runs when a limit is reached: until
it is given up, with the time in which a driver follows another.
"""
STANDSTILL_S = 3.0
Measure = Literal["cpu", "cost"]


async def limited(load: Load, measure: Measure, client: Api, evidence: Evidence) -> None:
    """Submit a batch that waits for a person until it has its limit."""
    slow = [evidence.slow(load.chance.uniform(2, 4)) for _ in range(20)]
    jobs = [after(job, max(1, 2 + place - LANES)) for place, job in enumerate(slow)]
    batch = await load.submit(client, KIND, evidence, [evidence.asked(), *jobs])
    of_cpu_s = 1 / 3600 if measure == "cpu" else await _price_of_cpu_s(client)
    changes = {"measure": measure, "amount_max": LIMIT_CPU_S * of_cpu_s}
    await client.set_limit(changes, batch_id=batch.batch_id)
    await client.answer_job(batch.batch_id, 1)
    load.watch(Watch(load, client, batch, measure, of_cpu_s).run())


async def _price_of_cpu_s(client: Api) -> float:
    """Return what our jobs cost while they use a second of CPU; prices are for mCPU and MiB."""
    newest = max(await client.list_rates(), key=lambda card: card["version"])
    prices = {rate["resource"]: float(rate["price"]) for rate in newest["rates"]}
    a_second = (prices["cpu"] * CPU_M + prices["memory"] * MEMORY_MIB) / 3600
    return a_second / (CPU_M / 1000)


@dataclass(frozen=True)
class Seen:
    """A batch at one look."""

    limit_state: str
    used_cpu_s: float
    n_running: int
    complete: bool

    @property
    def is_still(self) -> bool:
        """Say whether it runs no more, because it is paused, or because all of it has ended: where
        very many workers run it at once, that may be before a driver looks at its limit.
        """
        return not self.n_running and (self.limit_state == "paused" or self.complete)

    @property
    def is_beyond(self) -> bool:
        """Say whether it goes on beyond its limit, by what weft itself has counted."""
        goes_on = not self.complete and self.limit_state != "paused"
        return goes_on and self.used_cpu_s > LIMIT_CPU_S


@dataclass
class Watch:
    """Wait until a batch is paused, see that it stands still, and lift its limit."""

    load: Load
    client: Api
    batch: Batch
    measure: Measure
    of_cpu_s: float
    _late_at: float = field(default=float("inf"), init=False)

    async def run(self) -> None:
        """Watch until its limit is lifted."""
        if seen := await self._until_still():
            begun = self.batch.evidence.begun
            await asyncio.sleep(STANDSTILL_S)
            if more := self.batch.evidence.begun - begun:
                self.batch.overspent.append(f"{more} runs began while it was paused")
            most = LIMIT_CPU_S + begun * CPU_M / 1000 * OVERRUN_S
            if seen.used_cpu_s > most:
                used = f"{seen.used_cpu_s:.0f} s of CPU, or their {self.measure}"
                self.batch.overspent.append(f"it used {used}, {most:.0f} at most")
        lifted = {"measure": self.measure, "amount_max": None}
        await self.client.set_limit(lifted, batch_id=self.batch.batch_id)

    async def _until_still(self) -> Seen | None:
        """Return how it stands still; None if something is wrong, which is noted.

        No clock says that it should have been paused by now: servers are away, and a machine with
        many workers is slow. That a driver has looked at all limits meanwhile says it.
        """
        n_looks = 0
        while not (seen := await self._look()).is_still:
            if seen.is_beyond and n_looks == LOOKS:
                self._note("it was not paused", seen)
                return None
            if self._is_late():
                self._note("it did not come to rest", seen)
                return None
            n_looks = n_looks + 1 if seen.is_beyond and await self._driver_looks() else 0
            await asyncio.sleep(PAUSE_S[1])
        return seen

    def _note(self, what: str, seen: Seen) -> None:
        self.batch.overspent.append(f"{what} at its limit of {self.measure}: {seen}")

    async def _look(self) -> Seen:
        batch_id = self.batch.batch_id
        listed = self.client.list_limits(batch_id)
        found = [one async for one in listed if one["batch_id"] == batch_id]
        now = await self.client.get_batch(batch_id)
        limit = found[0] if found else {"limit_state": "not listed", "amount": "inf"}
        state, amount = limit["limit_state"], float(limit["amount"])
        return Seen(state, amount / self.of_cpu_s, now["n_running"], now["complete"])

    def _is_late(self) -> bool:
        """Say whether the last fault is long ago."""
        if self.load.is_over():
            self._late_at = min(self._late_at, time.monotonic() + SETTLED_WITHIN_S)
        return time.monotonic() > self._late_at

    async def _driver_looks(self) -> bool:
        """Say whether a driver has looked at all limits: it has seen that a project of ours may
        use nothing, and, at a later look, that it may again.
        """
        project = f"of-{self.batch.evidence.path.name}"
        with suppress(ProjectExists):
            await self.client.create_project(project)
        for amount_max in (0, None):
            changes = {"measure": "cpu", "amount_max": amount_max}
            await self.client.set_limit(changes, project=project)
            while await self._is_paused(project) is (amount_max is None):
                if self._is_late():
                    return False
                await asyncio.sleep(PAUSE_S[0])
        return True

    async def _is_paused(self, project: str) -> bool:
        found = [one async for one in self.client.list_limits() if one["project"] == project]
        return any(one["limit_state"] == "paused" for one in found)
