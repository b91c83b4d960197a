"""Durations as people write them."""

import math
import re
from datetime import UTC, datetime, timedelta

_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "ms": 0.001}
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_PLAIN = re.compile(_NUMBER)
_PARTS = re.compile(rf"(?:{_NUMBER}(?:ms|[dhms]))+", re.IGNORECASE)
_PART = re.compile(rf"({_NUMBER})(ms|[dhms])", re.IGNORECASE)
_CLOCK = re.compile(r"(?:([0-9]+)-)?(?:([0-9]+):)?([0-9]+):([0-9]{2})")
_CHARS_MAX = 40
_WRITTEN = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d|w)")


def parse_seconds(value: float | str, *, days: int | None = None) -> float:
    """Read a duration as seconds. `days`: it is how long something is good, at most that.

    A number of seconds, `10m`, `1h30m`, `2d`, or `minutes:seconds`, `hours:minutes:seconds`,
    `days-hours:minutes:seconds`. Raise `ValueError` for anything else, 0 and less.

    >>> parse_seconds("1h30m"), parse_seconds("1-12:00:00"), parse_seconds("90")
    (5400.0, 129600.0, 90.0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a duration")
    seconds = _read(value.replace(" ", "")) if isinstance(value, str) else value
    if days is not None and not 1 <= seconds <= days * _UNITS["d"]:
        raise ValueError(f"{value!r} is not from 1s to {days}d")
    if seconds < 0:
        raise ValueError(f"a duration cannot be negative: {value!r}")
    if not seconds:
        raise ValueError("0 leaves no time at all: leave it out for no limit")
    if not math.isfinite(seconds):
        raise _wrong(str(value))
    return float(seconds)


def parse_milliseconds(value: float | str) -> int:
    """Read a duration as milliseconds, at least one. Raise `ValueError` as `parse_seconds`."""
    return max(1, round(parse_seconds(value) * 1000))


def duration_of(written: object) -> timedelta | None:
    """Return a time such as `30s`, `5m`, `8w`, as production lines write them; None: it is not
    written as one, or longer than any.
    """
    match = _WRITTEN.fullmatch(written) if isinstance(written, str) else None
    try:
        units = {**_UNITS, "w": 604_800}
        return None if match is None else timedelta(seconds=float(match[1]) * units[match[2]])
    except OverflowError:
        return None


def earlier(at: datetime, by: timedelta) -> datetime:
    """Return the moment earlier by this duration, or the earliest there is."""
    try:
        return (at - by).astimezone(UTC)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def _read(text: str) -> float:
    if text.startswith("-"):
        return -_read(text[1:])
    text = text[:_CHARS_MAX]
    if _PLAIN.fullmatch(text):
        return float(text)
    if _PARTS.fullmatch(text):
        return sum(float(n) * _UNITS[unit.lower()] for n, unit in _PART.findall(text))
    if match := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    raise _wrong(text)


def _wrong(text: str) -> ValueError:
    shown = text[:_CHARS_MAX]
    return ValueError(f"{shown!r} is not a duration such as 90, 10m, 1h30m or 1-12:00:00")
