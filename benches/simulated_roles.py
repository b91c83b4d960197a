"""What agents and drivers of `interleavings` know by themselves, beside the tables."""

from collections.abc import Callable

from benches.simulated_preemption import Looks
from benches.simulated_tables import Job, Worker
from weft.core.scheduling.lease import Pace
from weft.core.scheduling.preemption import Key


class Attempt:
    """What an agent has of a job."""

    def __init__(self, job: Job, now: float) -> None:
        self.job, self.key, self.claimed_s = job, (job.number, job.attempt), now
        self.end_s: float | None = None


class Agent:
    """A machine that is there, with what runs on it."""

    def __init__(self, worker: Worker) -> None:
        self.worker, self.pace, self.n_ended, self.away_until_s = worker, Pace(), 0, 0.0
        self.held: dict[int, Attempt] = {}
        self.outbox: list[tuple[tuple[int, int], str]] = []

    def drop(self, one: Attempt, outcome: str) -> None:
        del self.held[one.job.number]
        self.outbox.append((one.key, outcome))


class Driver:
    """What a driver knows besides the tables: its term, its clock, and what it has yet to do."""

    def __init__(self, epoch: int, clock_s: float, lag: float) -> None:
        self.epoch, self.clock_s, self.lag = epoch, clock_s, lag
        self.since: dict[Key, float] = {}
        self.looks = Looks()
        self.idle: dict[str, tuple[int, float]] = {}
        self.todo: dict[str, Callable[[], None]] = {}
        """By loop: each does what it decided before it looks again."""
