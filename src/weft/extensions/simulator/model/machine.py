"""A machine of the simulator."""

from typing import Literal

from weft.core.pools import Flavour, Machine, offers_of
from weft.core.scheduling.offers import serves
from weft.extensions.simulator.model.losses import ASKS


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
