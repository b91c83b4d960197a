"""Claim jobs, read their specs, hand them to the spawner."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from weft.core.attempt_key import AttemptKey
from weft.core.errors import WeftError
from weft.core.lease import LEASE_AGE_MAX_S, Budget, plan_claim
from weft.core.states import Reason
from weft.ports.executor import Executor, ExecutorLimits
from weft.ports.store import Claimed, WorkerStore
from weft.telemetry.log import get_logger
from weft.wire.spawner import Ended, Withdraw
from weft.worker.agent.claim_memory import ClaimMemory
from weft.worker.agent.held import HeldAttempts
from weft.worker.agent.outcomes import end_reports
from weft.worker.agent.outgoing import Outgoing, parts_of, shared_by
from weft.worker.agent.patience import until_answered
from weft.worker.agent.reporting import Reporting
from weft.worker.agent.spawner_link import SpawnerLink
from weft.worker.agent.specs import Specs

log = get_logger()

_BEGIN_S = 0.004
"""What was claimed begins first: the call that follows would take the core from it."""


class Claiming:
    """Keep the spawner supplied, never with more than it will start soon."""

    def __init__(
        self,
        store: WorkerStore,
        incarnation_id: int,
        *,
        memory: ClaimMemory,
        held: HeldAttempts,
        link: SpawnerLink,
        executors: Mapping[str, Executor],
        limits: ExecutorLimits,
        reporting: Reporting,
        on_end: Callable[[Ended], None],
    ) -> None:
        self._store = store
        self._incarnation_id = incarnation_id
        self._memory = memory
        self._held = held
        self._link = link
        self._executors = executors
        self._limits = limits
        self._reporting = reporting
        self._on_end = on_end
        self._specs = Specs(store)
        self._look = asyncio.Event()
        self._may_have_work = True
        self._return_timer: asyncio.TimerHandle | None = None
        self.draining = False

    def on_work(self) -> None:
        """Look for work: a notice or the answer to a heartbeat says that there may be some."""
        self._may_have_work = True
        self._look.set()

    def on_room(self) -> None:
        """Look whether more is wanted: an attempt has ended."""
        self._look.set()

    async def run(self) -> None:
        """Claim for ever, until `draining`."""
        while not self.draining:
            budget = (
                plan_claim(self._held.load(), self._held.pace) if self._may_have_work else None
            )
            if budget is None:
                await self._look.wait()
                self._look.clear()
                continue
            self._look.clear()
            claimed = await self._claim(budget)
            if claimed:
                await self._hand_over(claimed)
            if not budget.is_used_up(claimed):
                # Nothing more was there: another claim would only say so again.
                self._may_have_work = False
                if claimed:
                    await asyncio.sleep(_BEGIN_S)
                has_work = await until_answered(
                    lambda: self._store.wait_for_work(self._incarnation_id)
                )
                self._may_have_work = self._may_have_work or has_work

    async def _claim(self, budget: Budget) -> Sequence[Claimed]:
        """Claim; ends that wait are reported in the same transaction."""
        ends = self._reporting.take()
        verdicts, claimed = await until_answered(lambda: self._ask(budget, ends))
        if ends:
            self._reporting.told(ends, verdicts)
        return claimed

    async def _ask(
        self, budget: Budget, ends: Sequence[Ended]
    ) -> tuple[Sequence[str], Sequence[Claimed]]:
        verdicts: Sequence[str] = ()
        with self._memory.asking(budget) as request:
            if ends:
                verdicts, claimed = await self._store.complete_and_claim(
                    self._incarnation_id, end_reports(ends), request
                )
            else:
                claimed = await self._store.claim_jobs(self._incarnation_id, request)
        self._memory.note(request, claimed)
        return verdicts, claimed

    async def _hand_over(self, claimed: Sequence[Claimed]) -> None:
        """Send what was claimed to the spawner, in order."""
        for one in claimed:
            self._held.add(_key_of(one), cpu_m=one.cpu_m, memory_mib=one.memory_mib)
        for part in parts_of(claimed):
            await self._hand_over_part(part)
        self._plan_return()

    async def _hand_over_part(self, claimed: Sequence[Claimed]) -> None:
        specs = await until_answered(lambda: self._specs.read(claimed))
        sharing = {
            place
            for one, spec in zip(claimed, specs, strict=True)
            if (place := shared_by(one, spec))
        }
        shared = await until_answered(lambda: self._specs.read_shared(sharing)) if sharing else {}
        outgoing = Outgoing(self._link, self._executors, self._limits, shared)
        for one, spec in zip(claimed, specs, strict=True):
            key = _key_of(one)
            held = self._held.by_key.get(key)
            if self.draining:
                self._on_end(_unstarted(key, Reason.PREEMPTED, ""))
                continue
            if held is None or held.ended:  # cancelled while its spec was read
                continue
            try:
                outgoing.add(key, one, spec)
                held.is_sent = True
            except WeftError as error:
                self._on_end(_unstarted(key, Reason.BAD_SPEC, error.message))
        outgoing.send()

    def _plan_return(self) -> None:
        """Look once more when the oldest lease is too old."""
        if self._return_timer is None:
            loop = asyncio.get_running_loop()
            self._return_timer = loop.call_later(LEASE_AGE_MAX_S, self._return_old)

    def _return_old(self) -> None:
        """Ask back what was not started soon, but for the first: it is next."""
        self._return_timer = None
        leases = self._held.leases()
        before_ns = time.monotonic_ns() - int(LEASE_AGE_MAX_S * 1e9)
        old = [held.key for held in leases[1:] if held.claimed_ns <= before_ns]
        if old:
            self._link.send(Withdraw(old))
        if len(leases) > 1:
            self._plan_return()

    def on_withdrawn(self, keys: Sequence[AttemptKey]) -> None:
        """Hand back what the spawner had not started."""
        for key in keys:
            self._on_end(_unstarted(key, Reason.PREEMPTED, ""))


def _key_of(one: Claimed) -> AttemptKey:
    return AttemptKey(one.batch_id, one.job_id, one.attempt)


def _unstarted(key: AttemptKey, reason: Reason, message: str) -> Ended:
    return Ended(key, 0, time.monotonic_ns(), killed_for=reason, message=message)
