"""The words that explain how a job ended."""

import signal
from collections.abc import Mapping
from typing import Any


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
        return f"killed by {signal_name(int(job['signal']))}"
    words = {
        "no_program": "program not found",
        "timeout": "time limit reached",
        "deadline": "deadline passed",
        "oom": "out of memory",
        "disk": "disk full",
        "bad_spec": "could not start as specified",
        "blocked": "external error",
        "overdue": "beyond a limit of its queue",
        "files": "a file is missing or cannot be kept",
        "log_limit": "wrote more output than allowed",
        "cancelled": "cancelled",
    }
    return words.get(str(reason), state if reason is None else f"{state}: {reason}")


def signal_name(number: int) -> str:
    """Return the name of a signal, as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
