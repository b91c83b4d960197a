"""A cluster that neither grows nor shrinks, first come first served: what a pool is compared with.

Its processors are one heap: a job takes any of them, wherever they are, which is more than
machines can do. Memory does not count.
"""

import heapq
from collections import deque
from collections.abc import Sequence

from weft.core.swf import TraceJob
from weft_simulator.model.outcome import MachineTime, TraceOutcome


def run_fifo(jobs: Sequence[TraceJob], cpu_m: int) -> TraceOutcome:
    """Start jobs strictly in the order of their submission."""
    return _Static(jobs, cpu_m).run("fifo")


def run_easy(
    jobs: Sequence[TraceJob], cpu_m: int, promises: dict[int, float] | None = None
) -> TraceOutcome:
    """Let later jobs start earlier if that does not delay the first of the queue.

    `promises` gets, by index, when a job that became the first was to start at the latest.
    Source: D. A. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995.
    """
    return _Easy(jobs, cpu_m, {} if promises is None else promises).run("easy")


class _Static:
    def __init__(self, jobs: Sequence[TraceJob], cpu_m: int) -> None:
        self._jobs = jobs
        self._cpu_m = self._free_m = cpu_m
        self._queue: deque[int] = deque()
        self._running: list[tuple[float, int]] = []
        self._now = jobs[0].submit_s
        self._starts = [0.0] * len(jobs)
        self._n_decisions = 0

    def run(self, name: str) -> TraceOutcome:
        """Handle submissions and ends in the order of their time."""
        next_job, jobs = 0, self._jobs
        while next_job < len(jobs) or self._running:
            times = [self._running[0][0]] if self._running else []
            times += [jobs[next_job].submit_s] if next_job < len(jobs) else []
            self._now = min(times)
            while self._running and self._running[0][0] <= self._now:
                self._end(heapq.heappop(self._running)[1])
            while next_job < len(jobs) and jobs[next_job].submit_s <= self._now:
                self._queue.append(next_job)
                next_job += 1
            self._n_decisions += 1
            self._look()
        whole = MachineTime(
            name=name, cpu_m=self._cpu_m, begin_s=jobs[0].submit_s, end_s=self._now
        )
        return TraceOutcome(
            name=name,
            starts=self._starts,
            placed=[name] * len(jobs),
            machines=[whole],
            n_decisions=self._n_decisions,
        )

    def _look(self) -> None:
        while self._queue and self._jobs[self._queue[0]].cpu_m <= self._free_m:
            self._start(self._queue.popleft())

    def _start(self, index: int) -> None:
        self._starts[index] = self._now
        self._free_m -= self._jobs[index].cpu_m
        heapq.heappush(self._running, (self._now + self._jobs[index].run_s, index))

    def _end(self, index: int) -> None:
        self._free_m += self._jobs[index].cpu_m


class _Easy(_Static):
    def __init__(self, jobs: Sequence[TraceJob], cpu_m: int, promises: dict[int, float]) -> None:
        super().__init__(jobs, cpu_m)
        self._promises = promises

    def _look(self) -> None:
        super()._look()
        if not self._free_m or not self._queue:
            return
        head_at, spare_m = self._reservation()
        self._promises.setdefault(self._queue[0], head_at)
        later: deque[int] = deque([self._queue.popleft()])
        while self._queue and self._free_m:
            index = self._queue.popleft()
            job = self._jobs[index]
            is_short = self._now + job.limit_s <= head_at
            if job.cpu_m > self._free_m or not (is_short or job.cpu_m <= spare_m):
                later.append(index)
                continue
            if not is_short:
                spare_m -= job.cpu_m
            self._start(index)
        later.extend(self._queue)
        self._queue = later

    def _reservation(self) -> tuple[float, int]:
        """Return when the first job can start at the latest, and what it leaves free then."""
        free_m, wanted_m = self._free_m, self._jobs[self._queue[0]].cpu_m
        ends = sorted(
            (self._starts[index] + self._jobs[index].limit_s, self._jobs[index].cpu_m)
            for _, index in self._running
        )
        for at, cpu_m in ends:
            free_m += cpu_m
            if free_m >= wanted_m:
                return at, free_m - wanted_m
        raise AssertionError("a job is larger than the cluster")
