"""What a job of Toil is in the words of weft, and what an end is in those of Toil."""

import re
from collections.abc import Mapping
from concurrent.futures import Future
from itertools import islice
from typing import Any, Final

from toil.batchSystems.abstractBatchSystem import EXIT_STATUS_UNAVAILABLE_VALUE, BatchJobExitReason
from toil.bus import get_job_kind
from toil.job import JobDescription

NAME_CHARACTERS: Final = 200
WORKER_BYTES: Final = 512 << 20
"""What Toil's worker itself takes, beside what a job asks for: as on Kubernetes."""
WORKER_S: Final = 60
"""Likewise: it imports Toil, and copies files. Limits of tools of CWL are kept by Toil, too."""
REASONS: Final[Mapping[str, BatchJobExitReason]] = {
    "lost": BatchJobExitReason.LOST,
    "preempted": BatchJobExitReason.LOST,
    "cancelled": BatchJobExitReason.KILLED,
    "oom": BatchJobExitReason.MEMLIMIT,
    "timeout": BatchJobExitReason.TIMELIMIT,
    "exit": BatchJobExitReason.FAILED,
    "signal": BatchJobExitReason.FAILED,
}
SHOWN_LINES: Final = 10
CHATTER: Final = re.compile(r"\s*$|\[\d{4}-\d\d-\d\dT|Traceback|  |\t")
"""What Toil itself writes in a job."""


def document_of(
    command: str, job: JobDescription, env: Mapping[str, str], queue: str | None
) -> dict[str, Any]:
    """Return the document of a job that runs a command of the shell. Its numbers are plain ones:
    those of CWL files may be such as know how they are written there.
    """
    document: dict[str, Any] = {
        "name": get_job_kind(job.get_names())[:NAME_CHARACTERS],
        "script": f"#!/bin/bash\n{command}\n",
        "env": dict(env),
        "resources": {
            "cpu": float(job.cores),
            "memory": int(job.memory) + WORKER_BYTES,
            "storage": int(job.disk) + WORKER_BYTES,
            "gpu": sum(accelerator["count"] for accelerator in job.accelerators),
        },
        "timeout_s": float(job.walltime) + WORKER_S if job.walltime else None,
        "queue": queue,
        "preemptible": job.preemptible or None,
        "attributes": {"toil_job": str(job.jobStoreID)},
    }
    return {word: value for word, value in document.items() if value is not None}


def end_of(end: "Future[Any]") -> tuple[int, BatchJobExitReason]:
    """Return the exit status of a job, and why it ended."""
    if end.exception() is not None:
        return EXIT_STATUS_UNAVAILABLE_VALUE, BatchJobExitReason.ERROR
    row = end.result()
    if row.state == "success":
        return 0, BatchJobExitReason.FINISHED
    status = 128 + row.signal if row.signal else row.exit_code
    reason = REASONS.get(row.reason or row.state, BatchJobExitReason.ERROR)
    return status or EXIT_STATUS_UNAVAILABLE_VALUE, reason


def message(ref: str, why: str | None, log: bytes) -> str:
    """Return what one is told of a job that failed: its cause, and how its errors begin."""
    own = (line for line in log.decode(errors="replace").splitlines() if not CHATTER.match(line))
    shown = [f"  {line[:300]}" for line in islice(own, SHOWN_LINES)]
    return "\n".join([f"weft job {ref} {why or 'failed'}", *shown, f"more: weft logs {ref}"])
