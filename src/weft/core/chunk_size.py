"""How many calls of a `map` become one job.

A job costs about a millisecond whatever it does, so short calls are put together until they last
long enough that this is little, but never too many: every worker shall have something to do.
"""

import math
from collections import deque
from statistics import median
from typing import Final

TARGET_S: Final = 0.2
"""How long a job should last: the cost of a job is a hundredth of it."""
CALLS_MAX: Final = 10_000
SHARES: Final = 4
"""Number of pieces in which each worker gets its share of the rest, so that all end together."""
SLOTS_AHEAD: Final = 8
"""How many jobs for each slot are out at a time: what is not yet cut can still be cut better."""
_MEASURES_KEPT: Final = 63
_SHORTEST_S: Final = 1e-7


class ChunkSizes:
    """Sizes of the chunks of one map; `slots`: how many jobs can run side by side."""

    def __init__(self, *, slots: int) -> None:
        self.slots = max(1, slots)
        self._seconds: deque[float] = deque(maxlen=_MEASURES_KEPT)

    def measured(self, *, seconds: float, calls: int) -> None:
        """Take into account how long the calls of a chunk lasted together.

        The middle of all counts: the first calls of a process may import a lot.
        """
        self._seconds.append(seconds / max(1, calls))

    @property
    def jobs_out_max(self) -> int:
        """Return how many jobs may be out: few until it is known how long a call lasts."""
        return self.slots * (SLOTS_AHEAD if self._seconds else 2)

    def next_size(self, calls_left: int) -> int:
        """Return how many of the calls that are left the next job makes, at least 1."""
        if not self._seconds:
            return 1
        by_time = TARGET_S / max(median(self._seconds), _SHORTEST_S)
        by_share = math.ceil(calls_left / (SHARES * self.slots))
        return max(1, int(min(by_time, by_share, CALLS_MAX)))
