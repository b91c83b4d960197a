"""Report starts, phases and ends to the store, in sets.

A claim also carries the ends that are waiting: see `Claiming`.
"""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import asdict

from weft.core.ends.end_words import MESSAGE_CHARS_MAX
from weft.core.settling import REFUSALS, settle_each
from weft.faults import fault_point
from weft.ports.patience import until_answered, wait_at_most
from weft.ports.runner import Ended, Entered, Started, mistaken
from weft.ports.store import EndReport, PhaseReport, StartReport
from weft.settings import how_to_set
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.worker.agent.attempts import Attempts
from weft.worker.agent.incarnation import Incarnation

# From one call to the next, at least: an end that is alone waits for nobody.
_GATHER_S = 0.015
# With a large stock a call each 15 ms would be one of some 30 jobs, which cost as much as 100.
_MANY = 100
_GATHER_LONG_S = 0.06
_NAMED = re.compile(r"\(([a-z]+(?:_[a-z0-9]+)+)\)")
_before_report = fault_point("agent.before_report")
_after_report = fault_point("agent.after_report")


class Reporting:
    """Empty the outbox: one call at a time; the next set is collected meanwhile."""

    def __init__(self, incarnation: Incarnation, attempts: Attempts) -> None:
        self._store = incarnation.site.store
        self._incarnation_id = incarnation.incarnation_id
        self._outbox = incarnation.outbox
        self._attempts = attempts

    async def run(self) -> None:
        """Report until cancelled."""
        outbox, held = self._outbox, self._attempts.held
        reported_at = float("-inf")
        while True:
            await outbox.something.wait()
            # Waiting for more ends pays only if some are still expected.
            if (held.live_count or outbox.has_carried) and not outbox.has_enough:
                pause = _GATHER_LONG_S if held.live_count >= _MANY else _GATHER_S
                await self._gather(reported_at + pause - time.monotonic())
            outbox.something.clear()
            outbox.enough.clear()
            if ends := outbox.take_ends():
                await self.report_ends(ends)
            if starts := outbox.take_starts():
                await self._tell(starts, start_report, self._store.start_attempts)
            if phases := outbox.take_phases():
                await self._tell(phases, phase_report, self._store.record_phases)
            reported_at = time.monotonic()

    async def _gather(self, seconds: float) -> None:
        await wait_at_most(seconds, self._outbox.enough)

    async def report_ends(self, ends: Sequence[Ended]) -> None:
        """Report ends that were taken; of one that cannot be, that it could not."""
        await settle_each(ends, self._report_some, self._report_bare, beyond=REFUSALS)

    async def _report_bare(self, ended: Ended, error: Exception) -> None:
        log.error("attempt.end_mistaken", key=ended.key, exc_info=error)
        why = f"its end could not be reported: {type(error).__name__}"
        await self._report_some([mistaken(ended, why)])

    async def _report_some(self, ends: Sequence[Ended]) -> None:
        await self.ask_blocks(ends)
        _before_report()
        verdicts = await until_answered(
            lambda: self._store.complete_attempts(self._incarnation_id, end_reports(ends))
        )
        _after_report()
        self.recorded(ends, verdicts)

    def recorded(self, ends: Sequence[Ended], verdicts: Sequence[str]) -> None:
        """Forget the ends that the store has recorded."""
        keys = [end.key for end in ends]
        self._count(ends)
        stale = [key for key, verdict in zip(keys, verdicts, strict=True) if verdict == "stale"]
        if stale:
            log.warning("attempt.ends_stale", count=len(stale), names=[key.name for key in stale])
        self._attempts.recorded(keys)
        self._outbox.settle(keys)

    def _count(self, ends: Sequence[Ended]) -> None:
        held = self._attempts.held.by_key
        n_good = sum(end.reason is None for end in ends)
        for outcome, count in (("success", n_good), ("other", len(ends) - n_good)):
            if count:
                metrics.ATTEMPTS_ENDED.labels(outcome).inc(count)
        for end in ends:
            if end.started_ns and end.key in held:
                seconds = (end.ended_ns - end.started_ns) / 1e9
                metrics.ATTEMPT_SECONDS.labels(held[end.key].executor or "unknown").observe(
                    seconds
                )

    async def _tell(
        self,
        items: Sequence[Any],
        report: Callable[[Any, int], object],
        call: Callable[[int, list[Any]], Awaitable[object]],
    ) -> None:
        """Report starts or phases of those whose ends do not wait, with ages as of now."""

        def reports() -> list[object]:
            now_ns, has_end = time.monotonic_ns(), self._outbox.has_end
            return [report(item, now_ns) for item in items if not has_end(item.key)]

        await until_answered(lambda: call(self._incarnation_id, reports()))

    async def ask_blocks(self, ends: Sequence[Ended]) -> None:
        """Tell what these attempts wait for. Call it before their ends are reported."""
        for key, ask in self._outbox.take_asks(ends).items():
            await until_answered(partial(self._store.ask_block, self._incarnation_id, key, ask))


def end_report(ended: Ended, now_ns: int) -> EndReport:
    """Return the report of an end, with ages as of now."""
    return EndReport(
        **asdict(ended.key),
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
        message=_with_settings(ended.message)[:MESSAGE_CHARS_MAX].replace("\0", "\\0"),
    )


def _with_settings(message: str) -> str:
    """Return why an attempt ended, with how the settings are changed that it names."""
    told = how_to_set(names) if (names := _NAMED.findall(message)) else ""
    return f"{message}. {told}" if told else message


def end_reports(ends: Sequence[Ended]) -> list[EndReport]:
    """Return the reports of ends, with ages as of now."""
    now_ns = time.monotonic_ns()
    return [end_report(end, now_ns) for end in ends]


def start_report(started: Started, now_ns: int) -> StartReport:
    """Return the report of a start, with its age as of now."""
    return StartReport(**asdict(started.key), age_us=(now_ns - started.started_ns) // 1000)


def phase_report(entered: Entered, now_ns: int) -> PhaseReport:
    """Return the report of a phase, with its age as of now."""
    return PhaseReport(
        **asdict(entered.key),
        phase=entered.phase,
        message=entered.message.replace("\0", "\\0"),
        age_us=(now_ns - entered.entered_ns) // 1000,
    )
