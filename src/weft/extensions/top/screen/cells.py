"""Workers and batches as lines of `weft top`, live and printed."""

from collections.abc import Callable

from weft.cli.terminal.names import came_by, state_words, worker_host
from weft.cli.terminal.screen import Document, one_line
from weft.core.ids import format_batch_id
from weft.core.text.amounts import duration, money, size

WORKER_HEADER = ("Worker", "Pool", "Host", "CPU", "Memory", "State")
BATCH_HEADER = ("Batch", "Name", "User", "State", "Progress", "Running", "Failed", "Cost", "Took")
RIGHT = frozenset({"Waiting", "CPU", "Memory", "Running", "Failed", "Cost", "Took"})


def worker_cells(worker: Document) -> tuple[str, ...]:
    """Return a worker as a line of a table."""
    state = worker.get("state", "active")
    if state == "active":
        state = "working" if worker["jobs"] or not worker.get("waiting") else "idle"
    return (
        one_line(worker["worker"], width=30),
        one_line(worker["pool"], width=20),
        one_line(worker_host(worker), width=30),
        f"{_used(worker, 'cpu_used', '{:g}'.format)}{worker['cpu']:g}",
        f"{_used(worker, 'memory_used', size)}{size(worker['memory'])}",
        state,
    )


def batch_cells(batch: Document) -> tuple[str, ...]:
    """Return a batch as a line of a table."""
    done, total = batch["n_completed"], batch["n_jobs"]
    share = f" {done * 100 // total}%" if total else ""
    return (
        format_batch_id(batch["id"]),
        one_line(batch["name"] or came_by(batch) or "", width=30),
        one_line(batch["user"], width=16),
        state_words(batch),
        f"{done:,}/{total:,}{share}",
        f"{batch['n_running']:,}",
        f"{batch['n_failed'] + batch['n_errored']:,}",
        money(batch["cost"]),
        duration(batch["duration_ms"]),
    )


def _used(worker: Document, name: str, write: Callable[[float], str]) -> str:
    """Return what its jobs have reserved, before what the worker has: `1.5/`."""
    used = worker.get(name)
    return "" if used is None else f"{write(used)}/"
