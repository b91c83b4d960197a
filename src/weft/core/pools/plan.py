"""What applying a file of pools changes."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from weft.core.pools.pool import Pool
from weft.core.text.differences import Kind, differences


class PoolDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A pool that is created, changed or deleted."""

    kind: Kind
    pool: str
    fields: Mapping[str, tuple[Any, Any]] = {}
    """The fields that differ, before and after; each flavour is a field."""


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
