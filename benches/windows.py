"""A percentile of what was timed in windows of one kind, beside that of another kind.

Windows come in rounds, one of each kind, in random order. The ratio is that of two percentiles,
each of all times of a kind. Its interval tells how far it moves if the same is measured again:
rounds are drawn from those that were measured, as many as there were, some twice and some not at
all, and the ratio of these is taken; 95 of 100 such ratios lie in the interval. Whole rounds are
drawn because what disturbs one request, such as a visit of autovacuum, disturbs its neighbours,
too: times within a window are not independent of each other.

Source: Efron, Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from weft.bench.figures import percentile

DRAWS: Final = 500
OUTSIDE: Final = 0.025
"""This part of the drawn ratios lies below the interval, and as much above it."""

ROUNDS_MIN: Final = 6
"""Draws from fewer rounds show too little of how far the ratio moves."""

Times = Sequence[Sequence[float]]
"""What was timed in each round."""


@dataclass(frozen=True)
class Ratio:
    """The ratio of two percentiles, and between which values it lies."""

    middle: float
    low: float
    high: float
    rounds: int

    def verdict(self, most: float) -> str:
        """Say whether it is at most this.

        >>> Ratio(1.1, 1.0, 1.15, 9).verdict(1.2), Ratio(1.1, 0.9, 1.3, 9).verdict(1.2)
        ('within', 'undecided')
        """
        if self.rounds < ROUNDS_MIN:
            return "undecided"
        if self.high <= most:
            return "within"
        return "beyond" if self.low > most else "undecided"

    def row(self) -> dict[str, Any]:
        """Return it as figures."""
        return {
            "ratio": round(self.middle, 3),
            "interval": [round(self.low, 3), round(self.high, 3)],
        }


def ratio_of_windows(compared: Times, reference: Times, percent: int, seed: int = 0) -> Ratio:
    """Compare a percentile of what was timed in the same rounds. `seed`: of the draws."""
    lot = random.Random(seed)  # noqa: S311 (guards nothing)
    # What is sorted already is sorted again in a tenth of the time.
    ordered = [
        (sorted(one), sorted(other)) for one, other in zip(compared, reference, strict=True)
    ]

    def ratio_of(rounds: Sequence[tuple[list[float], list[float]]]) -> float:
        ours, theirs = (list(chain.from_iterable(part)) for part in zip(*rounds, strict=True))
        return percentile(ours, percent) / percentile(theirs, percent)

    drawn = sorted(ratio_of(lot.choices(ordered, k=len(ordered))) for _ in range(DRAWS))
    outside = int(DRAWS * OUTSIDE)
    return Ratio(ratio_of(ordered), drawn[outside], drawn[-1 - outside], len(ordered))
