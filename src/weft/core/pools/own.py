"""Machines that are made for one job each, and all decisions of a round together.

A job that wants a machine of its own waits for it, runs there alone, and the machine goes. Both
kinds of machines count against the maximum and the quota of the pool. If there is not room for
all, the kind that has fewer is made first.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from weft.core.pools.decide import decide, lost_machines
from weft.core.pools.machine import ANYWHERE, Decision, Demand, Machine, offers_of
from weft.core.pools.pool import Flavour, Pool
from weft.core.pools.wide import new_machine, quota_left_m
from weft.core.scheduling.offers import MACHINE, Ask, serves


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
        for_all = [decision for decision in decide(pool, demand, machines, closed_regions)
                   if decision.kind == "create"]  # fmt: skip
        most = _most(pool, len(for_all), machines)
        new = _created(pool, own_jobs, machines, closed_regions, most)
        coming = [_coming(pool, decision) for decision in new]
        left = pool.creates_per_round - len(new)
        pool, machines = msgspec.structs.replace(pool, creates_per_round=left), [
            *machines, *coming,
        ]  # fmt: skip
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


def _created(
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
        region = next((one for one in sorted(count, key=count.__getitem__)
                       if _holds(pool, flavour, one, job)), None)  # fmt: skip
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
