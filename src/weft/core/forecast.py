"""When jobs start and end and what they cost: intervals from how long like jobs took.

What may come is drawn `WORLDS` times, each time from another choice of what is known: own
durations drawn anew, while they are few those of one like batch, and a tail of what nobody saw.
"""

import heapq
import math
from bisect import bisect_right
from collections.abc import Sequence
from random import Random
from statistics import fmean, median
from typing import Final, NamedTuple

import msgspec

from weft.core.why.facts import PoolFacts

KNOWN_LEAST: Final = 5
"""Of fewer durations nothing is said."""
OWN_ENOUGH: Final = 30
"""So many own durations need no history beside them."""
WIDE: Final = 10
"""An interval that is wider than this many middles says nothing."""
WORLDS: Final = 100
_BEYOND: Final = 4
"""So many of them lie beyond each end of an interval."""
_UNSEEN: Final = 2
"""By how much the logarithm of what exceeds all n durations does so at least, times root n."""
_JOBS_MOST: Final = 200
"""So many are scheduled one by one in each world."""
_LEAST_S: Final = 0.001


class Interval(NamedTuple):
    """Is to hold in nine cases of ten, if jobs go on as like ones did."""

    low: float
    high: float


class ForecastFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the store knows for the forecast of a job or a batch; durations are in seconds."""

    n_waiting: int
    n_running: int
    elapsed: Sequence[float]
    """How long some of the running ones have run."""
    own: Sequence[float]
    """Of jobs of the batch that ended, and of some that run."""
    running: Sequence[float]
    like: Sequence[Sequence[float]] = ()
    """Of some jobs of each like batch."""
    cpu_m: int
    max_running: int | None = None
    pool: PoolFacts
    others: int = 0
    """Other users with ready jobs in the pool, and what those ask for, in mCPU."""
    others_m: int = 0
    before: float = 0
    """Jobs like it of the same user that come before."""
    price: float = 0
    """Of an hour of a job."""
    cost: float = 0
    """Of what has run."""

    @property
    def pool_places(self) -> float:
        """Return how many such jobs the pool runs at a time, whosever they are."""
        return max(self.pool.cpu_active * 1000 / self.cpu_m, 1)

    @property
    def places(self) -> float:
        """Return how many of its jobs run at a time: a fair share, or what it has."""
        fair = max(self.pool_places / (1 + self.others), self.n_running, 1)
        return min(fair, self.pool_places, self.max_running or math.inf)


class Promise(NamedTuple):
    """In seconds from now; the work in seconds of one job's place."""

    starts: Interval | None
    """None: it has started."""
    ends: Interval
    work: Interval
    n_like: int


class _Durations:
    """What was seen, each as likely, and a tail: n durations are exceeded once in n + 1 times."""

    def __init__(self, seen: Sequence[float], rng: Random) -> None:
        self._rng = rng
        self._seen = sorted(max(seconds, _LEAST_S) for seconds in seen)
        top = self._seen[-max(len(seen) // 5, 3) :]
        tail = fmean(math.log(seconds / top[0]) for seconds in top)
        self._tail = max(tail, _UNSEEN / math.sqrt(len(seen)))
        self.mean = fmean(self._seen)
        self.spread = math.dist(self._seen, [self.mean] * len(seen)) / math.sqrt(len(seen))

    def draw(self, above: float = 0) -> float:
        """Return a duration, longer than `above`."""
        least = bisect_right(self._seen, above) / (len(self._seen) + 1)
        share = least + (1 - least) * self._rng.random()
        at = int(share * (len(self._seen) + 1))
        if at < len(self._seen):
            return self._seen[at]
        beyond = math.pow(max((1 - share) * (len(self._seen) + 1), 1e-9), -self._tail)
        return max(self._seen[-1], above) * beyond

    def total(self, count: float) -> float:
        """Return the sum of many."""
        chance = self._rng.gauss(0, 1) * self.spread * math.sqrt(count)
        return max(self.mean * count + chance, 0)


def promise(facts: ForecastFacts) -> Promise | None:
    """Return when it starts and ends, and how much work is left; None: too little is known."""
    is_known = len(facts.own) >= OWN_ENOUGH
    n_like = len(facts.own) + (0 if is_known else sum(map(len, facts.like)))
    if n_like < KNOWN_LEAST:
        return None
    rng = Random(1)  # noqa: S311 (the same answer for the same facts)
    worlds = [_world(facts, _durations(facts, rng), rng) for _ in range(WORLDS)]
    columns = [sorted(column) for column in zip(*worlds, strict=True)]
    starts, ends, work = (Interval(all_of[_BEYOND], all_of[-1 - _BEYOND]) for all_of in columns)
    if ends.high - ends.low > WIDE * median(columns[1]):
        return None
    return Promise(None if facts.n_running else starts, ends, work, n_like)


def _durations(facts: ForecastFacts, rng: Random) -> _Durations:
    """Choose what is known: own durations drawn anew, and while they are few, one like batch."""
    seen = rng.choices(facts.own, k=len(facts.own)) if facts.own else []
    if facts.like and len(seen) < OWN_ENOUGH:
        seen += rng.choices(rng.choice(facts.like), k=OWN_ENOUGH - len(seen))
    durations = _Durations(seen, rng)
    # What runs takes longer than it has run: without it, jobs that end early would make all short.
    return _Durations([*seen, *(durations.draw(above=elapsed) for elapsed in facts.running)], rng)


def _world(facts: ForecastFacts, durations: _Durations, rng: Random) -> tuple[float, float, float]:
    """Return when it starts and ends, and the work left, as it may come."""
    start = 0.0 if facts.n_running else _start(facts, durations, rng)
    shrink = max(facts.places / _JOBS_MOST, 1)
    n_left = math.ceil(facts.n_running / shrink) if facts.elapsed else 0
    elapsed = rng.choices(facts.elapsed, k=n_left) if n_left else []
    left = [durations.draw(above=seconds) - seconds for seconds in elapsed]
    drawn = min(facts.n_waiting, _JOBS_MOST)
    skipped = durations.total(facts.n_waiting - drawn)
    draws = [durations.draw() for _ in range(drawn)]
    n_free = min(int(facts.places / shrink), n_left + drawn) - n_left
    ends = left + [0.0] * max(n_free, 0 if left else 1)
    heapq.heapify(ends)
    for seconds in draws:
        heapq.heapreplace(ends, ends[0] + seconds)
    end = start + skipped / facts.places + max(ends)
    return start, end, skipped + sum(draws) + sum(left) * shrink


def _start(facts: ForecastFacts, durations: _Durations, rng: Random) -> float:
    """Return when its first job starts: places come free for those before it, and one more."""
    low = facts.before + 1
    high = min(low + facts.others_m / facts.cpu_m, low * (1 + facts.others))
    if facts.pool.free and high == 1:
        return rng.uniform(0, 2)
    return durations.total(rng.uniform(low, high)) / facts.pool_places
