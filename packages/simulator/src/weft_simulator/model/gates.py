"""Limits of a queue and of concurrency keys: a job gets its places before machines see it.

As `_pass_gates` does it: places that are free go to the users with the smallest load, to each as
many as it can use, its oldest jobs first; a job takes all its places or none.
"""

from bisect import insort
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from weft.core.swf import UNKNOWN, TraceJob


@dataclass(frozen=True, kw_only=True)
class QueueLimits:
    """What a queue allows, by the names of its file; None: as many as come."""

    max_running: int | None = None
    max_running_per_user: int | None = None
    max_running_per_application: int | None = None
    """The application of a job is its concurrency key, if the trace names it."""


class Gate:
    """The jobs that wait for places, and the places that are taken."""

    def __init__(self, limits: QueueLimits) -> None:
        self._limits = limits
        self._waiting: dict[int, dict[int, list[int]]] = {}
        """Indexes of jobs by user and key, the oldest first."""
        self._taken: Counter[int] = Counter()
        """By user."""
        self._taken_of_key: Counter[int] = Counter()
        self._n_taken = 0

    def add(self, index: int, job: TraceJob) -> None:
        """Let a job wait."""
        insort(self._waiting.setdefault(job.user, {}).setdefault(self._key(job), []), index)

    def end(self, job: TraceJob) -> None:
        """Free the places of a job that has ended or was lost."""
        self._taken[job.user] -= 1
        self._taken_of_key[self._key(job)] -= 1
        self._n_taken -= 1

    def admit(self, load_of: Callable[[int], int]) -> list[int]:
        """Give the free places to jobs and return these."""
        admitted: list[int] = []
        limits, users = self._limits, [user for user, waiting in self._waiting.items() if waiting]
        for user in sorted(users, key=lambda user: (load_of(user), user)):
            room = min(
                _left(limits.max_running, self._n_taken),
                _left(limits.max_running_per_user, self._taken[user]),
            )
            taken = self._take(self._waiting[user], room)
            self._taken[user] += len(taken)
            self._n_taken += len(taken)
            admitted += taken
        return admitted

    def oldest(self) -> int | None:
        """Return the oldest job that waits for a place."""
        heads = (jobs[0] for waiting in self._waiting.values() for jobs in waiting.values())
        return min(heads, default=None)

    def _take(self, waiting: dict[int, list[int]], room: int) -> list[int]:
        """Remove the oldest jobs of a user whose keys have places."""
        taken: list[int] = []
        heads = [(jobs[0], key) for key, jobs in waiting.items()]
        heapify(heads)
        while heads and len(taken) < room:
            _, key = heappop(heads)
            if not self._has_place(key):
                continue
            self._taken_of_key[key] += 1
            taken.append(waiting[key].pop(0))
            if waiting[key]:
                heappush(heads, (waiting[key][0], key))
            else:
                del waiting[key]
        return taken

    def _has_place(self, key: int) -> bool:
        most = None if key == UNKNOWN else self._limits.max_running_per_application
        return _left(most, self._taken_of_key[key]) > 0

    def _key(self, job: TraceJob) -> int:
        return UNKNOWN if self._limits.max_running_per_application is None else job.application


def _left(most: int | None, taken: int) -> int:
    return 2**31 if most is None else most - taken
