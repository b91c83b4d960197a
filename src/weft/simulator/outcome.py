"""When each job started, and which machines existed."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class MachineTime:
    """How long a machine existed."""

    name: str
    cpu_m: int
    begin_s: float
    end_s: float
    price_per_hour: float = 0.0


@dataclass(frozen=True, kw_only=True)
class TraceOutcome:
    """One way to run a trace."""

    name: str
    starts: Sequence[float]
    """When each job of the trace started, in its order."""
    placed: Sequence[str]
    """On which machine."""
    machines: Sequence[MachineTime]
    n_decisions: int
    """Claims and rounds of the autoscaler, or looks at the queue."""
