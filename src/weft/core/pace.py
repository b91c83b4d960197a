"""How fast a batch goes on, from its document: on average since it was created."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.core.billing.rates import HOUR_MS


@dataclass(frozen=True)
class Pace:
    """What happens in an hour on average."""

    jobs_per_hour: float
    cost_per_hour: float
    left_ms: float | None
    """What the jobs that are left take at this rate; None: it cannot be known."""


def pace_of(batch: Mapping[str, Any]) -> Pace | None:
    """Return the pace of a batch; None: no time has passed, or it has no job.

    >>> pace_of({"duration_ms": 60_000, "n_jobs": 4, "n_completed": 1, "cost": 2.0,
    ...          "held": False})
    Pace(jobs_per_hour=60.0, cost_per_hour=120.0, left_ms=180000.0)
    """
    if not batch["duration_ms"] or not batch["n_jobs"]:
        return None
    hours = batch["duration_ms"] / HOUR_MS
    left = batch["n_jobs"] - batch["n_completed"]
    left_ms = None
    if left and batch["n_completed"] and not batch["held"]:
        left_ms = batch["duration_ms"] * left / batch["n_completed"]
    return Pace(batch["n_completed"] / hours, float(batch["cost"]) / hours, left_ms)
