"""What is known of a pool's machines and jobs when it is decided about them."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from weft.core.pools.pool import Flavour
from weft.core.scheduling import time_limits
from weft.core.scheduling.offers import PREEMPTIBLE, Ask, Offer

MachineState = Literal["creating", "active", "cordoned", "deleting"]
NEVER_S: Final = 31_536_000.0
"""How long a job counts that may run for ever."""
ANYWHERE = ""
"""The region of a pool that names none."""
EXECUTORS: Final = ("app", "function", "process")
"""What the worker of every machine runs; besides, containers if its flavour says so."""


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that ask the same and could start now."""

    cpu_m: int
    memory_mib: int
    asks: Mapping[str, Ask] = {}
    n_jobs: int = 1
    runs_s: float | None = None
    """How long one of them runs, as far as is known."""
    in_a_row: float = 1.0
    """How many jobs each of them stands for: short ones follow each other."""

    @property
    def work_s(self) -> float:
        """Return how long one of them runs with those that follow it: at most, if it has a time
        limit and none has run.
        """
        runs_s = self.runs_s
        if runs_s is None:
            _, _, limit = str(self.asks.get(time_limits.ASK, "")).partition("-")
            runs_s = float(limit or NEVER_S)
        return runs_s * self.in_a_row


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine of the pool, or a worker that came by itself."""

    name: str
    state: MachineState = "active"
    flavour: str | None = None
    """None: a worker that came by itself; it is used, and never changed."""
    region: str = ANYWHERE
    cpu_m: int
    memory_mib: int
    offers: Mapping[str, Offer] = {}
    """What its worker offers beside cpu and memory; a coming machine has its flavour's."""
    used_cpu_m: int = 0
    used_memory_mib: int = 0
    n_running: int = 0
    idle_s: float = 0.0
    """For how long nothing has run there."""
    state_s: float = 0.0
    """For how long it has its state."""
    has_worker: bool = True
    waits: bool = False
    """Its provider has not begun it yet."""
    is_old: bool = False
    """Machines of its flavour are made otherwise by now, for example from another image."""
    is_held: bool = False
    """Cordoned or drained by a person: it is neither used nor changed."""
    is_broken: bool = False
    """Cordoned by the driver, because attempts fail at once there: it is not used, and goes."""
    is_own: bool = False
    """Made for one job: no other runs there."""
    is_needed: bool = False
    """That job still waits for it or runs there."""


def used_share(one: Machine) -> float:
    """Return the share of a machine that its jobs reserve: of its cpu or memory, the larger."""
    if not one.n_running:
        return 0.0
    cpu, memory = one.used_cpu_m / one.cpu_m, one.used_memory_mib / max(one.memory_mib, 1)
    return min(max(cpu, memory, 0.0), 1.0)


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do, and why."""

    kind: Literal["create", "cordon", "uncordon", "delete"]
    reason: str
    machine: str | None = None
    """None: a new one, of this flavour in this region."""
    flavour: str = ""
    region: str = ANYWHERE
    job: tuple[int, int] | None = None
    """Batch and number of the job that a new machine is made for; None: all."""


def offers_of(pool: str, flavour: Flavour, region: str) -> dict[str, Offer]:
    """Return what the worker of a machine offers, before it is there."""
    found: dict[str, Offer] = {
        "storage_mib": flavour.storage_mib,
        "gpu": flavour.gpus,
        "executor": [*EXECUTORS, *(["container"] if flavour.containers else [])],
        "pool": pool,
        **flavour.countables,
        **{name: [word] for name, word in flavour.labels.items()},
    }
    if region != ANYWHERE:
        found["region"] = [region]
    if flavour.preemptible:
        found[PREEMPTIBLE] = ["yes"]
    if flavour.walltime_s:
        found[time_limits.ASK] = time_limits.longest_in(flavour.walltime_s)
    return found
