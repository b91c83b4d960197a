"""Amounts, durations and costs as people read them."""

from datetime import datetime

MINUTE, HOUR, DAY = 60, 3600, 86400
_ROUGHLY = ((2 * DAY, DAY, "d"), (1.5 * HOUR, HOUR, "h"), (1.5 * MINUTE, MINUTE, "min"))
KIB = 1024
CENT = 0.01
_PLURALS = {"batch": "batches", "try": "tries"}
"""Those that do not end with an s alone."""


def duration(milliseconds: float | None) -> str:
    """Write a duration: `12 ms`, `3.4 s`, `2:05`, `1:02:05`, `3 d 4 h`."""
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{milliseconds:.0f} ms"
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if seconds < HOUR:
        return f"{whole // MINUTE}:{whole % MINUTE:02}"
    if seconds < DAY:
        return f"{whole // HOUR}:{whole % HOUR // MINUTE:02}:{whole % MINUTE:02}"
    return f"{whole // DAY} d {whole % DAY // HOUR} h"


def size(count: float | None) -> str:
    """Write a number of bytes: `12 B`, `3.4 KiB`."""
    if count is None:
        return ""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < KIB:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= KIB
    return f"{amount:.1f} TiB"


def money(amount: float | None) -> str:
    """Write a cost: `0`, `< 0.01`, `1,234.50`."""
    if not amount:
        return "0"
    return f"{amount:,.2f}" if amount >= CENT else f"< {CENT}"


def counted(count: int, noun: str, more: str = "") -> str:
    """Write how many there are: `1 job`, `1,000 jobs`; `more`: what stands behind the number.

    >>> counted(1, "failed job"), counted(2, "batch"), counted(0, "try"), counted(1, "job", "+")
    ('1 failed job', '2 batches', '0 tries', '1+ jobs')
    """
    if count != 1 or more:
        noun = _PLURALS.get(noun, f"{noun}s")
    return f"{count:,}{more} {noun}"


def coming(at: datetime, now: datetime) -> str:
    """Write a future time in the zone of `now`: `18:00 (in 2 h)`, with its date if not today's."""
    local = at.astimezone(now.tzinfo)
    left_s = (at - now).total_seconds()
    clock = "%H:%M" if left_s >= HOUR or not local.second else "%H:%M:%S"
    date = "" if local.date() == now.date() else "%Y-%m-%d "
    for least_s, unit_s, unit in _ROUGHLY:
        if left_s >= least_s:
            return f"{local.strftime(date + clock)} (in {left_s / unit_s:.0f} {unit})"
    return f"{local.strftime(date + clock)} (in {left_s:.0f} s)"
