"""What an attempt used, as points of a chart or rows of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Sample(Protocol):
    """What an attempt has used until some moment since its start."""

    @property
    def at_ms(self) -> int:
        """Return since its start."""

    @property
    def cpu_ms(self) -> int:
        """Return CPU time since its start."""

    @property
    def memory_bytes(self) -> int:
        """Return what it has in memory."""


@dataclass(frozen=True)
class UsagePoint:
    """What an attempt used from the point before, or its start, until this one."""

    at_ms: int
    """Since its start."""
    cores: float
    """On average."""
    cpu_ms: int
    """CPU time since its start."""
    memory_bytes: int
    """The most of the samples since the point before."""


def points_of(samples: Sequence[Sample], *, most: int) -> list[UsagePoint]:
    """Return at most `most` points; each stands for the same number of samples, the first perhaps
    for fewer, so that the last sample is always one.

    >>> from collections import namedtuple
    >>> sample = namedtuple("sample", "at_ms cpu_ms memory_bytes")
    >>> points_of([sample(10, 5, 1), sample(20, 25, 9), sample(30, 25, 2)], most=2)
    ... # doctest: +NORMALIZE_WHITESPACE
    [UsagePoint(at_ms=10, cores=0.5, cpu_ms=5, memory_bytes=1),
     UsagePoint(at_ms=30, cores=1.0, cpu_ms=25, memory_bytes=9)]
    """
    step = -(-len(samples) // most) or 1
    points: list[UsagePoint] = []
    at_ms = cpu_ms = 0
    first = (len(samples) - 1) % step + 1
    for end in range(first, len(samples) + 1, step):
        last = samples[end - 1]
        cores = (last.cpu_ms - cpu_ms) / max(1, last.at_ms - at_ms)
        at_ms, cpu_ms = last.at_ms, last.cpu_ms
        memory = max(sample.memory_bytes for sample in samples[max(0, end - step) : end])
        points.append(UsagePoint(at_ms, cores, cpu_ms, memory))
    return points
