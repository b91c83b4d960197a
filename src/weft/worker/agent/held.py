"""The attempts that this worker owns, as the agent knows them."""

import asyncio
import time
from collections import deque
from itertools import takewhile

from weft.core.scheduling.lease import RECENT_S, Load, Pace
from weft.core.states import AttemptKey, Phase
from weft.ports.runner import Ended

_NS = 1_000_000_000
_LATELY_MAX = 4096


class DatabaseWentBack(Exception):
    """The database gives an attempt that this worker has already: it was restored from a copy."""


class Held:
    """One attempt, from its claim until the database has recorded its end."""

    __slots__ = (
        "bringing",
        "claimed_ns",
        "cpu_m",
        "ended",
        "environment",
        "executor",
        "is_sent",
        "key",
        "memory_mib",
        "passes",
        "phase",
        "started_ns",
        "trace_id",
    )

    def __init__(self, key: AttemptKey, cpu_m: int, memory_mib: int) -> None:
        self.key = key
        self.cpu_m = cpu_m
        self.memory_mib = memory_mib
        self.claimed_ns = time.monotonic_ns()
        self.executor = ""
        """Empty: its spec was not read, or an earlier process of the agent has read it."""
        self.bringing: asyncio.Task[None] | None = None
        """What fetches its code and the like, or waits for its requirements."""
        self.environment = ""
        """The name of that of its requirements, if it has some."""
        self.trace_id: str | None = None
        self.is_sent = False
        """Whether it was submitted to the runner."""
        self.phase: Phase | None = None
        """None: it is waiting for its start, which is quick."""
        self.started_ns = 0
        """0: not started, or started too recently to be reported."""
        self.ended = False
        self.passes = False
        """Whether it was claimed to start before one that waits for room."""

    @property
    def is_lease(self) -> bool:
        """Say whether the runner has it and has not begun it in any way."""
        return self.is_sent and not self.ended and not self.started_ns and self.phase is None


class HeldAttempts:
    """All held attempts in the order of their claims, with sums over those that have not ended."""

    def __init__(self, *, cpu_m: int, memory_mib: int, slots: int | None = None) -> None:
        self.cpu_m = cpu_m
        self.slots = slots
        self.memory_mib = memory_mib
        self.by_key: dict[AttemptKey, Held] = {}
        self.pace = Pace()
        self.oldest: Held | None = None
        """The lease that waited longest when leases were looked at, if that was long."""
        self.strangers: set[AttemptKey] = set()
        """Those that the runner had and the database did not list, until they are gone."""
        self.went_back = asyncio.Event()
        """Set when the database gives an attempt that is here already."""
        self.live_count = 0
        self._cpu_m_live = 0
        self._memory_mib_live = 0
        self._started: dict[AttemptKey, Held] = {}
        self._lately: deque[int] = deque(maxlen=_LATELY_MAX)

    def add(self, key: AttemptKey, *, cpu_m: int, memory_mib: int) -> Held:
        """Add an attempt that was claimed."""
        held = self.by_key[key] = Held(key, cpu_m, memory_mib)
        self.live_count += 1
        self._cpu_m_live += cpu_m
        self._memory_mib_live += memory_mib
        return held

    def add_claimed(self, key: AttemptKey, *, cpu_m: int, memory_mib: int) -> Held:
        """Add an attempt of a claim's reply. Raise `DatabaseWentBack` if one of its name is here:
        its end would be taken for this one's.
        """
        if key in self.by_key or key in self.strangers:
            self.went_back.set()
            raise DatabaseWentBack(key.name)
        return self.add(key, cpu_m=cpu_m, memory_mib=memory_mib)

    def live(self, key: AttemptKey) -> Held | None:
        """Return an attempt that is held and has not ended."""
        held = self.by_key.get(key)
        return None if held is None or held.ended else held

    def start(self, key: AttemptKey, started_ns: int) -> bool:
        """Note that an attempt runs; return False if it is not held."""
        if (held := self.live(key)) is None:
            return False
        held.started_ns = started_ns
        self._started[key] = held
        return True

    def enter(self, key: AttemptKey, phase: Phase) -> bool:
        """Note an attempt's phase; return False if it is not held."""
        if (held := self.live(key)) is None:
            return False
        held.phase = phase
        return True

    def end(self, key: AttemptKey, ended: Ended | None = None) -> None:
        """Free what an attempt reserves; it stays here until `forget`."""
        if (held := self.live(key)) is None:
            return
        held.ended = True
        self.live_count -= 1
        self._cpu_m_live -= held.cpu_m
        self._memory_mib_live -= held.memory_mib
        self._started.pop(key, None)
        if ended is not None and ended.started_ns:
            self._lately.append(ended.ended_ns)
            self.pace.add(
                duration_s=(ended.ended_ns - ended.started_ns) / _NS,
                cpu_m=held.cpu_m,
                memory_mib=held.memory_mib,
            )

    def forget(self, key: AttemptKey) -> None:
        """Drop an attempt whose end is recorded."""
        self.end(key)
        self.by_key.pop(key, None)
        self.strangers.discard(key)

    @property
    def running_count(self) -> int:
        """Return how many are known to run."""
        return len(self._started)

    def load(self) -> Load:
        """Return the input of the decision how much to claim."""
        since_ns = time.monotonic_ns() - int(RECENT_S * _NS)
        while self._lately and self._lately[0] < since_ns:
            self._lately.popleft()
        return Load(
            cpu_m=self.cpu_m,
            memory_mib=self.memory_mib,
            cpu_m_held=self._cpu_m_live,
            memory_mib_held=self._memory_mib_live,
            cpu_m_long=self._cpu_m_long(),
            ended_lately=len(self._lately),
            jobs_max=None if self.slots is None else self.slots - self.live_count,
        )

    def _cpu_m_long(self) -> int:
        before_ns = time.monotonic_ns() - int(self.pace.duration_s * _NS)
        return sum(held.cpu_m for held in self._started.values() if held.started_ns <= before_ns)

    def leases(self) -> list[Held]:
        """Return the attempts that the runner has and has not begun in any way, oldest first."""
        return [held for held in self.by_key.values() if held.is_lease]

    def without_room(self) -> tuple[Held, list[Held]] | None:
        """Return the lease that has waited for long, and what was claimed before it and is here
        yet; None: no lease has.
        """
        if self.oldest is None or not self.oldest.is_lease:
            self.oldest = None
            return None
        before = takewhile(lambda held: held is not self.oldest, self.by_key.values())
        return self.oldest, [held for held in before if not held.ended]
