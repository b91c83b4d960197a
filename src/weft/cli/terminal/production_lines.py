"""Production lines as lines of tables: sources, sinks, and how many jobs have each status."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.cli.terminal.plain import cell, moment, one_line
from weft.core.lines.line import is_failing

Document = Mapping[str, Any]
SOURCE_HEADER = ("Source", "Kind", "State", "Read", "Waiting", "Last item", "Error")
SINK_HEADER = ("Sink", "Open", "Given up", "Held", "Oldest open", "Last error")
STATUS_HEADER = ("Lifecycle", "Status", "Jobs")
ITEM_HEADER = ("Item", "State", "Job", "Series", "Found", "Why")
WAITING_MAX = 10_000
"""The server counts no further."""


def source_row(one: Document) -> tuple[str, ...]:
    """Return a source as a line of a table."""
    last = [f"{cell(item['key'], width=30)}: {_where(item)}" for item in one["last_items"][:1]]
    n_waiting = one["n_waiting"]
    return (
        one["source"],
        one["kind"],
        one["state"],
        moment(one["read_at"]),
        f"{n_waiting:,}{'+' if n_waiting == WAITING_MAX else ''}",
        "".join(last),
        cell(one["error"] or "", width=60),
    )


def sink_row(one: Document) -> tuple[str, ...]:
    """Return a sink as a line of a table."""
    counts = (f"{one[name]:,}" for name in ("n_open", "n_failed", "n_held"))
    oldest = one["oldest_at"]
    error = cell(one["last_error"] or "", width=60)
    return (one["sink"], *counts, moment(oldest) if oldest else "", error)


def status_row(one: Document) -> tuple[str, ...]:
    """Return the number of jobs with a status as a line of a table."""
    return (one["lifecycle"], one["status"], f"{one['n_jobs']:,}")


def item_row(one: Document) -> tuple[str, ...]:
    """Return an item of a source as a line of a table."""
    return (
        one_line(one["key"], width=40),
        one["state"],
        one["job"] or "",
        one_line(one["series"] or "", width=30),
        moment(one["found_at"]),
        one_line(one["reason"] or "", width=100),
    )


def line_facts(lines: Document) -> str:
    """Return in a line what sinks have not sent, and how many jobs have each status."""
    sinks = [_sink_fact(line) for line in lines["sinks"] if any(map(line.get, _NOT_SENT))]
    statuses = [f"{line['n_jobs']:,} {line['status']}" for line in lines["statuses"]]
    return "   ".join(one_line(one, width=60) for one in (*sinks, *statuses))


def failing_facts(sources: Sequence[Document]) -> str:
    """Return in a line which sources fail; each is an incident."""
    failing = [source for source in sources if is_failing(source)]
    return "   ".join(f"source {one['source']}: {cell(one['error'], width=60)}" for one in failing)


_NOT_SENT = ("n_open", "n_failed", "n_held")


def _sink_fact(one: Document) -> str:
    counts = (f"{one[name]:,} {name[2:]}" for name in _NOT_SENT if one[name])
    return f"sink {one['sink']}: {', '.join(counts)}"


def _where(item: Document) -> str:
    return str(item["job"] or item["state"])
