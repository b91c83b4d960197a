"""When each job started, and which machines existed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class MachineTime:
    """How long a machine existed."""

    name: str
    cpu_m: int
    begin_s: float
    end_s: float
    price_per_hour: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A job that was stopped to make room for another one."""

    at_s: float
    job: int
    began_s: float
    machine: str
    cause: int
    """The job that waited."""


@dataclass(frozen=True, kw_only=True)
class TraceOutcome:
    """One way to run a trace."""

    name: str
    starts: Sequence[float]
    """When each job of the trace started, in its order; its last attempt, if others were lost."""
    placed: Sequence[str]
    """On which machine."""
    machines: Sequence[MachineTime]
    n_decisions: int
    """Claims and rounds of the autoscaler, or looks at the queue."""
    lost: Mapping[int, int] = field(default_factory=dict)
    """How many attempts of each job were lost with their machine."""
    errors: Mapping[int, float] = field(default_factory=dict)
    """When the last attempt of each job was lost that was not tried again."""
    stops: Sequence[Stop] = ()
