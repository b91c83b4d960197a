"""Pools: what an operator wants of them, and which machines they make and delete."""

from weft.core.pools.decide import OwnJob, decide, decide_all
from weft.core.pools.machine import ANYWHERE, Decision, Demand, Machine, offers_of, used_share
from weft.core.pools.pool import Flavour, Pool, PoolDifference, plan_changes

__all__ = [
    "ANYWHERE",
    "Decision",
    "Demand",
    "Flavour",
    "Machine",
    "OwnJob",
    "Pool",
    "PoolDifference",
    "decide",
    "decide_all",
    "offers_of",
    "plan_changes",
    "used_share",
]
