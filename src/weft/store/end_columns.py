"""Reports of ends as `complete_attempts` takes them: a list for each field."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from weft.core.ends.end_words import MESSAGE_CHARS_MAX
from weft.core.ends.failure_causes import cause_text
from weft.ports.store import EndReport
from weft.store.database import columns
from weft.store.worker_files import location_columns

_END_COLUMNS = MappingProxyType(
    {
        "batch_ids": "batch_id",
        "job_ids": "job_id",
        "attempts": "attempt",
        "start_ages_us": "start_age_us",
        "end_ages_us": "end_age_us",
        "reasons": "reason",
        "exit_codes": "exit_code",
        "signals": "signal",
        "cpu_ms_list": "cpu_ms",
        "memory_peaks": "memory_peak_bytes",
        "stdout_bytes_list": "stdout_bytes",
        "stderr_bytes_list": "stderr_bytes",
        "truncated_list": "truncated",
    }
)
"""Parameter of complete_attempts by field of a report."""


_USUAL = MappingProxyType(
    {
        "reasons": None,
        "signals": None,
        "messages": None,
        "causes": None,
        "truncated_list": False,
        "stderr_bytes_list": 0,
    }
)
"""The values that complete_attempts assumes for columns that are not sent."""


def ends_of(reports: Sequence[EndReport]) -> dict[str, Any]:
    """Return reports as they are sent, with their ages at that moment."""
    ends: dict[str, Any] = dict(end_columns(reports))
    ages = ends["start_ages_us"], ends["end_ages_us"]
    ends["start_ages_us"], ends["end_ages_us"] = growing(*ages)
    return ends


def end_columns(reports: Sequence[EndReport]) -> dict[str, list[Any] | None]:
    """Return reports as complete_attempts takes them."""
    values = dict(zip(_END_COLUMNS, columns(reports, *_END_COLUMNS.values()), strict=True))
    segments, offsets = location_columns([report.location for report in reports])
    values |= {"segments": segments, "offsets": offsets}
    messages = [_text(report.message) for report in reports]
    causes = [text and cause_text(text) for text in messages]
    return without_usual({**values, "messages": messages, "causes": causes})


def without_usual(values: Mapping[str, list[Any]]) -> dict[str, list[Any] | None]:
    """Leave out columns in which nothing stands but the usual: most jobs end well, and encoding
    and reading a column costs as much as a twentieth of recording its attempts.
    """
    return {
        name: None if name in _USUAL and set(column) == {_USUAL[name]} else column
        for name, column in values.items()
    }


def growing(*ages_us: Sequence[int | None]) -> list[Callable[[], list[int | None]]]:
    """Return ages of now as they will be when the first of them are sent: a connection may have to
    be made first, or a deadlock be waited out. All grow alike, so that durations stay as they are.
    """
    asked_ns, late_us = time.perf_counter_ns(), 0

    def grown(number: int) -> list[int | None]:
        nonlocal late_us
        late_us = late_us if number else (time.perf_counter_ns() - asked_ns) // 1000
        return [None if age_us is None else age_us + late_us for age_us in ages_us[number]]

    return [partial(grown, number) for number in range(len(ages_us))]


def _text(message: str) -> str | None:
    """Return storable text: no NUL, no lone surrogate (file names may hold both)."""
    kept = message[:MESSAGE_CHARS_MAX].replace("\0", "\N{REPLACEMENT CHARACTER}")
    return kept.encode("utf-8", "replace").decode("utf-8") or None
