"""The words that explain how a job ended."""

import signal
from collections.abc import Mapping
from typing import Any, Final

from weft.core.text.amounts import duration, size

MESSAGE_CHARS_MAX: Final = 16 << 10
"""What an attempt says of its end is cut here; the text of a step is no longer by default."""
OVER: Final = 1.5
OVER_BYTES: Final = 64 << 20
"""A job is told to have used more from this multiple of what it reserved on; but not for less than
these bytes."""


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
        other = job.get("outputs_of")
        return f"succeeded as {other}, whose outputs it has" if other else "succeeded"
    if reason == "exit":
        return f"exit code {job.get('exit_code')}"
    if job.get("signal") and reason == "signal":
        return f"killed by {signal_name(int(job['signal']))}"
    limit_s = job.get("timeout_s") or (job.get("spec") or {}).get("timeout_s")
    if limit_s and reason == "timeout":
        return f"time limit of {duration(1000 * limit_s)} reached"
    words = {
        "no_program": "program not found",
        "timeout": "time limit reached",
        "deadline": "deadline passed",
        "oom": "out of memory",
        "no_image": "image not found",
        "preempted": "interrupted, with its worker or for other jobs",
        "lost": "lost with its worker",
        "system": "ended by an error of the worker",
        "disk": "disk full",
        "bad_spec": "could not start as specified",
        "blocked": "external error",
        "overdue": "beyond a limit of its queue",
        "files": "a file is missing or cannot be kept",
        "log_limit": "wrote more output than allowed",
        "cancelled": "cancelled",
    }
    return words.get(str(reason), state if reason is None else f"{state}: {reason}")


def has_output(job: Mapping[str, Any]) -> bool:
    """Return whether a job has written something, or has the output of one that did the same."""
    return bool(job.get("attempt") or job.get("outputs_of"))


def never_started(job: Mapping[str, Any], ref: str) -> tuple[str, str]:
    """Return why an ended job has no output, and where to look instead."""
    look = f"`weft status {ref}` shows its history."
    if other := job.get("outputs_of"):
        why = (
            f"It did not run, as {other} had done the same, and the batch of that one was deleted."
        )
        return why, "Submit it again: then it runs."
    return f"It never started: {explain_end({**job, 'spec': None})}.", look


def over_memory(peak_bytes: int | None, reserved_bytes: int | None) -> str:
    """Return in words that a job used much more memory than it reserved; empty: it did not.

    >>> over_memory(160 << 20, 8 << 20)
    'used 160.0 MiB of memory, 20 times the 8.0 MiB that it reserved'
    """
    if not peak_bytes or not reserved_bytes or peak_bytes < OVER * reserved_bytes:
        return ""
    if peak_bytes - reserved_bytes < OVER_BYTES:
        return ""
    times = f"{peak_bytes / reserved_bytes:,.2g}" if peak_bytes < 10 * reserved_bytes else ""
    times = times or f"{round(peak_bytes / reserved_bytes):,}"
    return (
        f"used {size(peak_bytes)} of memory, {times} times the {size(reserved_bytes)} "
        "that it reserved"
    )


def signal_name(number: int) -> str:
    """Return the name of a signal, as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
