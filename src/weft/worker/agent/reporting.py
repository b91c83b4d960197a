"""Report starts, phases and ends to the store, in sets.

A claim also carries the ends that are waiting: see `Claiming`.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

import msgspec

from weft.core.attempt_key import AttemptKey
from weft.core.conditions import ALWAYS, BLOCKS_EXIT_CODE, Ask, WrongAsk
from weft.ports.runner import Ended, Entered, Started
from weft.ports.store import EndReport, PhaseReport, StartReport, WorkerStore
from weft.telemetry import metrics
from weft.telemetry.log import get_logger
from weft.worker.agent.block_files import BlockFiles
from weft.worker.agent.patience import until_answered

log = get_logger()

_SET_WANTED = 250
_SET_MAX = 1000
_GATHER_S = 0.015
# With a large stock a call each 15 ms would be one of some 30 jobs, which cost as much as 100.
_MANY = 100
_GATHER_LONG_S = 0.06
_MESSAGE_CHARS_MAX = 1000


class Reporting:
    """Make one call at a time; the next set is collected meanwhile."""

    def __init__(
        self,
        store: WorkerStore,
        incarnation_id: int,
        on_recorded: Callable[[Sequence[AttemptKey]], None],
        *,
        block_files: BlockFiles,
    ) -> None:
        self._store = store
        self._incarnation_id = incarnation_id
        self._on_recorded = on_recorded
        self._block_files = block_files
        self._starts: dict[AttemptKey, Started] = {}
        self._phases: dict[AttemptKey, Entered] = {}
        self._ends: dict[AttemptKey, Ended] = {}
        self._sending: dict[AttemptKey, Ended] = {}
        self._asks: dict[AttemptKey, Ask] = {}
        """What attempts that are about to be reported wait for."""
        self._something = asyncio.Event()
        self._enough = asyncio.Event()
        self._settled = asyncio.Event()
        self._settled.set()
        self.expected: Callable[[], int] = lambda: 0
        """How many ends are still expected: waiting for more pays only if there are some."""

    def add_start(self, started: Started) -> None:
        """Report that an attempt runs; its earlier phases need no report any more."""
        self._phases.pop(started.key, None)
        self._starts[started.key] = started
        self._something.set()

    def add_phase(self, entered: Entered) -> None:
        """Report the phase of an attempt; only the latest one is sent."""
        self._phases[entered.key] = entered
        self._something.set()

    def add_end(self, ended: Ended) -> None:
        """Report an end. Its start and phase then need no separate report."""
        if ended.key in self._sending:
            return
        self._starts.pop(ended.key, None)
        self._phases.pop(ended.key, None)
        self._ends[ended.key] = self._with_ask(ended)
        self._settled.clear()
        self._something.set()
        if len(self._ends) >= _SET_WANTED:
            self._enough.set()

    async def until_settled(self) -> None:
        """Wait until every end is recorded."""
        await self._settled.wait()

    async def run(self) -> None:
        """Report until cancelled."""
        while True:
            await self._something.wait()
            if self.expected() and len(self._ends) < _SET_WANTED:
                await self._gather(_GATHER_LONG_S if self.expected() >= _MANY else _GATHER_S)
            self._something.clear()
            self._enough.clear()
            if ends := self.take():
                await self._report_ends(ends)
            if starts := self._take_starts():
                await self._report_starts(starts)
            if phases := self._take_phases():
                await self._report_phases(phases)

    def take(self) -> Sequence[Ended]:
        """Return the ends to report now; none while others are being reported. The caller must
        pass them to `told` once they are recorded.
        """
        if self._sending:
            return []
        keys = list(self._ends)[:_SET_MAX]
        self._sending = {key: self._ends.pop(key) for key in keys}
        return list(self._sending.values())

    def told(self, ends: Sequence[Ended], verdicts: Sequence[str]) -> None:
        """Drop the ends that the store has recorded."""
        keys = [one.key for one in ends]
        self._sending = {}
        _count(ends)
        stale = [key for key, verdict in zip(keys, verdicts, strict=True) if verdict == "stale"]
        if stale:
            log.warning("attempt.ends_stale", count=len(stale), first=str(stale[0]))
        self._on_recorded(keys)
        if self._ends or self._starts or self._phases:
            self._something.set()
        if not self._ends:
            self._settled.set()

    async def _gather(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._enough.wait()
        except TimeoutError:
            return

    def _take_starts(self) -> Sequence[Started]:
        """Return the starts that may be reported now. A start that took the place of a process
        whose end is not recorded yet must wait: the records would exceed the worker's capacity.
        """
        waiting = chain(self._ends.values(), self._sending.values())
        before_ns = min((one.ended_ns for one in waiting), default=None)
        found = [
            one for one in self._starts.values() if before_ns is None or one.started_ns < before_ns
        ]
        for one in found:
            del self._starts[one.key]
        return found

    async def _report_starts(self, starts: Sequence[Started]) -> None:
        await until_answered(
            lambda: self._store.start_attempts(
                self._incarnation_id,
                [
                    start_report(one, time.monotonic_ns())
                    for one in starts
                    if one.key not in self._ends
                ],
            )
        )

    def _take_phases(self) -> Sequence[Entered]:
        """Return the phases that may be reported now: a phase must not overtake its start."""
        found = [one for key, one in self._phases.items() if key not in self._starts]
        for one in found:
            del self._phases[one.key]
        return found

    async def _report_phases(self, phases: Sequence[Entered]) -> None:
        await until_answered(
            lambda: self._store.record_phases(
                self._incarnation_id,
                [phase_report(one) for one in phases if one.key not in self._ends],
            )
        )

    def _with_ask(self, ended: Ended) -> Ended:
        """Note what an attempt asks to wait for; what is wrong with that becomes its message."""
        if ended.exit_code != BLOCKS_EXIT_CODE and ended.ask is None:
            return ended
        try:
            ask = ended.ask or self._block_files.read(ended.key)
        except WrongAsk as error:
            message = f"the block file is ignored: {error}"
            return msgspec.structs.replace(ended, message=ended.message or message)
        if ask is not None and ask.tester != ALWAYS:
            self._asks[ended.key] = ask
        return ended

    async def ask_blocks(self, ends: Sequence[Ended]) -> None:
        """Tell what these attempts wait for. Call it before their ends are reported."""
        for one in ends:
            if self._asks and (ask := self._asks.get(one.key)) is not None:
                await until_answered(partial(self._ask_block, one.key, ask))
                del self._asks[one.key]

    async def _ask_block(self, key: AttemptKey, ask: Ask) -> bool:
        return await self._store.ask_block(self._incarnation_id, key, ask)

    async def _report_ends(self, ends: Sequence[Ended]) -> None:
        await self.ask_blocks(ends)
        verdicts = await until_answered(
            lambda: self._store.complete_attempts(self._incarnation_id, end_reports(ends))
        )
        self.told(ends, verdicts)


def _count(ends: Sequence[Ended]) -> None:
    by_outcome: dict[str, int] = {}
    for one in ends:
        outcome = "success" if one.reason is None else "other"
        by_outcome[outcome] = by_outcome.get(outcome, 0) + 1
    for outcome, count in by_outcome.items():
        metrics.ATTEMPTS_ENDED.labels(outcome).inc(count)


def end_report(ended: Ended, now_ns: int) -> EndReport:
    """Return the report of an end, with ages as of now."""
    key = ended.key
    return EndReport(
        batch_id=key.batch_id,
        job_id=key.job_id,
        attempt=key.attempt,
        start_age_us=(now_ns - ended.started_ns) // 1000 if ended.started_ns else None,
        end_age_us=(now_ns - ended.ended_ns) // 1000,
        reason=ended.reason,
        exit_code=ended.exit_code,
        signal=ended.signal,
        cpu_ms=ended.cpu_ms,
        memory_peak_bytes=ended.memory_peak_bytes,
        stdout_bytes=ended.stdout_bytes,
        stderr_bytes=ended.stderr_bytes,
        truncated=ended.truncated,
        location=ended.location,
        message=ended.message[:_MESSAGE_CHARS_MAX].replace("\0", "\\0"),
    )


def end_reports(ends: Sequence[Ended]) -> list[EndReport]:
    """Return the reports of ends, with ages as of now."""
    now_ns = time.monotonic_ns()
    return [end_report(one, now_ns) for one in ends]


def start_report(started: Started, now_ns: int) -> StartReport:
    """Return the report of a start, with its age as of now."""
    key = started.key
    return StartReport(
        batch_id=key.batch_id,
        job_id=key.job_id,
        attempt=key.attempt,
        age_us=(now_ns - started.started_ns) // 1000,
    )


def phase_report(entered: Entered) -> PhaseReport:
    """Return the report of a phase."""
    key = entered.key
    return PhaseReport(
        batch_id=key.batch_id, job_id=key.job_id, attempt=key.attempt, phase=entered.phase
    )
