"""The exit code for a job that has ended."""

from collections.abc import Mapping
from typing import Any

FAILED = 1
TIMED_OUT = 124
NO_PROGRAM = 127
CANCELLED = 130
SIGNAL_BASE = 128


def exit_code_of(job: Mapping[str, Any]) -> int:
    """Return the exit code as a shell would: 128 + n for a signal, 127 for a missing program."""
    if job["state"] == "success":
        return 0
    reason = job.get("reason")
    if reason == "no_program":
        return NO_PROGRAM
    if reason in {"timeout", "deadline"}:
        return TIMED_OUT
    if job["state"] == "cancelled":
        return CANCELLED
    if job.get("signal"):
        return SIGNAL_BASE + int(job["signal"])
    return int(job.get("exit_code") or FAILED)
