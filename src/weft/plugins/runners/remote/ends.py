"""How attempts ended, by what their engine says."""

import time
from typing import Final

from weft.core.attempt_key import AttemptKey
from weft.core.files.log_location import LogLocation
from weft.core.states import Reason
from weft.plugins.runners.remote.engine import Status
from weft.ports.log_store import Stored
from weft.ports.runner import Ended

_NS: Final = 1_000_000_000


def at_ns(seconds_ago: float) -> int:
    """Return a time of `CLOCK_MONOTONIC`."""
    return time.monotonic_ns() - int(seconds_ago * _NS)


def ago_s(at_ns: int) -> float:
    """Return how long ago a time of `CLOCK_MONOTONIC` is."""
    return (time.monotonic_ns() - at_ns) / _NS


def ended_by(
    key: AttemptKey, status: Status, stop_reason: int | None, stored: Stored,
    location: LogLocation | None,
) -> Ended:  # fmt: skip
    """Return the end that a status tells. `stop_reason`: why the attempt had to end."""
    assert status.ended_s_ago is not None
    return Ended(
        key,
        0 if status.started_s_ago is None else at_ns(status.started_s_ago),
        at_ns(status.ended_s_ago),
        reason_of(status, stop_reason),
        status.exit_code,
        status.signal,
        status.message,
        cpu_ms=status.cpu_ms,
        memory_peak_bytes=status.memory_peak_bytes,
        stdout_bytes=stored.stdout.written,
        stderr_bytes=stored.stderr.written,
        truncated=stored.is_cut,
        location=location,
    )


def reason_of(status: Status, stop_reason: int | None) -> int | None:
    """Return why an attempt did not succeed. `stop_reason`: why it had to end."""
    if stop_reason is not None and (status.exit_code is None or status.signal is not None):
        return stop_reason
    if status.signal is not None:
        return Reason.SIGNAL
    if status.reason is not None:
        return status.reason
    if status.exit_code is None:
        return Reason.SYSTEM
    return Reason.EXIT if status.exit_code else None
