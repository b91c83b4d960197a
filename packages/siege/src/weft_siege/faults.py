"""Which fault comes when: drawn from a seed alone, so that one seed is one schedule."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

GAP_S = (2.0, 5.0)
ACTS = {
    "api": ("kill", "kill", "stop", "restart"),
    "broker": ("cut", "hang", "slow"),
    "bucket": ("cut", "hang", "slow"),
    "clocks": ("clock+5", "clock-5", "clock+90", "clock-90", "clock+1h", "clock-1h"),
    "database": ("cut", "hang", "slow"),
    "disk": ("fill",),
    "driver": ("kill", "kill", "stop", "restart"),
    "link": ("cut", "hang", "slow", "twice"),
    "other": ("rollback",),
    "worker": ("kill", "kill", "stop", "restart"),
    "slurm": ("kill", "stop", "restart"),
    "spawner": ("kill", "stop"),
    "postgres": ("kill", "stop", "restart"),
    "standby": ("failover", "failover", "kill", "stop"),
}
"""kill: SIGKILL; stop: SIGSTOP, and SIGCONT later; restart: SIGTERM, of PostgreSQL SIGINT. The
last workers are outside, behind a link; see `network.Wire` for what that and the ways to the
broker, the bucket and of some roles to PostgreSQL suffer. failover: the primary is killed for
good, and the standby takes over. fill: less is free than weft keeps. rollback: SIGTERM, and the
role is one of another release until it is upgraded. clock: that of such a role is turned by
seconds or an hour.
"""
STOPS_S = {
    "bucket": 15.0,
    "clocks": 20.0,
    "slurm": 15.0,
    "broker": 15.0,
    "database": 15.0,
    "disk": 15.0,
    "link": 20.0,
    "other": 40.0,
    "worker": 25.0,
    "spawner": 15.0,
    "postgres": 3.0,
    "standby": 3.0,
}
"""The longest stop of each part: workers are given up meanwhile, and wake to find that."""
CONTROLLER, GATEWAY = "slurmctld", "worker-slurm"
OTHERS_STOP_S = 6.0
WAYS = ("broker", "bucket", "database", "link")
AWAY_S = 12.0
"""How long agents may be without a database when its server has failed, on a busy host."""
_MILDER: Mapping[str, Mapping[str, Any]] = {
    "database": {"act": "slow"},
    "link": {"act": "slow"},
    "postgres": {"act": "stop", "lasts_s": 0.5},
}
"""What becomes of a fault that must not be now, by its part; of others: a kill."""
LAG_S = 10.0
"""Twice the most that was seen, 4.5 s at a load of 75 on two cores; 2.0 s in 57,000 runs with 4 or
20 workers at a load of 20, and 0.34 s for 99 of 100 of them.
"""
HALF_WITHIN_S = 0.5
"""Half of all runs, whatever befalls them: what is wrong with each one shows here."""
OPTIONAL = ("broker", "bucket", "clocks", "disk", "other", "slurm", "standby")


class Fault(NamedTuple):
    """One fault: when after the beginning, what is done to whom, and how long it lasts."""

    at_s: float
    act: str
    target: str
    lasts_s: float = 0.0


@dataclass
class Delays:
    """What may be late: always a little, as programs have to start, and by what is stopped."""

    came: list[tuple[float, Fault]] = field(default_factory=list)
    """Each fault, and the uptime of the machine when it came."""
    seen_s: list[float] = field(default_factory=list)
    """By how much each run was billed for another time than it says itself."""

    def median_s(self) -> float:
        """Return what half of these are within; 0 if there are none."""
        return median(self.seen_s or [0.0])

    def of_s(self, parts: Collection[str], begun: float, ended: float) -> float:
        """Return how much during this time may be late, for faults that held some parts."""
        return LAG_S + sum(
            fault.lasts_s
            for at, fault in self.came
            if fault.target.partition("-")[0] in parts
            and at - LAG_S < ended
            and begun < at + fault.lasts_s + LAG_S
        )


def targets_of(part: str, workers: int) -> Sequence[str]:
    """Return the names of all processes of a part; the first one's is that of the part."""
    if part in {"clocks", "other"}:
        return apart(workers)
    if part == "slurm":
        return [CONTROLLER, GATEWAY]
    alone = dict.fromkeys((*WAYS, "disk", "postgres", "standby"), 1)
    count = {"api": 2, "driver": 2, **alone}.get(part, workers)
    return [part, *(f"{part}-{number}" for number in range(2, count + 1))]


