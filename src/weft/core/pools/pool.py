"""A pool, as an operator describes it: how many machines of which kinds, and who makes them; and
what applying a file of pools changes.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from weft.core.bounds import Count
from weft.core.text.differences import ChangedFields, Kind, differences

Option = str | int | float | bool


class Flavour(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of machine."""

    name: str
    cpu_m: Count
    memory_mib: Count
    storage_mib: Count = 0
    gpus: Count = 0
    countables: Mapping[str, int] = {}
    """Amounts that its worker offers by name, such as licences of its host."""
    labels: Mapping[str, str] = {}
    containers: bool = False
    """Whether its worker runs containers."""
    preemptible: bool = False
    """Its owner may take it back at any time."""
    walltime_s: Annotated[Count, Meta(description="how long it lives; 0: it stays")] = 0
    price_per_hour: str = "0"
    """An exact decimal."""


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """The machines that a pool may have, and the rules by which they come and go."""

    name: str
    provider: str | None = None
    """None: nobody makes machines; workers come by themselves."""
    tenant: str | None = None
    """Whose queues may use it; None: those of all tenants."""
    options: Mapping[str, Option] = {}
    min_workers: Count = 0
    max_workers: Count = 0
    idle_s: float = 300.0
    """A machine on which nothing runs for this long goes."""
    creates_per_round: Count = 10
    create_batch: Count = 1
    """If machines are made at all, at least this many at a time, within the other limits."""
    deletes_per_round: Count = 10
    delete_share: float = 1.0
    """The share of the idle machines that goes in one round, at least one."""
    window_s: float = 150.0
    """Only jobs that would start within this time are a reason for a machine."""
    min_work_s: float = 0.0
    """If a machine is there that can run them at all, another one is made only for jobs that run
    for this long in all.
    """
    stale_s: float = 900.0
    """A machine that has no worker after this time goes."""
    regions: tuple[str, ...] = ()
    quota_cpu_m: Count | None = None
    """All machines together have at most `quota_share` of this."""
    quota_share: float = 1.0
    flavours: tuple[Flavour, ...] = ()


class PoolDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A pool that is created, changed or deleted."""

    kind: Kind
    pool: str
    fields: ChangedFields = {}
    """Each flavour is a field."""


def plan_changes(now: Sequence[Pool], pools: Sequence[Pool]) -> list[PoolDifference]:
    """Return what has to change so that the pools are as wanted, and no others."""
    return [
        PoolDifference(kind=kind, pool=name, fields=fields)
        for kind, name, fields in differences(
            {pool.name: _fields(pool) for pool in now},
            {pool.name: _fields(pool) for pool in pools},
            _fields(Pool(name="")),
        )
    ]


def _fields(pool: Pool) -> Mapping[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(pool)
    del fields["name"]
    for flavour in fields.pop("flavours"):
        fields[f"flavour {flavour.pop('name')}"] = flavour
    return fields
