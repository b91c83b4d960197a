"""The jobs that are ready, by user, and claims of them: as `claim_jobs` does it, in memory."""

import math
from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from weft.core.pools import Demand
from weft.core.scheduling.fair_share import UserWork, fair_shares
from weft.core.scheduling.lease import Budget
from weft.core.swf import TraceJob
from weft_simulator.model.machine import ASKS

USERS_MAX: Final = 64
"""A claim shares among the users with the smallest load only."""
Shape = tuple[int, int, int]
"""mCPU, MiB, and which of `ASKS`."""


class _User:
    """What one user runs, and what it has ready: indexes of jobs by shape, oldest first."""

    __slots__ = ("number", "ready", "ready_m", "running_m")

    def __init__(self, number: int) -> None:
        self.number = number
        self.running_m = 0
        self.ready_m = 0
        self.ready: dict[Shape, deque[int]] = {}

    def head(self, cpu_m: int, memory_mib: int, serves: Sequence[int]) -> Shape | None:
        """Return the shape of the oldest job that a machine of this size can hold."""
        found, oldest = None, math.inf
        for shape, indexes in self.ready.items():
            is_held = shape[0] <= cpu_m and shape[1] <= memory_mib and shape[2] in serves
            if is_held and indexes[0] < oldest:
                found, oldest = shape, indexes[0]
        return found

    def take(self, shape: Shape) -> int:
        """Remove the oldest job of a shape; it runs."""
        indexes = self.ready[shape]
        index = indexes.popleft()
        if not indexes:
            del self.ready[shape]
        self.ready_m -= shape[0]
        self.running_m += shape[0]
        return index


class ReadyJobs:
    """The queue of a pool."""

    def __init__(self) -> None:
        self._users: dict[int, _User] = {}
        self._stay: set[int] = set()
        self.count = 0

    def add(self, index: int, job: TraceJob) -> None:
        """Add a job; indexes say which is older."""
        user = self._users.setdefault(job.user, _User(job.user))
        indexes = user.ready.setdefault(self._shape(index, job), deque())
        if indexes and index < indexes[-1]:
            indexes.insert(bisect(indexes, index), index)
        else:
            indexes.append(index)
        user.ready_m += job.cpu_m
        self.count += 1

    def end(self, job: TraceJob) -> None:
        """Note that a job no longer runs."""
        self._users[job.user].running_m -= job.cpu_m

    def stay(self, index: int) -> None:
        """From now on this job, which is not ready, asks for a machine that stays."""
        self._stay.add(index)

    def asks(self, index: int) -> int:
        """Return which of `ASKS` a job asks."""
        return int(index in self._stay)

    def load_of(self, user: int) -> int:
        """Return how many mCPU a user's jobs have."""
        return self._users[user].running_m if user in self._users else 0

    def _shape(self, index: int, job: TraceJob) -> Shape:
        return job.cpu_m, job.memory_mib, self.asks(index)

    def remove(self, index: int, job: TraceJob) -> None:
        """Take this job out of its order; it runs."""
        user, shape = self._users[job.user], self._shape(index, job)
        user.ready[shape].remove(index)
        if not user.ready[shape]:
            del user.ready[shape]
        user.ready_m -= job.cpu_m
        user.running_m += job.cpu_m
        self.count -= 1

    def heads(self, count: int) -> list[int]:
        """Return the oldest jobs of each user and shape, users with the smallest load first."""
        return [
            index
            for user in self._waiting()[:USERS_MAX]
            for indexes in user.ready.values()
            for index in islice(indexes, count)
        ]

    def oldest(self) -> int:
        """Return the oldest job; there must be one."""
        return min(indexes[0] for user in self._users.values() for indexes in user.ready.values())

    def claim(
        self,
        budget: Budget,
        cpu_m: int,
        memory_mib: int,
        serves: Sequence[int],
        is_left: Callable[[Shape], bool] = lambda _: False,
    ) -> list[int]:
        """Take jobs for a machine of this size in fair-share order, up to the budget. `serves`:
        which of `ASKS`.

        The first may exceed the budget: it starts when there is room, unless it is left to another
        machine. The last job of a share is taken whole.
        """
        taken: list[int] = []
        left_m, left_mib = budget.cpu_m, budget.memory_mib
        over_m = 0.0
        for user, share_m in self._offers(budget.cpu_m):
            share_left = share_m + over_m
            while share_left > 0 and len(taken) < budget.jobs:
                shape = user.head(cpu_m, memory_mib, serves)
                if shape is None:
                    break
                is_large = shape[0] > left_m or shape[1] > left_mib
                if is_large and (taken or is_left(shape)):
                    return taken
                taken.append(user.take(shape))
                self.count -= 1
                share_left -= shape[0]
                left_m -= shape[0]
                left_mib -= shape[1]
                if left_m <= 0 or left_mib <= 0:
                    return taken
            over_m = min(share_left, 0.0)
        return taken

    def _offers(self, budget_m: int) -> Iterator[tuple[_User, float]]:
        """Yield users with their shares, then all for what is left."""
        users = self._waiting()
        if len(users) > 1:
            first = users[:USERS_MAX]
            work = [UserWork(user.running_m, user.ready_m) for user in first]
            yield from zip(first, map(float, fair_shares(work, budget_m)), strict=True)
        for user in users:
            yield user, math.inf

    def _waiting(self) -> list[_User]:
        waiting = [user for user in self._users.values() if user.ready]
        if len(waiting) > 1:
            waiting.sort(key=lambda user: (user.running_m, user.number))
        return waiting

    def demand(self, jobs_max: int) -> list[Demand]:
        """Return the head of the queue: of each user, in fair-share order, an equal part."""
        users = self._waiting()[:USERS_MAX]
        part = max(jobs_max // max(len(users), 1), 1)
        return [
            Demand(cpu_m=shape[0], memory_mib=shape[1], asks=ASKS[shape[2]], n_jobs=count)
            for user in users
            for shape, count in _first(user.ready.items(), part)
        ]


def _first(
    ready: Iterable[tuple[Shape, deque[int]]], jobs_max: int
) -> Iterator[tuple[Shape, int]]:
    left = jobs_max
    for shape, indexes in sorted(ready, key=lambda one: one[1][0]):
        if left <= 0:
            return
        count = min(left, len(indexes))
        left -= count
        yield shape, count
