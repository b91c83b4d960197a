"""How attempts ended, by what their engine says."""

import time
from typing import Final

from weft.core.states import Reason
from weft.plugins.runners.remote.engine import Status

_NS: Final = 1_000_000_000


def at_ns(seconds_ago: float) -> int:
    """Return a time of `CLOCK_MONOTONIC`."""
    return time.monotonic_ns() - int(seconds_ago * _NS)


def ago_s(at_ns: int) -> float:
    """Return how long ago a time of `CLOCK_MONOTONIC` is."""
    return (time.monotonic_ns() - at_ns) / _NS


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
