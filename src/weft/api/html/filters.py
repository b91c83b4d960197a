"""Values as pages show them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup

from weft.core.texts import harmless

_CENT: Final = 0.01
_STEPS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))
_KIB: Final = 1024


def number(value: int | None) -> str:
    """Write a count: `1,234,567`."""
    return "–" if value is None else f"{value:,}"


def duration(milliseconds: float | None) -> str:
    """Write a time as its two largest units: `2 h 5 min`; below a minute `1.2 s`."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:  # noqa: PLR2004 (a second)
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:  # noqa: PLR2004 (a minute)
        return f"{milliseconds / 1000:.1f} s"
    parts: list[str] = []
    rest = int(milliseconds)
    for size, unit in _STEPS:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def money(amount: float | None) -> str:
    """Write a cost: `0`, `< 0.01`, `1,234.50`."""
    if not amount:
        return "0"
    return f"{amount:,.2f}" if amount >= _CENT else f"< {_CENT}"


def size(n_bytes: int | None) -> str:
    """Write a number of bytes: `512 B`, `1.5 MiB`."""
    if n_bytes is None:
        return "–"
    amount, units = float(n_bytes), ["B", "KiB", "MiB", "GiB", "TiB"]
    while amount >= _KIB and len(units) > 1:
        amount, units = amount / _KIB, units[1:]
    return f"{amount:.0f} B" if units[0] == "B" else f"{amount:.1f} {units[0]}"


def moment(at: datetime | str | None) -> Markup:
    """Write a time in UTC; a module of the page turns it into the reader's zone. Times within
    documents of the database come as text.
    """
    if at is None:
        return Markup("–")
    utc = (datetime.fromisoformat(at) if isinstance(at, str) else at).astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        utc.isoformat(timespec="seconds"), utc.strftime("%Y-%m-%d %H:%M:%S UTC")
    )


def shown(text: object) -> Markup:
    """Write a text of somebody else: without what could steer, and apart from what is around it,
    so that letters which are written from right to left move nothing but themselves.
    """
    return Markup("<bdi>{}</bdi>").format("–" if text is None else harmless(str(text)))


def shares(counted: Mapping[str, Any]) -> list[tuple[str, int, float]]:
    """Return the states of a batch or group that have jobs: state, jobs, and percent of all."""
    states = (
        ("success", "n_succeeded"), ("failed", "n_failed"), ("error", "n_errored"),
        ("cancelled", "n_cancelled"), ("running", "n_running"), ("creating", "n_creating"),
        ("queued", "n_queued"), ("ready", "n_ready"), ("blocked", "n_blocked"),
        ("pending", "n_pending"),
    )  # fmt: skip
    total = counted["n_jobs"]
    return [
        (state, counted[field], 100 * counted[field] / total)
        for state, field in states
        if counted[field]
    ]


FILTERS: Final = {
    "number": number,
    "duration": duration,
    "money": money,
    "size": size,
    "moment": moment,
    "shown": shown,
    "harmless": harmless,
    "shares": shares,
}
"""By the names that templates use."""
