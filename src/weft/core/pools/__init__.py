"""Pools: what an operator wants of them, and what changes when a file of pools is applied."""

from weft.core.pools.plan import Change, plan_changes
from weft.core.pools.pool import Flavour, Pool

__all__ = ["Change", "Flavour", "Pool", "plan_changes"]
