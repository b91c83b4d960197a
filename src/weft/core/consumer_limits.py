"""What each consumer has in hand at most: what it has got and not settled. The rest stays with
the broker, which is asked for no more until there is room again.

A bound is what stands the load behind the consumer – a few connections to the database, a few
processes –, not what could be kept in memory.

How many offers wait ahead of what the consumers of a queue can start follows what they take.
"""

from dataclasses import dataclass
from typing import Final

OFFERS_MAX: Final = 65_535
"""Offers of jobs, of each queue: as many as a worker runs at a time, and no more than AMQP can
count.
"""
ANSWERS_MAX: Final = 200
"""Answers of foreign programs, of each tenant: they are recorded in one call."""
DEAD_MAX: Final = 20
"""Dead messages, of each tenant; they are kept one after the other."""
SUBMISSIONS_MAX: Final = 20
"""Submissions by a queue or topic, of each connection."""
INTAKE_MAX: Final = 20
"""Records of each topic of a door."""
OUTCOMES_MAX: Final = 1000
"""Records of outcomes that are read and not looked at yet."""
AHEAD: Final = 500
"""Records that wait at a member of a group, beside those in work: nobody else can have them."""
LEDGER_CALLS_MAX: Final = 2
"""Calls that note runs of records, each on a connection of its own: the others of a worker are
those of its heartbeats and real jobs. How many runs there are at a time, `topics_runs` says.
"""


STEADY_S: Final = 1.0
"""Nothing is lowered sooner after a change."""


@dataclass
class Stock:
    """The offers ahead of one queue.

    It doubles when a round finds most of a full one taken: the consumers may have idled until
    then. It is halved when for a while half of it was not needed, or it could not be filled. So it
    holds what is taken within a few rounds, and of long jobs as many as there are slots.
    """

    size: int
    _is_full: bool = False
    _least: int = 0
    """The fewest offers that waited since it was last looked at."""
    _looked_s: float = 0.0

    def plan(self, *, slots: int, waiting: int, n_new: int, limit: int, now_s: float) -> None:
        """Take a round into account: how many offers it found waiting, and how many it added."""
        was_full, self._is_full = self._is_full, waiting + n_new >= self.size
        if was_full and 4 * waiting <= self.size:
            self.size = min(2 * self.size, max(limit, slots))
        elif now_s < self._looked_s + STEADY_S:
            self._least = min(self._least, waiting)
            return
        elif not was_full or 2 * self._least >= self.size:
            self.size = max(self.size // 2, slots)
        self._least, self._looked_s = waiting, now_s


@dataclass
class Allowance:
    """How many messages a consumer may hold: for what it runs, what it has claimed ahead, and as
    many that come meanwhile. A change costs the broker work, so it is made by factors of two.
    """

    size: int
    _changed_s: float = 0.0

    def plan(self, slots: int, stock: int, now_s: float) -> bool:
        """Take into account how many jobs are useful ahead; return whether it has changed."""
        slots = min(slots, OFFERS_MAX)
        wanted = min(slots + 2 * stock, OFFERS_MAX)
        size = self.size
        if wanted > size:
            size = min(max(2 * size, wanted), OFFERS_MAX)
        elif 4 * wanted <= size and now_s > self._changed_s + STEADY_S:
            size = max(2 * wanted, slots)
        if size == self.size:
            return False
        self.size, self._changed_s = size, now_s
        return True
