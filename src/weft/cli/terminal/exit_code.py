"""The exit code of a job, and the words that explain how it ended."""

import signal
from collections.abc import Mapping
from typing import Any

FAILED = 1
TIMED_OUT = 124
NO_PROGRAM = 127
CANCELLED = 130
SIGNAL_BASE = 128


def exit_code_of(job: Mapping[str, Any]) -> int:
    """Return the exit code for an ended job, as a shell would: 128 + n for a signal, 127 for a
    missing program.
    """
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


def explain_end(job: Mapping[str, Any]) -> str:
    """Return in a few words how a job ended, with its message."""
    end = explain_reason(job)
    if str(job["state"]) == "success" or not job.get("message"):
        return end
    return end if job.get("reason") in {"exit", "signal"} else f"{end} ({job['message']})"


def explain_reason(job: Mapping[str, Any]) -> str:
    """Return in a few words why a job ended: the same for all with the same reason."""
    reason, state = job.get("reason"), str(job["state"])
    if state == "success":
        return "succeeded"
    if reason == "exit":
        return f"exit code {job.get('exit_code')}"
    if job.get("signal") and reason == "signal":
        return f"killed by {_signal_name(int(job['signal']))}"
    words = {
        "no_program": "program not found",
        "timeout": "time limit reached",
        "deadline": "deadline passed",
        "oom": "out of memory",
        "disk": "disk full",
        "bad_spec": "could not start as specified",
        "log_limit": "wrote more output than allowed",
        "cancelled": "cancelled",
    }
    return words.get(str(reason), state if reason is None else f"{state}: {reason}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
