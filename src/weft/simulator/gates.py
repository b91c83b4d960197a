"""Limits of a queue: a job gets its place before machines see it.

As `_pass_gates` does it: places that are free go to the users with the smallest load, to each as
many as it can use, its oldest jobs first.
"""

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass

from weft.core.swf import TraceJob


@dataclass(frozen=True, kw_only=True)
class QueueLimits:
    """What a queue allows, by the names of its file; None: as many as come."""

    max_running: int | None = None
    max_running_per_user: int | None = None


class Gate:
    """The jobs that wait for a place, and the places that are taken."""

    def __init__(self, limits: QueueLimits) -> None:
        self._limits = limits
        self._waiting: dict[int, list[int]] = {}
        """Indexes of jobs by user, the oldest first."""
        self._taken: dict[int, int] = {}
        self._n_taken = 0

    def add(self, index: int, job: TraceJob) -> None:
        """Let a job wait."""
        insort(self._waiting.setdefault(job.user, []), index)

    def end(self, job: TraceJob) -> None:
        """Free the place of a job that has ended or was lost."""
        self._taken[job.user] -= 1
        self._n_taken -= 1

    def admit(self, load_of: Callable[[int], int]) -> list[int]:
        """Give the free places to jobs and return these."""
        admitted: list[int] = []
        users = [user for user, waiting in self._waiting.items() if waiting]
        for user in sorted(users, key=lambda user: (load_of(user), user)):
            waiting, taken = self._waiting[user], self._taken.get(user, 0)
            room = min(
                len(waiting),
                _left(self._limits.max_running, self._n_taken),
                _left(self._limits.max_running_per_user, taken),
            )
            admitted += waiting[:room]
            del waiting[:room]
            self._taken[user] = taken + room
            self._n_taken += room
        return admitted

    def oldest(self) -> int | None:
        """Return the oldest job that waits for a place."""
        return min((waiting[0] for waiting in self._waiting.values() if waiting), default=None)


def _left(most: int | None, taken: int) -> int:
    return 2**31 if most is None else most - taken
