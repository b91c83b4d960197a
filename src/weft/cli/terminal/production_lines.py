"""Production lines as lines of tables: sources, sinks, and how many jobs have each status."""

from collections.abc import Sequence
from typing import Final

from weft.cli.terminal.screen import Columns, Document, at, cell, long_text, one_line, text
from weft.core.deliveries.sinks import unsent
from weft.core.lines.line import failing

WAITING_MAX = 10_000
"""The server counts no further."""


def line_facts(lines: Document) -> str:
    """Return in a line what sinks have not sent, and how many jobs have each status."""
    sinks = [f"sink {one['sink']}: {told}" for one in lines["sinks"] if (told := unsent(one))]
    statuses = [f"{line['n_jobs']:,} {line['status']}" for line in lines["statuses"]]
    return "   ".join(one_line(one, width=60) for one in (*sinks, *statuses))


def failing_facts(lines: Document, workers: Sequence[Document] = ()) -> str:
    """Return in a line which sources and sinks fail, and which workers take no jobs and why; each
    is an incident.
    """
    failed = {kind: [one for one in failing(lines) if kind in one] for kind in ("source", "sink")}
    failed["worker"] = [one for one in workers if one["cordon_reason"] is not None]
    words = ("error", "last_error", "cordon_reason")
    return "   ".join(
        f"{kind} {one[kind]}: {cell(one[word] or 'messages were given up', width=60)}"
        for (kind, some), word in zip(failed.items(), words, strict=True)
        for one in some
    )


def _last_item(source: Document) -> str:
    return "".join(
        f"{cell(item['key'], width=30)}: {item['job'] or item['state']}"
        for item in source["last_items"][:1]
    )


def _n_waiting(source: Document) -> str:
    n_waiting = source["n_waiting"]
    return f"{n_waiting:,}{'+' if n_waiting == WAITING_MAX else ''}"


SOURCE: Final[Columns] = {
    "Source": "source",
    "Kind": "kind",
    "State": "state",
    "Read": at("read_at"),
    "Waiting": _n_waiting,
    "Last item": _last_item,
    "Error": long_text("error", 60),
}
SINK: Final[Columns] = {
    "Sink": lambda row: row["sink"] + " (removed)" * row["removed"],
    "Open": lambda row: f"{row['n_open']:,}",
    "Given up": lambda row: f"{row['n_given_up']:,}",
    "Held": lambda row: f"{row['n_held']:,}",
    "Oldest open": at("oldest_at"),
    "Last error": long_text("last_error", 60),
}
STATUS: Final[Columns] = {
    "Lifecycle": "lifecycle",
    "Status": "status",
    "Jobs": lambda row: f"{row['n_jobs']:,}",
}
ITEM: Final[Columns] = {
    "Item": text("key", 40),
    "State": "state",
    "Job": "job",
    "Series": text("series", 30),
    "Found": at("found_at"),
    "Why": text("reason", 100),
}
