"""The arithmetic of results."""

from collections.abc import Sequence
from statistics import median, quantiles

PERCENT = 100


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
