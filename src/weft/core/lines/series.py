"""Series of items, `series` of a configuration: the items of a source that have one key, in an
order, each after the one before it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, Literal, get_args

from weft.core.text.durations import duration_of

KEY_CHARS_MAX: Final = 256
SKIP: Final = ("failed", "error", "cancelled")
_SKIP_MAX: Final = 50
LateWord = Literal["rerun", "ignore", "warn"]
_FIELDS: Final = ("key", "order", "skip", "until", "within", "late")
Wrong = Callable[[tuple[str, ...], str], None]


@dataclass(frozen=True)
class SeriesRule:
    """Which item is before another one, and when that one need not wait for it any more."""

    skip: tuple[str, ...]
    """Statuses or states: an item whose job has one of these is passed over."""
    until: str | None
    """The status that its job must have reached; None: it must have ended well."""
    within_s: float | None
    """How far back it may be; None: any."""
    late: LateWord = "ignore"
    """What becomes of those after an item that comes late, which were decided before it."""
    products: bool = False
    """Expressions read what the job before has made."""


@dataclass(frozen=True)
class Standing:
    """Where an item stands in its series."""

    series: str
    waits: str | None
    """Why it must wait for the one before it; None: it need not."""
    previous: Mapping[str, Any] | None
    """Its fields, and the attributes of its job; None: there is none."""


def check_series(given: object, wrong: Wrong, check: Callable[..., None]) -> None:
    """Check the table `series`; `check` looks at one expression."""
    if not isinstance(given, Mapping):
        wrong(("series",), 'it should be a table such as {key = "item.tile", order = "item.day"}')
        return
    for name in given:
        if name not in _FIELDS:
            wrong(("series", name), f"a series has no such field; it has {', '.join(_FIELDS)}")
    for name in ("key", "order"):
        check(given.get(name), ("series", name), wrong)
    skip = given.get("skip", [])
    if not isinstance(skip, list) or len(skip) > _SKIP_MAX or not all(map(_is_word, skip)):
        wrong(("series", "skip"), f"it should be a list of at most {_SKIP_MAX} statuses or states")
    if "until" in given and not _is_word(given["until"]):
        wrong(("series", "until"), "it should be a status")
    if "within" in given and duration_of(given["within"]) is None:
        wrong(("series", "within"), 'it should be a time such as "60d"')
    if given.get("late", "ignore") not in get_args(LateWord):
        wrong(("series", "late"), f"it should be one of {', '.join(get_args(LateWord))}")


def rule_of(given: Mapping[str, Any], *, products: bool = False) -> SeriesRule:
    """Return the rule of a checked table. `products`: as the rule has it."""
    within = duration_of(given.get("within"))
    return SeriesRule(
        tuple(given.get("skip", SKIP)),
        given.get("until"),
        None if within is None else within.total_seconds(),
        given.get("late", "ignore"),
        products,
    )


def order_of(value: object) -> Decimal | None:
    """Return what items are ordered by; None: it is neither a date nor a number."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        at = value if value.tzinfo else value.replace(tzinfo=UTC)
        since = at - datetime(1970, 1, 1, tzinfo=UTC)
        return (
            Decimal(since.days * 86_400 + since.seconds) + Decimal(since.microseconds) / 1_000_000
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = Decimal(str(value))
        return found if found.is_finite() and abs(found) < Decimal(10) ** 18 else None
    return None


def _is_word(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 64  # noqa: PLR2004 (as statuses)
