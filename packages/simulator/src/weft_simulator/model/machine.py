"""A machine of the simulator, and how machines are taken back."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, Literal

from weft.core.pools import ANYWHERE, Flavour, Machine, Pool, offers_of
from weft.core.scheduling.offers import PREEMPTIBLE, Ask, serves
from weft.core.swf import TraceJob


class SimulatedMachine:
    """A machine with what runs there."""

    __slots__ = (
        "begin_s",
        "fill_until_s",
        "flavour",
        "idle_since_s",
        "kept",
        "memory_mib",
        "n_running",
        "name",
        "offers",
        "pending",
        "region",
        "serves",
        "started",
        "state",
        "state_since_s",
        "used_m",
        "used_mib",
    )

    def __init__(self, pool: str, name: str, flavour: Flavour, region: str, now: float) -> None:
        self.name = name
        self.flavour = flavour
        self.region = region
        self.offers = offers_of(pool, flavour, region)
        self.serves = tuple(number for number, one in enumerate(ASKS) if serves(self.offers, one))
        """Which of the asks of jobs."""
        self.state: Literal["creating", "active", "cordoned"] = "creating"
        self.begin_s = self.state_since_s = self.idle_since_s = now
        self.used_m = 0
        """Also what a claimed job will use that has no room yet."""
        self.used_mib = 0
        self.n_running = 0
        self.pending: int | None = None
        """A job that was claimed and waits for room."""
        self.started: dict[int, float] = {}
        """When each job that runs began."""
        self.kept: int | None = None
        """The job that it is kept for, claimed and without room yet."""
        self.fill_until_s: float | None = None
        """Until then others may run before that job."""

    def has_room(self) -> bool:
        """Say whether all that it has can run."""
        flavour = self.flavour
        return self.used_m <= flavour.cpu_m and self.used_mib <= flavour.memory_mib

    def seen(self, now: float) -> Machine:
        """Return it as the autoscaler sees it."""
        return Machine(
            name=self.name,
            state=self.state,
            flavour=self.flavour.name,
            region=self.region,
            cpu_m=self.flavour.cpu_m,
            memory_mib=self.flavour.memory_mib,
            offers=self.offers,
            used_cpu_m=self.used_m,
            used_memory_mib=self.used_mib,
            n_running=self.n_running,
            idle_s=now - self.idle_since_s if not self.n_running else 0.0,
            state_s=now - self.state_since_s,
            has_worker=self.state != "creating",
        )


HOUR_S: Final = 3600.0
ASKS: Final[Sequence[Mapping[str, Ask]]] = ({PREEMPTIBLE: "yes"}, {})
"""What a job asks: first any machine, for nobody noted what it bears; then one that stays."""
Fate = Literal["again", "stays", "error"]


class Losses:
    """When machines are taken back, and how often jobs were lost."""

    def __init__(
        self, pool: Pool, *, seed: int, per_hour: float, losses_max: int, spot_losses_max: int
    ) -> None:
        self._per_hour = per_hour
        self._losses_max = losses_max
        self._spot_losses_max = spot_losses_max
        self._random = Random(f"losses {seed}")  # noqa: S311 (no secret)
        quota_m = pool.quota_cpu_m
        self._staying = [
            flavour
            for flavour in pool.flavours
            if serves(offers_of(pool.name, flavour, ANYWHERE), ASKS[1])
            and (quota_m is None or flavour.cpu_m <= quota_m * pool.quota_share)
        ]
        self.by_job: dict[int, int] = {}
        """Of both kinds: with their machine, and for another job."""
        self.with_machine: dict[int, int] = {}
        self._on_spot: dict[int, int] = {}

    def lifetime_s(self, flavour: Flavour) -> float | None:
        """Draw how long a machine is there before it is taken back; None: it stays."""
        if not self._per_hour or not flavour.preemptible:
            return None
        return self._random.expovariate(self._per_hour / HOUR_S)

    def lose(self, index: int, job: TraceJob) -> Fate:
        """Note an attempt that was lost with its machine and return what becomes of its job."""
        self.with_machine[index] = self.with_machine.get(index, 0) + 1
        return self._note(index, job, on_spot=True)

    def preempt(self, index: int, job: TraceJob, flavour: Flavour) -> Fate:
        """Note an attempt that was stopped for another job and return what becomes of its own."""
        return self._note(index, job, on_spot=flavour.preemptible)

    def _note(self, index: int, job: TraceJob, *, on_spot: bool) -> Fate:
        before = self.by_job.get(index, 0)
        self.by_job[index] = before + 1
        self._on_spot[index] = self._on_spot.get(index, 0) + on_spot
        if before >= self._losses_max:
            return "error"
        if not on_spot or self._on_spot[index] < self._spot_losses_max:
            return "again"
        is_held = any(
            job.cpu_m <= flavour.cpu_m and job.memory_mib <= flavour.memory_mib
            for flavour in self._staying
        )
        return "stays" if is_held else "again"
