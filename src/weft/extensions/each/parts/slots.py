"""Slots of `{%}`: the lowest numbers that no other running job of `weft each` has."""

import heapq
from collections.abc import Iterable, Sequence


class Slots:
    """Numbers from 1, each of one unfinished job at a time."""

    def __init__(self, count: int) -> None:
        self._free = list(range(1, count + 1))
        self._of_job: dict[int, int] = {}

    @property
    def n_free(self) -> int:
        """Return how many are free."""
        return len(self._free)

    def take(self) -> int:
        """Take the lowest free one."""
        return heapq.heappop(self._free)

    def give_back(self, slots: Iterable[int]) -> None:
        """Make these free again, whose jobs were never submitted."""
        for slot in slots:
            heapq.heappush(self._free, slot)

    def bind(self, first_job: int, slots: Sequence[int]) -> None:
        """Note to which jobs these belong: to this one and those after it."""
        self._of_job.update(enumerate(slots, first_job))

    def release(self, jobs: Iterable[int]) -> None:
        """Make the slots of ended jobs free."""
        self.give_back(self._of_job.pop(job) for job in jobs if job in self._of_job)
