"""Names and states of jobs and groups as tables and messages show them."""

from collections.abc import Iterable, Mapping
from typing import Any

from weft.cli.terminal.plain import cell
from weft.core.ends.end_words import explain_end
from weft.core.ids import format_batch_id
from weft.core.progress_file import progress_of
from weft.core.states import ENDED_WORDS, shown_state
from weft.core.text.amounts import counted
from weft.core.text.number_ranges import format_ranges

Document = Mapping[str, Any]


def group_name(group: Document) -> str:
    """Return a group as commands name it: `b12/stage1`."""
    return f"{format_batch_id(group['batch_id'])}/{(group['path'] or group['name']).lstrip('/')}"


def job_name(job: Document, *, width: int) -> str:
    """Return the name of a job; in an array with its index: `resize[17]`."""
    index = job.get("index")
    return cell(job.get("name") or "", width=width) + ("" if index is None else f"[{index}]")


def came_by(batch: Document) -> str | None:
    """Return the door through which a batch came, and by which id its clients know it."""
    return " ".join(batch[name] for name in ("door", "foreign_id") if name in batch) or None


def state_words(document: Document) -> str:
    """Return the state of a job, batch or group, and whether a hold keeps it from starting."""
    state = shown_state(document)
    if state == "success" and document.get("n_jobs") == 0:
        return "success (no jobs)"
    if "n_jobs" in document:
        may_start = not document["complete"]
    else:
        may_start = state not in ENDED_WORDS and document["state"] != "running"
    return f"{state} (held)" if document.get("held") and may_start else state


def shown_phase(document: Document) -> str | None:
    """Return the phase of a job or attempt, in words, and what an engine elsewhere says of it."""
    phase: str | None = document.get("phase")
    if phase == "assigned":
        return "until its worker has room for it"
    said = document.get("message") if phase else None
    return f"{phase}: {said}" if said else phase


def why_of(job: Document) -> str:
    """Return why a job failed or waits, or what it does: how far it is, or its phase."""
    if job["state"] in ENDED_WORDS:
        return "" if job["state"] == "success" else explain_end(job)
    progress = progress_of(job) if job.get("phase") == "executing" else None
    return job.get("why") or progress or shown_phase(job) or ""


def worker_state(worker: Document) -> str:
    """Return the state in words, with what keeps a draining worker."""
    count = worker["n_running"]
    if worker["state"] not in {"cordoned", "draining"} or not count:
        return str(worker["state"])
    return f"{worker['state']}, {count:,} job{'s' * (count != 1)} running"


def worker_host(worker: Document) -> str:
    """Return the host of a worker, and whether it is outside; an older server does not say so."""
    if not worker.get("linked"):
        return str(worker["host"])
    said = worker.get("link")
    away = f" {round(said['delay_ms'])} ms" if said else ""
    return f"{worker['host']} (link{away})"


def number_ranges(numbers: Iterable[int], prefix: str = "j") -> str:
    """Return ascending numbers as ranges: `j2–j1001, j1005`."""
    parts = format_ranges(numbers).split(",")
    return ", ".join("–".join(f"{prefix}{n}" for n in part.split("-") if n) for part in parts)


def retried_words(n_jobs: int, n_late: int) -> str:
    """Return how many jobs run again, and how many are too late for that."""
    runs = "runs" if n_jobs == 1 else "run"
    said = f"{counted(n_jobs, 'job')} {runs} again" if n_jobs else "nothing to retry"
    passed = "its deadline has passed" if n_late == 1 else "their deadlines have passed"
    return f"{said}; {counted(n_late, 'job')} left out: {passed}" if n_late else said


def simulates(worker: Document) -> bool:
    """Say whether a worker runs simulated jobs alone: it has slots, and nothing of a machine."""
    return bool(worker.get("slots")) and worker["memory"] == 1 << 20
