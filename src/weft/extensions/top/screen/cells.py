"""Workers and batches as lines of `weft top`, live and printed."""

from collections.abc import Callable
from typing import Final

from weft.cli.terminal.names import came_by, state_words, worker_host
from weft.cli.terminal.screen import Columns, Document, one_line, text
from weft.core.ids import format_batch_id
from weft.core.text.amounts import duration, money, size

RIGHT = frozenset({"Waiting", "CPU", "Memory", "Running", "Failed", "Cost", "Took"})


def _state(worker: Document) -> str:
    state: str = worker.get("state", "active")
    if state == "active":
        state = "working" if worker["jobs"] or not worker.get("waiting") else "idle"
    return state


def _progress(batch: Document) -> str:
    done, total = batch["n_completed"], batch["n_jobs"]
    share = f" {done * 100 // total}%" if total else ""
    return f"{done:,}/{total:,}{share}"


def _used(worker: Document, name: str, write: Callable[[float], str]) -> str:
    """Return what its jobs have reserved, before what the worker has: `1.5/`."""
    used = worker.get(name)
    return "" if used is None else f"{write(used)}/"


WORKER: Final[Columns] = {
    "Worker": text("worker", 30), "Pool": text("pool", 20),
    "Host": lambda row: one_line(worker_host(row), width=30),
    "CPU": lambda row: f"{_used(row, 'cpu_used', '{:g}'.format)}{row['cpu']:g}",
    "Memory": lambda row: f"{_used(row, 'memory_used', size)}{size(row['memory'])}",
    "State": _state,
}  # fmt: skip
BATCH: Final[Columns] = {
    "Batch": lambda row: format_batch_id(row["id"]),
    "Name": lambda row: one_line(row["name"] or came_by(row) or "", width=30),
    "User": text("user", 16), "State": state_words, "Progress": _progress,
    "Running": lambda row: f"{row['n_running']:,}",
    "Failed": lambda row: f"{row['n_failed'] + row['n_errored']:,}",
    "Cost": lambda row: money(row["cost"]), "Took": lambda row: duration(row["duration_ms"]),
}  # fmt: skip
