"""Metrics of production lines: how their sources, sinks and statuses are, set by a scrape for its
caller. `telemetry/metrics.py` has the others.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from weft.telemetry.metrics import shown

SOURCE_UP: Final = shown(
    "weft_source_up", "1 while a source is read, or paused, without an error", ["source"]
)
SOURCE_READ_AGE_SECONDS: Final = shown(
    "weft_source_read_age_seconds",
    "time since a source was last read without an error",
    ["source"],
)
SOURCE_WAITING_ITEMS: Final = shown(
    "weft_source_waiting_items",
    "items of a source that have no job yet (10000: at least)",
    ["source"],
)
SINK_MESSAGES: Final = shown(
    "weft_sink_messages",
    "messages of a sink that have not arrived, at most 10000: open, given_up or held",
    ["sink", "state"],
)
SINK_OLDEST_SECONDS: Final = shown(
    "weft_sink_oldest_message_seconds",
    "age of the oldest message that is still to be sent",
    ["sink"],
)
STATUS_JOBS: Final = shown(
    "weft_status_jobs",
    "jobs that have a status of a lifecycle, of the newest 1000 batches, at most 50000",
    ["lifecycle", "status"],
)


def set_line_counts(found: Mapping[str, Any], now: datetime) -> None:
    """Set how the lines of the tenant are, and no others."""
    for gauge in (
        SOURCE_UP,
        SOURCE_READ_AGE_SECONDS,
        SOURCE_WAITING_ITEMS,
        SINK_MESSAGES,
        SINK_OLDEST_SECONDS,
        STATUS_JOBS,
    ):
        gauge.clear()
    for one in found["sources"]:
        SOURCE_UP.labels(one["source"]).set(one["error"] is None)
        SOURCE_WAITING_ITEMS.labels(one["source"]).set(one["n_waiting"])
        if one["read_at"] is not None:
            SOURCE_READ_AGE_SECONDS.labels(one["source"]).set(_age_s(one["read_at"], now))
    for one in found["sinks"]:
        for state in ("open", "given_up", "held"):
            SINK_MESSAGES.labels(one["sink"], state).set(one[f"n_{state}"])
        oldest = one["oldest_at"]
        SINK_OLDEST_SECONDS.labels(one["sink"]).set(_age_s(oldest, now) if oldest else 0)
    for one in found["statuses"]:
        STATUS_JOBS.labels(one["lifecycle"], one["status"]).set(one["n_jobs"])


def _age_s(at: str, now: datetime) -> float:
    return max(0.0, (now - datetime.fromisoformat(at)).total_seconds())
