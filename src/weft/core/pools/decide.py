"""Which machines a pool makes, cordons and deletes, and why: one pure function for one round.

Jobs are placed in fair-share order on what is there, on what is coming, then on machines that
would be new. What the placement cannot hold grows the pool; what it does not use shrinks it.
A machine goes in two rounds: it is cordoned, and deleted when a later look finds nothing on it.
In a full pool that is also done to machines on which jobs run, for a job that needs another kind.

A job that wants a machine of its own waits for it, runs there alone, and the machine goes. Both
kinds of machines count against the maximum and the quota of the pool. If there is not room for
all, the kind that has fewer is made first.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from weft.core.pools.machine import ANYWHERE, Decision, Demand, Machine, offers_of
from weft.core.pools.pool import Flavour, Pool
from weft.core.pools.wide import (
    Wide,
    could_hold,
    going_for,
    new_machine,
    quota_left_m,
    stays,
    widest,
)
from weft.core.scheduling.offers import MACHINE, Ask, serves
from weft.core.text.amounts import counted


def decide(
    pool: Pool,
    demand: Sequence[Demand],
    machines: Sequence[Machine],
    closed_regions: Collection[str] = (),
) -> list[Decision]:
    """Return what to do in this round with machines for all jobs; those for one job only count.

    `demand`: the head of the queue in fair-share order. `closed_regions`: where no machine can be
    made at present. There is at most one decision for a machine.
    """
    own = [one for one in machines if one.is_own]
    machines = [one for one in machines if not one.is_own]
    there = [one for one in machines if one.state == "active" and one.has_worker]
    there += [one for one in machines if one.state == "creating"]
    there = [one for one in there if not (one.is_held or one.is_broken or _is_replaced(one))]
    used = [_Room(one) for one in there]
    left = _place([_in_window(one, pool.window_s) for one in demand], used)
    staying = sum(stays(one) for one in machines)
    spare = max(pool.max_workers - staying - len(own), 0)
    back = [_Room(one) for one in machines if _may_come_back(one) and not one.is_old]
    wide = widest(pool, left, [*there, *(room.machine for room in back)], closed_regions)
    ours = [*(one for one in machines if one.flavour is not None), *own]
    goers = None if wide is None else going_for(pool, ours, there, wide[1])
    back = back[:spare] if goers is None else []
    left = _place(left, back)
    gone = [*lost_machines(pool, machines), *_broken(pool, machines)]
    lost = {one.machine for one in gone}
    gone += _withdrawn(pool, [room for room in used if room.machine.name not in lost], staying)
    decisions = [*gone, *_uncordoned(back)]
    lost = {one.machine for one in gone}
    if goers is None:
        decisions += _created(pool, left, ours, closed_regions, wide)
    elif wide is not None:
        decisions += _each("cordon", goers, f"a job waits that needs a {wide[1].name} machine")
        lost |= {one.name for one in goers}
    decisions += _emptied(pool, machines, {room.machine.name for room in back if room.taken})
    old = [one for one in machines if _is_replaced(one) and one.name not in lost]
    decisions += _replaced(pool, old)
    decisions += _cordoned(
        pool, [room for room in used if room.machine.name not in lost], len(old), len(own)
    )
    return decisions


class _Room:
    """What is free on a machine while jobs are placed."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.cpu_m = machine.cpu_m - machine.used_cpu_m
        self.memory_mib = machine.memory_mib - machine.used_memory_mib
        self.amounts = {
            name: offer for name, offer in machine.offers.items() if isinstance(offer, int)
        }
        if "slots" in self.amounts:
            self.amounts["slots"] -= machine.n_running
        self.taken = 0
        self.jobs = 0.0
        """Of those taken and those that follow them."""

    def take(self, demand: Demand, count: int) -> int:
        """Place jobs, and return how many."""
        if not serves(self.machine.offers, demand.asks):
            return 0
        asked = {name: ask for name, ask in demand.asks.items() if isinstance(ask, int) and ask}
        if "slots" in self.amounts:
            asked["slots"] = 1
        fits = min(
            count,
            self.cpu_m // demand.cpu_m,
            self.memory_mib // max(demand.memory_mib, 1),
            *(self.amounts[name] // ask for name, ask in asked.items()),
        )
        if fits <= 0:
            return 0
        self.cpu_m -= fits * demand.cpu_m
        self.memory_mib -= fits * demand.memory_mib
        for name, ask in asked.items():
            self.amounts[name] -= fits * ask
        self.taken += fits
        self.jobs += fits * demand.in_a_row
        return fits


def _in_window(demand: Demand, window_s: float) -> Demand:
    """Return how many of the jobs run at a time if all start within the window: short ones follow
    each other on one machine.
    """
    if demand.runs_s is None or demand.runs_s >= window_s:
        return demand
    count = max(math.ceil(demand.n_jobs * demand.runs_s / window_s), 1)
    return msgspec.structs.replace(demand, n_jobs=count, in_a_row=demand.n_jobs / count)


def _place(demand: Iterable[Demand], rooms: Sequence[_Room]) -> list[Demand]:
    """Place jobs first-fit, in their order; return what is left."""
    left = []
    for wanted in demand:
        count = wanted.n_jobs
        for room in rooms:
            if not count:
                break
            count -= room.take(wanted, count)
        if count:
            left.append(msgspec.structs.replace(wanted, n_jobs=count))
    return left


def _is_replaced(one: Machine) -> bool:
    """Say whether a machine goes although it may be needed: another one is made instead."""
    idle = one.state == "active" and one.has_worker and not one.n_running
    return idle and one.flavour is not None and one.is_old and not (one.is_held or one.is_broken)


def _replaced(pool: Pool, old: Sequence[Machine]) -> list[Decision]:
    reason = "its flavour is described otherwise by now, and nothing runs on it"
    return _each("cordon", old[: pool.deletes_per_round], reason)


def _each(
    kind: Literal["cordon", "delete"], machines: Iterable[Machine], reason: str
) -> list[Decision]:
    return [Decision(kind=kind, machine=one.name, reason=reason) for one in machines]


def _may_come_back(machine: Machine) -> bool:
    ours = machine.flavour is not None
    usable = machine.has_worker and not (machine.is_held or machine.is_broken)
    return ours and machine.state == "cordoned" and usable


def lost_machines(pool: Pool, machines: Iterable[Machine]) -> list[Decision]:
    """Delete machines that never came, and those whose worker is gone."""
    decisions = []
    for machine in machines:
        if machine.flavour is None or machine.has_worker or machine.state == "deleting":
            continue
        if machine.state != "creating":
            reason = "its worker is gone"
        elif machine.state_s > pool.stale_s and not machine.waits:
            reason = f"no worker came within {pool.stale_s:g} s"
        else:
            continue
        decisions.append(Decision(kind="delete", machine=machine.name, reason=reason))
    return decisions


def _withdrawn(pool: Pool, rooms: Sequence[_Room], n_staying: int) -> list[Decision]:
    """Delete machines that have not begun and that no job needs, down to the minimum."""
    free = [room.machine for room in rooms if not room.taken]
    idle = [one for one in free if one.waits and one.state_s >= pool.idle_s]
    reason = "it has not begun, and no job needs it any more"
    most = max(min(pool.deletes_per_round, n_staying - pool.min_workers), 0)
    return _each("delete", idle[:most], reason)


def _broken(pool: Pool, machines: Sequence[Machine]) -> list[Decision]:
    """Delete machines on which attempts fail at once, and nothing runs."""
    empty = [
        one
        for one in machines
        if one.is_broken and not (one.is_held or one.n_running) and one.flavour is not None
        if one.has_worker and one.state in {"active", "cordoned"}
    ]
    reason = "attempts fail at once on it, while others succeed elsewhere"
    return _each("delete", empty[: pool.deletes_per_round], reason)


def _uncordoned(back: Sequence[_Room]) -> list[Decision]:
    reasons = {
        room.machine.name: f"{_jobs(room.jobs)} can start on it" for room in back if room.taken
    }
    return [Decision(kind="uncordon", machine=name, reason=why) for name, why in reasons.items()]


def _created(
    pool: Pool,
    left: Sequence[Demand],
    ours: Sequence[Machine],
    closed: Collection[str],
    wide: Wide | None,
) -> list[Decision]:
    new = _New(pool, ours, closed)
    for wanted in left:
        new.add_for(wanted)
    if wide and not any(could_hold(room.machine, wide[0]) for room, _, _ in new.rooms):
        new = _New(pool, ours, closed)
        new.add_for(msgspec.structs.replace(wide[0], n_jobs=1))
    staying = sum(stays(one) and not one.is_own for one in ours)
    while staying + len(new.rooms) < pool.min_workers and new.add_any():
        pass
    while 0 < len(new.rooms) < pool.create_batch and new.add_any():
        pass
    wanted_jobs = sum(one.n_jobs * one.in_a_row for one in left if MACHINE not in one.asks)
    return new.decisions(wanted_jobs)


class _New:
    """Machines to be made in this round."""

    def __init__(self, pool: Pool, there: Sequence[Machine], closed: Collection[str]) -> None:
        self._pool, self._quota_m = pool, quota_left_m(pool, there)
        self._most = min(pool.creates_per_round, pool.max_workers - len(there))
        self._work_s = 0.0
        """How long the jobs run in all that have no room yet."""
        self._there = [one for one in there if stays(one) and not (one.is_held or one.is_own)]
        regions = [one for one in pool.regions or (ANYWHERE,) if one not in closed]
        self._regions = {name: sum(one.region == name for one in there) for name in regions}
        """How many machines each has: new ones are spread."""
        self.rooms: list[tuple[_Room, Flavour, str]] = []

    def add_for(self, demand: Demand) -> None:
        """Place jobs on new machines, as far as rules let there be any."""
        count = demand.n_jobs
        for room, _, _ in self.rooms:
            count -= room.take(demand, count)
        self._work_s += count * demand.work_s
        for flavour in self._pool.flavours:
            while count and self._has_room_for(flavour) and self._is_worth(demand):
                taken = self._add_room(flavour, demand, count)
                if not taken:
                    break
                count -= taken
                self._work_s -= taken * demand.work_s

    def _is_worth(self, demand: Demand) -> bool:
        """Say whether there is enough work for one more machine, or none for such jobs yet."""
        rooms = (room.machine for room, _, _ in self.rooms)
        return self._work_s >= self._pool.min_work_s or not any(
            could_hold(machine, demand) for machine in (*self._there, *rooms)
        )

    def add_any(self) -> bool:
        """Add a machine without jobs; return whether the rules allow one."""
        for flavour in self._pool.flavours:
            for region in self._emptiest_first():
                if self._has_room_for(flavour):
                    self._append(_Room(new_machine(self._pool, flavour, region)), flavour, region)
                    return True
        return False

    def _add_room(self, flavour: Flavour, demand: Demand, count: int) -> int:
        """Add a machine that holds some of these jobs; return how many, 0 if no region may."""
        for region in self._emptiest_first():
            room = _Room(new_machine(self._pool, flavour, region))
            if taken := room.take(demand, count):
                self._append(room, flavour, region)
                return taken
        return 0

    def _append(self, room: _Room, flavour: Flavour, region: str) -> None:
        self.rooms.append((room, flavour, region))
        self._regions[region] += 1

    def _emptiest_first(self) -> Sequence[str]:
        return sorted(self._regions, key=self._regions.__getitem__)

    def _has_room_for(self, flavour: Flavour) -> bool:
        if len(self.rooms) >= self._most:
            return False
        planned = sum(one.cpu_m for _, one, _ in self.rooms)
        return self._quota_m is None or planned + flavour.cpu_m <= self._quota_m

    def decisions(self, wanted_jobs: float) -> list[Decision]:
        """Return them with their reasons. `wanted_jobs`: how many had no room."""
        more = "the pool keeps, or makes at a time, more machines than jobs need"
        decisions = []
        for room, flavour, region in self.rooms:
            reason = (
                f"no room elsewhere for {_jobs(room.jobs, wanted_jobs)}" if room.taken else more
            )
            new = Decision(kind="create", flavour=flavour.name, region=region, reason=reason)
            decisions.append(new)
        return decisions


def _emptied(
    pool: Pool, machines: Sequence[Machine], wanted_back: Collection[str]
) -> list[Decision]:
    """Delete cordoned machines on which nothing runs any more."""
    empty = [
        machine
        for machine in machines
        if _may_come_back(machine) and not machine.n_running and machine.name not in wanted_back
    ]
    reason = "nothing runs on it since its cordon"
    return _each("delete", empty[: pool.deletes_per_round], reason)


def _cordoned(pool: Pool, rooms: Sequence[_Room], n_old: int, n_own: int) -> list[Decision]:
    """Cordon machines beyond the maximum, and those that nobody needs, down to the minimum.
    `n_old`: how many are replaced. `n_own`: how many are made for one job.
    """
    ours = [room for room in rooms if room.machine.flavour is not None]
    most = max(pool.deletes_per_round - n_old, 0)
    surplus = max(len(ours) + n_old + n_own - pool.max_workers, 0)
    active = [room.machine for room in ours if room.machine.state == "active"]
    free = [room.machine for room in ours if not (room.taken or room.machine.n_running)]
    idle = [one for one in free if one.state == "active" and one.idle_s >= pool.idle_s]
    share = max(int(len(idle) * pool.delete_share), 1)
    unneeded = idle[: max(min(share, len(ours) - pool.min_workers), 0)]
    decisions = [
        Decision(
            kind="cordon", machine=one.name, reason=f"nothing ran on it for {one.idle_s:.0f} s"
        )
        for one in unneeded[:most]
    ]
    named = {one.machine for one in decisions}
    for one in sorted(active, key=lambda one: one.n_running):
        if len(decisions) >= min(surplus - n_old, most):
            break
        if one.name not in named:
            decisions += _each(
                "cordon", [one], f"the pool has more machines than {pool.max_workers}"
            )
    return decisions


def _jobs(count: float, of_all: float = 0) -> str:
    count, of_all = round(count), round(of_all)
    if count < of_all:
        return f"{count:,} of {of_all:,} jobs"
    return counted(count, "job")


class OwnJob(msgspec.Struct, frozen=True, kw_only=True):
    """A ready job that wants a machine of its own."""

    batch_id: int
    job_id: int
    cpu_m: int
    memory_mib: int
    asks: Mapping[str, Ask]


def decide_all(
    pool: Pool,
    demand: Sequence[Demand],
    own_jobs: Sequence[OwnJob],
    machines: Sequence[Machine],
    closed_regions: Collection[str] = (),
) -> list[Decision]:
    """Return what to do in this round. `own_jobs`: in the order in which they get machines;
    others as of `decide`.
    """
    gone = _gone(pool, [machine for machine in machines if machine.is_own])
    new: list[Decision] = []
    if own_jobs:
        for_all = [
            decision
            for decision in decide(pool, demand, machines, closed_regions)
            if decision.kind == "create"
        ]
        most = _most(pool, len(for_all), machines)
        new = _created_own(pool, own_jobs, machines, closed_regions, most)
        coming = [_coming(pool, decision) for decision in new]
        left = pool.creates_per_round - len(new)
        pool, machines = (
            msgspec.structs.replace(pool, creates_per_round=left),
            [
                *machines,
                *coming,
            ],
        )
    return [*gone, *new, *decide(pool, demand, machines, closed_regions)]


def _gone(pool: Pool, own: Sequence[Machine]) -> list[Decision]:
    """Delete machines whose job has ended, and those that did not come or were not used."""
    decisions = []
    for one in own:
        if one.state == "deleting" or one.is_held:
            continue
        if not one.is_needed:
            reason = "its job needs it no more"
        elif one.state != "creating" and not one.n_running and one.state_s > pool.stale_s:
            reason = f"its job did not start there within {pool.stale_s:g} s"
        else:
            decisions += lost_machines(pool, [one])
            continue
        decisions.append(Decision(kind="delete", machine=one.name, reason=reason))
    return decisions


def _most(pool: Pool, n_for_all: int, machines: Sequence[Machine]) -> int:
    """Return how many may be made in this round. `n_for_all`: how many others are wanted."""
    n_own = sum(machine.is_own for machine in machines)
    n_shared = sum(machine.flavour is not None and not machine.is_own for machine in machines)
    most = max(min(pool.creates_per_round, pool.max_workers - n_own - n_shared), 0)
    equal = (n_shared + most - n_own + 1) // 2
    return max(min(equal, most), most - n_for_all, 0)


def _created_own(
    pool: Pool,
    jobs: Sequence[OwnJob],
    machines: Sequence[Machine],
    closed: Collection[str],
    most: int,
) -> list[Decision]:
    flavours = {one.name: one for one in pool.flavours}
    ours = [machine for machine in machines if machine.flavour is not None]
    left_m = quota_left_m(pool, ours)
    count = {
        name: sum(machine.region == name for machine in ours)
        for name in pool.regions or (ANYWHERE,)
        if name not in closed
    }
    decisions: list[Decision] = []
    for job in jobs:
        flavour = flavours.get(str(job.asks.get(MACHINE)))
        if len(decisions) >= most or flavour is None:
            continue
        region = next(
            (
                one
                for one in sorted(count, key=count.__getitem__)
                if _holds(pool, flavour, one, job)
            ),
            None,
        )
        if region is None or (left_m is not None and flavour.cpu_m > left_m):
            continue
        count[region] += 1
        left_m = None if left_m is None else left_m - flavour.cpu_m
        of, reason = (job.batch_id, job.job_id), "a job wants a machine of its own"
        new = Decision(kind="create", flavour=flavour.name, region=region, reason=reason, job=of)
        decisions.append(new)
    return decisions


def _holds(pool: Pool, flavour: Flavour, region: str, job: OwnJob) -> bool:
    offers = {**offers_of(pool.name, flavour, region), MACHINE: flavour.name}
    fits = job.cpu_m <= flavour.cpu_m and job.memory_mib <= flavour.memory_mib
    return fits and serves(offers, job.asks)


def _coming(pool: Pool, decision: Decision) -> Machine:
    flavour = next(kind for kind in pool.flavours if kind.name == decision.flavour)
    new = new_machine(pool, flavour, decision.region)
    return msgspec.structs.replace(
        new, state="creating", has_worker=False, is_own=True, is_needed=True
    )
