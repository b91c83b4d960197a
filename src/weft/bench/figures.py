"""The arithmetic and the form of results."""

from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import Any, NamedTuple

PERCENT = 100


class Headline(NamedTuple):
    """What each bench says first."""

    unit: str
    weft: Any
    reference: Any
    ratio: float | None
    """None: there is nothing to compare with."""


def document_of(
    headline: Headline, figures: Mapping[str, Any], conditions: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the document of a bench: its headline, its own figures, and where it ran."""
    return {**headline._asdict(), **figures, "conditions": conditions}


def median_rate(rates: Sequence[float]) -> int:
    """Return the median of rates, in whole jobs per second."""
    return round(median(rates))


def ratio_of(weft: float, reference: float) -> float:
    """Return how many times the reference weft is."""
    return round(weft / reference, 3) if reference else 0.0


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile of values, interpolated between neighbours.

    >>> percentile([1.0, 2.0, 3.0], 50)
    2.0
    """
    if len(values) == 1:
        return values[0]
    return quantiles(values, n=PERCENT, method="inclusive")[percent - 1]
