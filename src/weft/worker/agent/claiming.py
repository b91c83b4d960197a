"""Decide when and how much to claim from the store, and claim it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from weft.core.scheduling.lease import Budget, pause_s, plan_claim, plan_passing
from weft.core.settling import REFUSALS
from weft.core.states import AttemptKey, Reason
from weft.faults import fault_point
from weft.ports.patience import until_answered, wait_at_most
from weft.ports.runner import Ended
from weft.ports.store import Claimed, GivingStore
from weft.telemetry.log import log
from weft.worker.agent.attempts import Attempts
from weft.worker.agent.hand_over import HandOver
from weft.worker.agent.incarnation import Incarnation
from weft.worker.agent.reporting import Reporting, end_reports

_BEGIN_S = 0.004
"""Let the claimed jobs start first: the next call would compete with them for the core."""
FILL_JOBS_MAX: Final = 100
"""A kept worker claims at most this many at a time."""
_after_claim = fault_point("agent.after_claim")


class Claiming:
    """Keep the runner supplied, but never with more than it will start soon."""

    def __init__(
        self,
        incarnation: Incarnation,
        attempts: Attempts,
        reporting: Reporting,
        handing_over: HandOver,
    ) -> None:
        self._store = incarnation.site.store
        self._incarnation_id = incarnation.incarnation_id
        self._memory = incarnation.memory
        self._held = incarnation.held
        self._outbox = incarnation.outbox
        self._runner = incarnation.site.runner
        self._disks = incarnation.site.disks
        self._attempts = attempts
        self._reporting = reporting
        self._handing_over = handing_over
        self._look = attempts.room
        self._giving = incarnation.site.giving
        self._may_have_work = True
        self._may_be_given = False
        self._n_empty = 0
        """How many claims in a row found nothing, although there was work."""
        self._is_kept = self._has_given_back = False
        self._large: Claimed | None = None
        """The job that this worker was kept for, while there is no room for it."""

    def on_work(self) -> None:
        """Look for work: a notice or the answer to a heartbeat says that there may be some."""
        self._may_have_work = True
        self._look.set()

    def on_given(self) -> None:
        """Ask what was claimed for this worker: a notice says that there may be some."""
        self._may_be_given = True
        self._look.set()

    def on_kept(self, kept: bool) -> None:  # noqa: FBT001 (as the heartbeat says it)
        """Take only the job that this worker is kept for, and what may run before it."""
        if kept or self._is_kept or self._large is not None:
            self._is_kept = kept
            self._look.set()

    async def run(self) -> None:
        """Claim until `Attempts.is_closed`."""
        try:
            await self._claim_all()
        finally:
            await self._handing_over.end()

    async def _claim_all(self) -> None:
        while not self._attempts.is_closed:
            if self._giving is not None and self._may_be_given:
                self._may_be_given = False
                await self._take_given(self._giving)
            if self._is_kept or self._large is not None:
                self._look.clear()
                await self._make_room()
                continue
            self._has_given_back = False
            if self._may_have_work and (passing := self._plan_passing()) is not None:
                self._look.clear()
                if not await self._let_pass(*passing):
                    await self._look.wait()
                continue
            may_claim = self._may_have_work or self._outbox.has_carried
            may_claim = may_claim and not self._disks.are_full()  # each heartbeat says whether
            budget = plan_claim(self._held.load(), self._held.pace) if may_claim else None
            if budget is None:
                await self._look.wait()
                self._look.clear()
                continue
            self._look.clear()
            claimed = await self._claim(budget)
            if claimed:
                self._handing_over.hold(claimed)
                await self._handing_over.hand_over(claimed)
            if not budget.is_used_up(claimed):
                # There was no more work: another claim would only confirm that.
                await self._wait_for_work(claimed)
        if self._large is not None:
            self._attempts.end_unstarted(self._large.key, Reason.PREEMPTED)

    async def _take_given(self, giving: GivingStore) -> None:
        """Start what a submission has claimed for this worker, which it has not to claim then."""
        with self._memory.is_asking():
            given = await until_answered(lambda: giving.list_given(self._incarnation_id))
        if taken := self._memory.take(given):
            _after_claim()
            self._handing_over.hold(taken)
            await self._handing_over.hand_over(taken)
        await self._wait_for_work(taken)

    async def _wait_for_work(self, claimed: Sequence[Claimed]) -> None:
        """Say that this worker sleeps, after it has claimed these."""
        self._may_have_work = False
        if claimed:
            await asyncio.sleep(_BEGIN_S)
        wait = self._giving.wait_to_be_given if self._giving else self._store.wait_for_work
        has_work = await until_answered(lambda: wait(self._incarnation_id))
        self._may_have_work = self._may_have_work or has_work
        self._n_empty = self._n_empty + 1 if has_work and not claimed else 0
        if pause := pause_s(self._n_empty):
            await self._look_within(pause)

    def _plan_passing(self) -> tuple[AttemptKey, Budget] | None:
        """Return the job that waits for room, and what may start before it."""
        found = self._held.without_room()
        if found is None or self._held.slots is not None:
            return None
        waiting, before = found
        budget = plan_passing(self._held.load(), waiting, before)
        return None if budget is None else (waiting.key, budget)

    async def _let_pass(self, waiting: AttemptKey, budget: Budget) -> bool:
        """Claim what fits beside the jobs that keep another waiting; return whether any did."""
        with self._memory.asking(budget) as asked:
            request = replace(asked, passes=(waiting.batch_id, waiting.job_id))
            claimed, _ = await until_answered(
                lambda: self._store.claim_reserved(self._incarnation_id, request)
            )
        self._memory.note(request, claimed)
        self._handing_over.hold(claimed, passes=True)
        await self._handing_over.hand_over(claimed)
        for one in claimed:
            log.info("worker.passed", key=one.key, waiting=waiting)
        return bool(claimed)

    async def _look_within(self, seconds: float) -> None:
        """Wait until there is room or news, but not for long."""
        await wait_at_most(seconds, self._look)

    async def _make_room(self) -> None:
        """Start the job that this worker is kept for if there is room. Else claim it, or jobs that
        are over before there is room, or wait for a change.
        """
        if not self._has_given_back:
            # What was claimed ahead would start whenever there is room.
            self._runner.withdraw([held.key for held in self._held.leases()])
            self._has_given_back = True
        if self._large is not None:
            held = self._held.by_key.get(self._large.key)
            if held is None or held.ended or self._has_room():
                large, self._large = self._large, None
                await self._handing_over.hand_over_part([large])
                return
        claimed, is_large = await self._claim_reserved()
        if is_large:
            (self._large,), self._is_kept = claimed, False
            self._handing_over.hold(claimed)
        elif claimed:
            self._handing_over.hold(claimed)
            await self._handing_over.hand_over(claimed)
        else:
            await self._look.wait()

    async def _claim_reserved(self) -> tuple[Sequence[Claimed], bool]:
        """Claim, and return whether this is the job that this worker is kept for."""
        load = self._held.load()
        budget = Budget(
            load.cpu_m - load.cpu_m_held, load.memory_mib - load.memory_mib_held, FILL_JOBS_MAX
        )
        if self._large is not None:
            budget = budget._replace(
                cpu_m=budget.cpu_m + self._large.cpu_m,
                memory_mib=budget.memory_mib + self._large.memory_mib,
            )
        with self._memory.asking(budget) as request:
            claimed, fills = await until_answered(
                lambda: self._store.claim_reserved(self._incarnation_id, request)
            )
        self._memory.note(request, claimed)
        for one in claimed:
            log.info("worker.filled" if fills else "worker.reserved", key=one.key)
        return claimed, bool(claimed) and not fills

    def _has_room(self) -> bool:
        """Say whether all that this worker has can run."""
        load = self._held.load()
        return load.cpu_m_held <= load.cpu_m and load.memory_mib_held <= load.memory_mib

    async def _claim(self, budget: Budget) -> Sequence[Claimed]:
        """Claim; waiting ends are reported in the same transaction."""
        ends = self._outbox.take_ends()
        await self._reporting.ask_blocks(ends)
        try:
            verdicts, claimed = await until_answered(lambda: self._ask(budget, ends))
        except REFUSALS:
            raise
        except Exception:
            if not ends:
                raise
            log.exception("worker.claim_failed", ends=len(ends))
            await self._reporting.report_ends(ends)
            return await self._claim(budget)
        if claimed:
            _after_claim()
        if verdicts:
            self._reporting.recorded(ends, verdicts)
        if ends or claimed:
            self._outbox.ends_make_work = bool(claimed and self._held.load().ended_lately)
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
