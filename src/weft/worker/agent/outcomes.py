"""What the database is told of an end."""

import time
from collections.abc import Sequence

from weft.core.states import Reason
from weft.ports.store import EndReport, StartReport
from weft.wire.log_format import segment_location
from weft.wire.spawner import Ended, Started

_MESSAGE_CHARS_MAX = 1000


def reason_of(ended: Ended) -> int | None:
    """Return why an attempt did not succeed; `None` if it did."""
    if ended.failure is not None:
        return ended.failure
    if ended.killed_for is not None:
        return ended.killed_for
    if ended.signal is not None:
        return Reason.SIGNAL
    return Reason.EXIT if ended.exit_code else None


def end_report(ended: Ended, now_ns: int) -> EndReport:
    """Return the report of an end, with ages as of now."""
    key = ended.key
    return EndReport(
        batch_id=key.batch_id,
        job_id=key.job_id,
        attempt=key.attempt,
        start_age_us=(now_ns - ended.started_ns) // 1000 if ended.started_ns else None,
        end_age_us=(now_ns - ended.ended_ns) // 1000,
        reason=reason_of(ended),
        exit_code=ended.exit_code,
        signal=ended.signal,
        cpu_ms=ended.cpu_ms,
        memory_peak_bytes=ended.memory_peak_bytes,
        stdout_bytes=ended.stdout_bytes,
        stderr_bytes=ended.stderr_bytes,
        truncated=ended.truncated,
        location=segment_location(ended.segment, ended.offset),
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
