"""A worker without processes: its calls, as the agent makes them, in a few tasks."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from weft.bench.turns import CPU_M, MEMORY_MIB, register, report_of
from weft.core.scheduling.lease import CLAIM_JOBS_MAX, Budget, pause_s
from weft.ports.patience import until_answered
from weft.ports.store import Claimed, HeartbeatAnswer, WorkerStore
from weft.worker.agent.incarnation import ClaimMemory

JOB_S: Final = 1.0
BUDGET: Final = Budget(CPU_M, MEMORY_MIB, CLAIM_JOBS_MAX)
"""One job at a time."""


class Seen:
    """What all workers saw."""

    def __init__(self) -> None:
        self.claimed: list[tuple[int, float]] = []
        """Batch and time of each job that was claimed."""
        self.late: list[float] = []
        """How long after its time each heartbeat was answered."""
        self.n_claims = 0
        self.n_asleep = 0
        """How often a worker said that it waits."""
        self.n_ended = 0
        self.n_lost = 0


class FleetWorker:
    """One worker."""

    def __init__(self, store: WorkerStore, number: int, seen: Seen, heartbeat_s: float) -> None:
        self._store = store
        self._name = f"fleet-{number}"
        self._seen = seen
        self._heartbeat_s = heartbeat_s
        self._memory = ClaimMemory()
        self._held: Sequence[Claimed] = []
        self._has_work = asyncio.Event()
        self.incarnation_id = 0
        self.job_s = JOB_S

    async def register(self) -> None:
        """Say that this worker is here."""
        self.incarnation_id = await register(self._store, self._name, cores=1)

    def on_work(self) -> None:
        """Claim: a notice says that there may be work."""
        self._has_work.set()

    async def beat(self, *, first_s: float) -> None:
        """Send heartbeats; workers began at different times."""
        due = time.perf_counter() + first_s
        while True:
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            answer, heard = await until_answered(self._beat_once)
            self._memory.confirm(heard)
            self._seen.late.append(time.perf_counter() - due)
            self._seen.n_lost += not answer.alive
            if answer.has_work:
                self.on_work()
            due += self._heartbeat_s

    async def _beat_once(self) -> tuple[HeartbeatAnswer, Sequence[int]]:
        held = [(one.batch_id, one.job_id, one.attempt) for one in self._held]
        heard = self._memory.heard()
        answer = await self._store.heartbeat(
            self.incarnation_id,
            held,
            draining=False,
            claiming=self._memory.is_claiming,
            heard=heard,
        )
        return answer, heard

    async def work(self, *, first_s: float) -> None:
        """Claim and run jobs; sleep while there are none."""
        n_empty = 0
        await asyncio.sleep(first_s)
        while True:
            self._has_work.clear()
            await self._claim()
            while self._held:
                n_empty = 0
                await asyncio.sleep(self.job_s)
                await self._claim()
            if await until_answered(lambda: self._store.wait_for_work(self.incarnation_id)):
                n_empty += 1
                await self._pause(pause_s(n_empty))
            else:
                n_empty = 0
                self._seen.n_asleep += 1
                await self._has_work.wait()

    async def _pause(self, seconds: float) -> None:
        """Leave what others are claiming to them for a moment."""
        if seconds:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._has_work.wait()

    async def _claim(self) -> None:
        """Report the end of what runs, and claim the next."""
        reports = await until_answered(self._ask)
        now = time.perf_counter()
        self._seen.claimed += [(one.batch_id, now) for one in self._held]
        self._seen.n_claims += 1
        self._seen.n_ended += reports

    async def _ask(self) -> int:
        """Return how many ends were reported."""
        reports = [report_of(one) for one in self._held]
        with self._memory.asking(BUDGET) as request:
            if reports:
                _, self._held = await self._store.complete_and_claim(
                    self.incarnation_id, reports, request
                )
            else:
                self._held = await self._store.claim_jobs(self.incarnation_id, request)
        self._memory.note(request, self._held)
        return len(reports)
