"""Claim jobs, read their specs, hand them to the runner."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from weft.core.attempt_key import AttemptKey
from weft.core.errors import WeftError
from weft.core.lease import LEASE_AGE_MAX_S, Budget, pause_s, plan_claim
from weft.core.states import Reason
from weft.ports.runner import Assignment, Ended, Runner, never_started
from weft.ports.store import Claimed, WorkerStore
from weft.telemetry.log import get_logger
from weft.wire.spec import JobSpec
from weft.worker.agent.arguments import ArgumentFiles
from weft.worker.agent.claim_memory import ClaimMemory
from weft.worker.agent.held import HeldAttempts
from weft.worker.agent.job_accounts import JobAccounts
from weft.worker.agent.job_secrets import JobSecrets
from weft.worker.agent.patience import until_answered
from weft.worker.agent.reporting import Reporting, end_reports
from weft.worker.agent.signatures import Refused, Signatures
from weft.worker.agent.specs import Specs, definer_of, parts_of

log = get_logger()

_BEGIN_S = 0.004
"""Let the claimed jobs start first: the next call would compete with them for the core."""
FILL_JOBS_MAX: Final = 100
"""A kept worker claims at most this many at a time."""


class Claiming:
    """Keep the runner supplied, but never with more than it will start soon."""

    def __init__(
        self,
        store: WorkerStore,
        incarnation_id: int,
        *,
        memory: ClaimMemory,
        held: HeldAttempts,
        runner: Runner,
        reporting: Reporting,
        arguments: ArgumentFiles,
        secrets: JobSecrets,
        signatures: Signatures,
        accounts: JobAccounts | None,
        on_end: Callable[[Ended], None],
        on_submitted: Callable[[], None],
    ) -> None:
        self._store = store
        self._incarnation_id = incarnation_id
        self._memory = memory
        self._held = held
        self._runner = runner
        self._reporting = reporting
        self._arguments = arguments
        self._secrets = secrets
        self._accounts = accounts
        self._on_end = on_end
        self._on_submitted = on_submitted
        self._fetching: set[asyncio.Task[None]] = set()
        self._specs = Specs(store, signatures)
        self._look = asyncio.Event()
        self._may_have_work = True
        self._n_empty = 0
        """How many claims in a row found nothing, although there was work."""
        self._return_timer: asyncio.TimerHandle | None = None
        self._is_kept = self._has_given_back = False
        self._large: Claimed | None = None
        """The job that this worker was kept for, while there is no room for it."""
        self.draining = False

    def on_work(self) -> None:
        """Look for work: a notice or the answer to a heartbeat says that there may be some."""
        self._may_have_work = True
        self._look.set()

    def on_kept(self, kept: bool) -> None:  # noqa: FBT001 (as the heartbeat says it)
        """Take only the job that this worker is kept for, and what may run before it."""
        if kept or self._is_kept or self._large is not None:
            self._is_kept = kept
            self._look.set()

    def on_room(self) -> None:
        """Check whether more work is wanted: an attempt has ended."""
        self._look.set()

    async def run(self) -> None:
        """Claim until `draining` is set."""
        try:
            await self._claim_all()
        finally:
            for task in self._fetching:
                task.cancel()

    async def _claim_all(self) -> None:
        while not self.draining:
            if self._is_kept or self._large is not None:
                self._look.clear()
                await self._make_room()
                continue
            self._has_given_back = False
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
                # There was no more work: another claim would only confirm that.
                self._may_have_work = False
                if claimed:
                    await asyncio.sleep(_BEGIN_S)
                has_work = await until_answered(
                    lambda: self._store.wait_for_work(self._incarnation_id)
                )
                self._may_have_work = self._may_have_work or has_work
                self._n_empty = self._n_empty + 1 if has_work and not claimed else 0
                if pause := pause_s(self._n_empty):
                    await self._look_within(pause)
        if self._large is not None:
            self._on_end(_never_started(_key_of(self._large), Reason.PREEMPTED))

    async def _look_within(self, seconds: float) -> None:
        """Wait until there is room or news, but not for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._look.wait()

    async def _make_room(self) -> None:
        """Start the job that this worker is kept for if there is room. Else claim it, or jobs that
        are over before there is room, or wait for a change.
        """
        if not self._has_given_back:
            # What was claimed ahead would start whenever there is room.
            self._runner.withdraw([held.key for held in self._held.leases()])
            self._has_given_back = True
        if self._large is not None:
            held = self._held.by_key.get(_key_of(self._large))
            if held is None or held.ended or self._has_room():
                large, self._large = self._large, None
                await self._hand_over_part([large])
                return
        claimed, is_large = await self._claim_reserved()
        if is_large:
            (self._large,), self._is_kept = claimed, False
            self._held.add(
                _key_of(self._large), cpu_m=self._large.cpu_m, memory_mib=self._large.memory_mib
            )
        elif claimed:
            await self._hand_over(claimed)
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
            log.info("worker.filled" if fills else "worker.reserved", key=_key_of(one))
        return claimed, bool(claimed) and not fills

    def _has_room(self) -> bool:
        """Say whether all that this worker has can run."""
        load = self._held.load()
        return load.cpu_m_held <= load.cpu_m and load.memory_mib_held <= load.memory_mib

    async def _claim(self, budget: Budget) -> Sequence[Claimed]:
        """Claim; waiting ends are reported in the same transaction."""
        ends = self._reporting.take()
        await self._reporting.ask_blocks(ends)
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
        """Submit the claimed jobs to the runner, in order."""
        for one in claimed:
            self._held.add(_key_of(one), cpu_m=one.cpu_m, memory_mib=one.memory_mib)
        for part in parts_of(claimed):
            await self._hand_over_part(part)
        self._plan_return()

    async def _hand_over_part(self, claimed: Sequence[Claimed]) -> None:
        specs = await until_answered(lambda: self._specs.read(claimed))
        definers = [definer_of(one, spec) for one, spec in zip(claimed, specs, strict=True)]
        sharing = {
            definer
            for definer, spec in zip(definers, specs, strict=True)
            if isinstance(spec, JobSpec) and spec.shares is not None
        }
        shared = await until_answered(lambda: self._specs.read_shared(sharing)) if sharing else {}
        assignments, secretive = [], []
        for one, spec, definer in zip(claimed, specs, definers, strict=True):
            key = _key_of(one)
            held, carrier = self._held.by_key.get(key), shared.get(definer)
            if self.draining:
                self._on_end(_never_started(key, Reason.PREEMPTED))
            elif held is None or held.ended:
                continue  # cancelled while its spec was read
            elif spec is None:
                self._on_end(_never_started(key, Reason.BAD_SPEC, "its spec is missing"))
            elif isinstance(spec, Refused):
                self._on_end(_never_started(key, spec.reason, spec.message))
            elif isinstance(carrier, Refused):
                self._on_end(_never_started(key, carrier.reason, carrier.message))
            else:
                assignment = Assignment(
                    key, spec, one.cpu_m, one.memory_mib, definer, carrier, one.gpu
                )
                if spec.secrets or self._accounts is not None:
                    secretive.append(assignment)
                elif _waits_for_arguments(spec):
                    self._begin(self._hand_over_fetched(assignment))
                else:
                    held.is_sent = True
                    assignments.append(assignment)
        if secretive:
            self._begin(self._hand_over_secretive(secretive))
        if assignments:
            await self._runner.submit(assignments)
            self._on_submitted()

    def _begin(self, handing_over: Coroutine[None, None, None]) -> None:
        """Hand jobs over as soon as what they need is here; others do not wait for them."""
        task = asyncio.create_task(handing_over)
        self._fetching.add(task)
        task.add_done_callback(self._fetching.discard)

    async def _hand_over_secretive(self, some: Sequence[Assignment]) -> None:
        ready = []
        given: Sequence[Assignment | Ended] = some
        if any(one.spec.secrets for one in some):
            given = await self._secrets.give(some)
        if self._accounts is not None:
            given = await self._accounts.give(given)
        for one in given:
            held = self._held.by_key.get(one.key)
            if held is None or held.ended:
                continue  # cancelled while they were read
            if isinstance(one, Ended):
                self._on_end(one)
            elif _waits_for_arguments(one.spec):
                self._begin(self._hand_over_fetched(one))
            else:
                ready.append(one)
        await self._submit_late(ready)

    async def _hand_over_fetched(self, one: Assignment) -> None:
        reason, message = None, ""
        try:
            one = msgspec.structs.replace(one, spec=await self._arguments.fetch(one.key, one.spec))
        except OSError as error:
            reason, message = Reason.DISK, f"its arguments cannot be written: {error.strerror}"
        except WeftError as error:
            reason, message = Reason.BAD_SPEC, error.message
        held = self._held.by_key.get(one.key)
        if held is None or held.ended:
            return  # cancelled while they were fetched
        if reason is not None:
            self._on_end(_never_started(one.key, reason, message))
            return
        await self._submit_late([one])

    async def _submit_late(self, some: Sequence[Assignment]) -> None:
        """Submit jobs that had to wait for what they need."""
        for one in some:
            if self.draining:
                self._on_end(_never_started(one.key, Reason.PREEMPTED))
                continue
            held = self._held.by_key[one.key]
            held.is_sent = True
            held.claimed_ns = time.monotonic_ns()  # its lease begins now
        if some and not self.draining:
            await self._runner.submit(some)
            self._on_submitted()
            self._plan_return()

    def _plan_return(self) -> None:
        """Schedule a check for the time when the oldest lease becomes too old."""
        if self._return_timer is None:
            loop = asyncio.get_running_loop()
            self._return_timer = loop.call_later(LEASE_AGE_MAX_S, self._return_old)

    def _return_old(self) -> None:
        """Withdraw the jobs that were not started in time, except the first one, which is next."""
        self._return_timer = None
        leases = self._held.leases()
        before_ns = time.monotonic_ns() - int(LEASE_AGE_MAX_S * 1e9)
        old = [held.key for held in leases[1:] if held.claimed_ns <= before_ns]
        if old:
            self._runner.withdraw(old)
        if len(leases) > 1:
            self._plan_return()

    def on_withdrawn(self, keys: Sequence[AttemptKey]) -> None:
        """Return the jobs that the runner had not begun to the database."""
        for key in keys:
            self._on_end(_never_started(key, Reason.PREEMPTED))


def _waits_for_arguments(spec: JobSpec) -> bool:
    return spec.function is not None and spec.function.arguments_digest is not None


def _key_of(one: Claimed) -> AttemptKey:
    return AttemptKey(one.batch_id, one.job_id, one.attempt)


def _never_started(key: AttemptKey, reason: Reason, message: str = "") -> Ended:
    return never_started(key, reason, now_ns=time.monotonic_ns(), message=message)
