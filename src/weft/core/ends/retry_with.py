"""What a retry asks for beyond the attempt before it: values, of which the database takes one
after the other (`weft._ask_for_more`).

retry_with: [{on: [oom], memory: x2, up_to: 16Gi}, {on: [preempted], preemptible: false}]
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

import msgspec

from weft.core.ends.end_rules import Range

SIZES: Final[Mapping[str, str]] = {
    "cpu": "cpu_m",
    "memory": "memory_mib",
    "storage": "storage_mib",
}
"""The sizes of a shape that may grow, by their fields."""
RULES_MAX: Final = 8
REQUESTS_MAX: Final = 64
"""A job may ask for at most this number of different things in its life: each is a shape, made
with the job.
"""
FACTOR_MAX: Final = 100
_FACTOR: Final = re.compile(r"[x×] ?([0-9]{1,9}(?:\.[0-9]{1,9})?)", re.IGNORECASE)


class MoreRule(msgspec.Struct, omit_defaults=True):
    """One rule, as the database stores it. Either `size` or `word` is given."""

    after: int
    """One value further after this number of ends."""
    values: list[int | str | None]
    """The first is what the job asks for without a retry; None: the word is taken away."""
    reasons: list[int] = []
    exits: list[Range] = []
    signals: list[int] = []
    limits_ms: list[int] = []
    """The time limits whose classes the values are, each as long as the one before or longer."""
    size: str | None = None
    word: str | None = None


def parse_factor(given: object) -> float | None:
    """Read a factor, `x2` or `×1.5`; None: it is none, but an amount. Raise `ValueError`."""
    match = _FACTOR.fullmatch(given.strip()) if isinstance(given, str) else None
    if match is None:
        return None
    if not 1 < (factor := float(match[1])) <= FACTOR_MAX:
        raise ValueError(f"{str(given)[:40]!r} is no factor above 1 and up to {FACTOR_MAX}")
    return factor


def ladder(first: int, factor: float, last: int) -> list[int]:
    """Return a size, its multiples, and the last one, which is more. Raise `ValueError`."""
    values = [first]
    while values[-1] < last:
        values.append(min(max(math.ceil(values[-1] * factor), values[-1] + 1), last))
        if len(values) > REQUESTS_MAX:
            raise ValueError(f"it takes more than {REQUESTS_MAX} retries to get there")
    return values


def combinations(rules: Sequence[MoreRule]) -> Iterator[Mapping[str, int | str | None]]:
    """Yield all that the rules may change, by the names of sizes and words."""
    for steps in product(*(range(len(rule.values)) for rule in rules)):
        yield {
            rule.size or rule.word or "": rule.values[step]
            for rule, step in zip(rules, steps, strict=True)
            if step
        }
