"""Recorded workloads in the Standard Workload Format: one line of 18 numbers for each job.

Source: S. J. Chapin et al., "Benchmarks and standards for the evaluation of parallel job
schedulers", JSSPP 1999; version 2.2 of the Parallel Workloads Archive.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from weft.core.errors import Invalid

FIELDS: Final = 18
JOBS_MAX: Final = 5_000_000
NUMBER_MAX: Final = 1e12
CORES_MAX: Final = 1_000_000
SHOWN_CHARS: Final = 60
KIB_OF_MIB: Final = 1024
UNKNOWN: Final = -1


class UnreadableTrace(Invalid, code="CLI.UNREADABLE_TRACE"):
    """A file that is not a recorded workload in the Standard Workload Format."""

    advice = (
        "Name a file in the Standard Workload Format: 18 numbers in each line; lines that begin "
        "with ; are comments."
    )


class TraceJob(NamedTuple):
    """One job of a recorded workload."""

    number: int
    submit_s: float
    run_s: float
    cpu_m: int
    memory_mib: int
    """1 if the trace does not say it."""
    user: int
    limit_s: float
    """How long its user said that it would run; the true time if the trace does not say it."""
    application: int = UNKNOWN


@dataclass
class Trace:
    """A recorded workload."""

    jobs: list[TraceJob] = field(default_factory=list)
    """In the order of their submission."""
    n_left_out: int = 0
    """Jobs that never ran, or of unknown size or run time."""


def read_trace(lines: Iterable[str], *, name: str) -> Trace:
    """Read a trace. Raise `UnreadableTrace` with file and line for what is no such line."""
    trace = Trace()
    for at, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith(";"):
            continue
        job = _job_of(_numbers_of(text, f"{name}:{at}"), f"{name}:{at}")
        if job is None:
            trace.n_left_out += 1
        else:
            trace.jobs.append(job)
        if len(trace.jobs) > JOBS_MAX:
            raise UnreadableTrace(f"{name} has more than {JOBS_MAX:,} jobs")
    if not trace.jobs:
        left_out = f"It has {trace.n_left_out:,} jobs, none of which ran." * bool(trace.n_left_out)
        raise UnreadableTrace(f"{name} has no jobs", detail=left_out)
    trace.jobs.sort(key=lambda job: (job.submit_s, job.number))
    return trace


def _numbers_of(text: str, where: str) -> list[float]:
    words = text.split()
    try:
        found = [float(word) for word in words]
    except ValueError:
        found = []
    if len(found) != FIELDS or not all(abs(one) <= NUMBER_MAX for one in found):
        count = f"It has {len(words)} of {FIELDS} words"
        wrong = count if len(words) != FIELDS else "Not all are numbers"
        raise UnreadableTrace(
            f"{where} is not a job in the Standard Workload Format",
            detail=f"{wrong}: {text[:SHOWN_CHARS]!r}.",
        )
    return found


def _job_of(found: list[float], where: str) -> TraceJob | None:
    number, submit_s, _, run_s, processors, _, used_kib, wanted, limit_s, wanted_kib = found[:10]
    cores = processors if processors > 0 else wanted
    if run_s < 0 or cores < 1:
        return None
    if submit_s < 0 or cores > CORES_MAX:
        wrong = "submitted before the beginning" if submit_s < 0 else f"of {cores:,.0f} processors"
        raise UnreadableTrace(f"{where} has a job {wrong}")
    kib = max(wanted_kib if wanted_kib > 0 else used_kib, 0)
    return TraceJob(
        number=int(number),
        submit_s=submit_s,
        run_s=run_s,
        cpu_m=int(cores) * 1000,
        memory_mib=max(math.ceil(kib * cores / KIB_OF_MIB), 1),
        user=int(found[11]),
        limit_s=max(limit_s, run_s) if limit_s > 0 else run_s,
        application=int(found[13]) if found[13] > 0 else UNKNOWN,
    )