def apart(workers: int) -> Sequence[str]:
    """Return the names of the roles that `weft up` does not start."""
    return ["api-2", "driver-2", *targets_of("worker", workers)[1:]]


def linked(workers: int) -> Sequence[str]:
    """Return the names of the workers outside: the last one of each eight."""
    count = max(1, workers // 8) if workers > 1 else 0
    return apart(workers)[len(apart(workers)) - count :]


def cut_off(workers: int) -> Sequence[str]:
    """Return the names of the roles whose way to PostgreSQL fails: a driver, and a worker if there
    is one that is neither of `weft up` nor outside.
    """
    inside = set(apart(workers)).difference(linked(workers))
    return [name for name in ("driver-2", "worker-2") if name in inside]


class Halves:
    """Until when agents and spawners are frozen, agents also by their link or because there is no
    database. The other half is never frozen meanwhile: of a worker that is lost the spawner ends
    what runs, and of one whose spawner is frozen, too, nobody does.
    """

    def __init__(self, workers: int) -> None:
        self._behind = {
            way: [int(name.partition("-")[2]) for name in names if name.startswith("worker")]
            for way, names in (("link", linked(workers)), ("database", cut_off(workers)))
        }
        self._all = [*range(1, workers + 1)]
        self._until: dict[tuple[bool, int], float] = {}

    def spared(self, fault: Fault) -> Fault:
        """Return the fault, or another one in its place."""
        part, _, number = fault.target.partition("-")
        is_frozen = fault.act in {"cut", "hang", "stop"} and fault.target != GATEWAY
        is_away = part == "postgres" or fault.act == "failover"
        if not is_away and (part not in {*self._behind, "spawner", "worker"} or not is_frozen):
            return fault
        is_spawner = part == "spawner"
        workers = self._all if is_away else self._behind.get(part, [int(number or 1)])
        if any(self._until.get((not is_spawner, one), 0.0) > fault.at_s for one in workers):
            return fault._replace(**_MILDER.get(part, {"act": "kill", "lasts_s": 0.0}))
        lasts_s = fault.lasts_s + (AWAY_S if is_away or part == "database" else 0.0)
        for one in workers:
            until = max(self._until.get((is_spawner, one), 0.0), fault.at_s + lasts_s)
            self._until[is_spawner, one] = until
        return fault


def plan_faults(
    seed: int, *, seconds: float, workers: int, also: Collection[str] = ()
) -> Sequence[Fault]:
    """Return the faults of a siege, in order. `also`: which optional parts there are."""
    parts = [part for part in sorted(ACTS) if part not in OPTIONAL or part in also]
    chance = random.Random(seed)  # noqa: S311 (to be repeated, not to be secret)
    faults = []
    halves = Halves(workers)
    at_s = chance.uniform(*GAP_S)
    while at_s < seconds:
        part = chance.choice(parts)
        act = chance.choice(ACTS[part])
        target = chance.choice(targets_of(part, workers))
        lasts_s = chance.uniform(0.5, STOPS_S.get(part, OTHERS_STOP_S))
        lasts_s = 0.0 if act in {"kill", "restart", "failover"} else round(lasts_s, 1)
        faults.append(halves.spared(Fault(round(at_s, 1), act, target, lasts_s)))
        at_s += chance.uniform(*GAP_S)
    return faults
