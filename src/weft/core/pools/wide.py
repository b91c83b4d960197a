"""Room in a full pool for a job that no machine which is there can hold, whatever ends."""

from collections.abc import Collection, Iterable, Sequence

from weft.core.pools.machine import ANYWHERE, Demand, Machine, offers_of
from weft.core.pools.pool import Flavour, Pool
from weft.core.scheduling.offers import Ask, serves

Wide = tuple[Demand, Flavour]
"""Such jobs, and a flavour that can hold them."""


def widest(
    pool: Pool, demand: Sequence[Demand], there: Sequence[Machine], closed: Collection[str]
) -> Wide | None:
    """Return the largest of the jobs without room that no machine here could hold."""
    most_m = quota_left_m(pool, ())
    kinds = [
        (machine, new_machine(pool, machine, region))
        for machine in pool.flavours
        for region in pool.regions or (ANYWHERE,)
        if region not in closed and (most_m is None or machine.cpu_m <= most_m)
    ]
    for job in sorted(
        demand, key=lambda machine: (machine.cpu_m, machine.memory_mib), reverse=True
    ):
        flavour = next((machine for machine, new in kinds if could_hold(new, job)), None)
        if flavour is not None and not any(could_hold(machine, job) for machine in there):
            return job, flavour
    return None


def new_machine(pool: Pool, flavour: Flavour, region: str) -> Machine:
    """Return what a machine will be."""
    return Machine(
        name="",
        flavour=flavour.name,
        cpu_m=flavour.cpu_m,
        memory_mib=flavour.memory_mib,
        offers=offers_of(pool.name, flavour, region),
    )


def could_hold(machine: Machine, demand: Demand) -> bool:
    """Say whether a machine holds such a job when nothing else runs there."""
    fits = machine.cpu_m >= demand.cpu_m and machine.memory_mib >= demand.memory_mib
    return fits and serves(machine.offers, demand.asks)


def stays(machine: Machine) -> bool:
    """Say whether a machine is there for jobs, or will be."""
    comes = machine.state == "creating" or (machine.state == "active" and machine.has_worker)
    return machine.flavour is not None and comes and not machine.is_broken


def going_for(
    pool: Pool, ours: Sequence[Machine], there: Sequence[Machine], flavour: Flavour
) -> list[Machine] | None:
    """Return the machines that make room for a new one, the least busy first; none while others
    that go make it. What they can do another one of their flavour does, or the new one. None:
    there is room, or no way to make it.
    """
    new = new_machine(pool, flavour, ANYWHERE)
    rest, goers = (
        [machine for machine in ours if machine.is_own or stays(machine)],
        list[Machine](),
    )
    for machine in sorted(there, key=lambda machine: machine.n_running):
        if _has_room(pool, [*rest, new]):
            break
        old = next((kind for kind in pool.flavours if kind.name == machine.flavour), None)
        if old and machine.state == "active":
            asks: dict[str, Ask] = {**old.labels, **old.countables, "gpu": old.gpus}
            most = Demand(cpu_m=old.cpu_m, memory_mib=old.memory_mib, asks=asks)
            if could_hold(new, most) or sum(x.flavour == old.name for x in rest) > 1:
                goers.append(machine)
                rest.remove(machine)
    is_due = not _has_room(pool, [*ours, new]) and _has_room(pool, [*rest, new])
    return goers[: pool.deletes_per_round] if is_due else None


def _has_room(pool: Pool, ours: Sequence[Machine]) -> bool:
    return len(ours) <= pool.max_workers and (quota_left_m(pool, ours) or 0) >= 0


def quota_left_m(pool: Pool, ours: Iterable[Machine]) -> int | None:
    """Return how many more thousandths of cores the pool may have; None: any number."""
    if pool.quota_cpu_m is None:
        return None
    return int(pool.quota_cpu_m * pool.quota_share) - sum(machine.cpu_m for machine in ours)
