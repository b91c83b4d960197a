"""The arithmetic and the form of results, and what the server writes for each job: bytes of WAL,
and commits; no machine changes them.
"""

from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import Any, NamedTuple

import asyncpg

from weft.bench.conditions import query

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


Written = tuple[float, float]
"""Bytes of WAL and commits since the server began."""


async def written(admin_dsn: str) -> Written:
    """Return what the server has written until now; commits of the last second may be missing."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        row = await connection.fetchrow(query("written"))
    finally:
        await connection.close()
    return row["wal_bytes"], row["commits"]


def written_for(before: Written, after: Written, jobs: int) -> dict[str, float]:
    """Return `wal_bytes` and `commits` of each of these jobs."""
    return {
        "wal_bytes": round((after[0] - before[0]) / jobs),
        "commits": round((after[1] - before[1]) / jobs, 4),
    }
