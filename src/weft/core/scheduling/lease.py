"""How many jobs a worker claims ahead.

A lease is an attempt that was claimed and not started. Leases let small jobs flow: the next one is
here when one ends. They are bounded by the measured length of recent jobs, so that long jobs stay
where another worker can take them, and by their age.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from weft.core.backoff import backoff_s

QUEUE_S: Final = 0.3
"""How much work is kept in store: a claim takes milliseconds, and a hundred jobs cost little more
than one."""
LONG_S: Final = 0.05
LONG_STOCK: Final = 0.5
"""Of jobs of this length and more at most half a job is kept in store for each place: that hides a
claim, and a user who comes later starts within the time of one job."""
GROWTH: Final = 8
"""The stock is at most this multiple of the jobs ended in `RECENT_S`: two jobs that were short
say little about the next hundred."""
RECENT_S: Final = 0.5
CLAIM_JOBS_MAX: Final = 1000
LEASE_AGE_MAX_S: Final = 2.0
"""After this time leases go back, except the first, which is next: from then on it is passed."""
PASSING_JOBS_MAX: Final = 100
PAUSE_S: Final = 0.02
PAUSE_MAX_S: Final = 0.1
_WEIGHT: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class Load:
    """The capacity of a worker, and what leases and running attempts reserve of it."""

    cpu_m: int
    memory_mib: int
    cpu_m_held: int = 0
    memory_mib_held: int = 0
    cpu_m_long: int = 0
    """Reserved by attempts that have run for longer than the mean already."""
    ended_lately: int = 0
    """How many attempts ended in the last `RECENT_S`."""
    jobs_max: int | None = None
    """How many more attempts may be held: the worker has slots, and nothing is claimed ahead of
    them. None: no limit.
    """


class HasSize(Protocol):
    """Something that reserves a part of a worker."""

    @property
    def cpu_m(self) -> int:
        """Return its mCPU."""

    @property
    def memory_mib(self) -> int:
        """Return its MiB."""


class Budget(NamedTuple):
    """The size of a claim."""

    cpu_m: int
    memory_mib: int
    jobs: int

    def is_used_up(self, claimed: Sequence[HasSize]) -> bool:
        """Return whether a claim took all it asked for: then there may be more."""
        return (
            len(claimed) >= self.jobs
            or sum(size.cpu_m for size in claimed) >= self.cpu_m
            or sum(size.memory_mib for size in claimed) >= self.memory_mib
        )


@dataclass
class Pace:
    """Moving means over the attempts that ended."""

    duration_s: float = 0.0
    cpu_m: float = 1000.0
    memory_mib: float = 512.0
    count: int = 0

    def add(self, *, duration_s: float, cpu_m: int, memory_mib: int) -> None:
        """Take one more into account; the first ones count most at first."""
        self.count += 1
        weight = max(_WEIGHT, 1 / self.count)
        self.duration_s += weight * (duration_s - self.duration_s)
        self.cpu_m += weight * (cpu_m - self.cpu_m)
        self.memory_mib += weight * (memory_mib - self.memory_mib)


def stock_wanted(load: Load, pace: Pace) -> int:
    """Return how many leases are useful: as many as end in `QUEUE_S`, fewer of long jobs."""
    if not pace.count:
        return 0
    by_cpu = (load.cpu_m - load.cpu_m_long) / max(pace.cpu_m, 1.0)
    by_memory = load.memory_mib / max(pace.memory_mib, 1.0)
    side_by_side = max(0.0, min(by_cpu, by_memory))
    for_each_place = QUEUE_S / max(pace.duration_s, 1e-5)
    if pace.duration_s >= LONG_S:
        for_each_place = min(for_each_place, LONG_STOCK)
    jobs = side_by_side * for_each_place
    return int(min(jobs, GROWTH * load.ended_lately, CLAIM_JOBS_MAX))


def plan_claim(load: Load, pace: Pace) -> Budget | None:
    """Return what to claim now; `None`: there is enough.

    Claims when something is free, or when half of the stock is used up, so that calls carry many.
    """
    stock = stock_wanted(load, pace)
    cpu_m_stock = int(stock * pace.cpu_m)
    cpu_m = load.cpu_m + cpu_m_stock - load.cpu_m_held
    memory_mib = load.memory_mib + int(stock * pace.memory_mib) - load.memory_mib_held
    is_full = load.cpu_m_held >= load.cpu_m or load.memory_mib_held >= load.memory_mib
    jobs = CLAIM_JOBS_MAX if load.jobs_max is None else min(CLAIM_JOBS_MAX, load.jobs_max)
    if jobs <= 0 or cpu_m <= 0 or memory_mib <= 0 or (is_full and 2 * cpu_m < cpu_m_stock + 1):
        return None
    return Budget(cpu_m, memory_mib, jobs)


def plan_passing(load: Load, waiting: HasSize, before: Sequence[HasSize]) -> Budget | None:
    """Return what may start before a job that was claimed and waits for room; `None`: nothing.

    It may be passed as long as what was claimed before it keeps it waiting by itself. So it starts
    as soon as that and one more job have ended, however many pass it.
    """
    cpu_m = sum(size.cpu_m for size in before)
    memory_mib = sum(size.memory_mib for size in before)
    if cpu_m + waiting.cpu_m <= load.cpu_m and memory_mib + waiting.memory_mib <= load.memory_mib:
        return None
    cpu_m = load.cpu_m - load.cpu_m_held + waiting.cpu_m
    memory_mib = load.memory_mib - load.memory_mib_held + waiting.memory_mib
    if cpu_m <= 0 or memory_mib <= 0:
        return None
    return Budget(cpu_m, memory_mib, PASSING_JOBS_MAX)


def pause_s(n_empty: int) -> float:
    """Return how long to wait after claims that found nothing although there was work: it is left
    to another worker, which takes it in a moment.
    """
    if n_empty <= 1:  # it came just now
        return 0.0
    return backoff_s(n_empty - 1, first_s=PAUSE_S, longest_s=PAUSE_MAX_S, jitter=0)
