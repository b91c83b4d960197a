"""Lists that a query chooses from (`core/query`)."""

from dataclasses import dataclass
from typing import Final

from weft.core.batch_order import BatchOrder, BatchPlace
from weft.core.query import EVERYTHING, Node

NEWEST: Final = (1 << 63) - 1
"""No number of a batch is above it."""


@dataclass(frozen=True)
class QueryLimits:
    """Limits on the cost of a query."""

    timeout_s: float
    scan_jobs_max: int
    """How many jobs a query without a suitable index may read."""


@dataclass(frozen=True, kw_only=True)
class JobQuery:
    """A query for jobs of a batch: a page in order of their numbers above `after`."""

    query: Node = EVERYTHING
    group: int | str | None = None
    """Only jobs of this group: its number, its path, or the name of a set."""
    after: int = 0
    limit: int
    limits: QueryLimits


@dataclass(frozen=True, kw_only=True)
class BatchQuery:
    """A query for batches: a page, newest first, of those below `before`; or in another order, of
    those after a place.
    """

    query: Node = EVERYTHING
    before: int | None = None
    order: BatchOrder | None = None
    after: BatchPlace | None = None
    """Only with an order."""
    hidden: bool = False
    """Also those that are hidden."""
    is_short: bool = False
    """It names a short range of numbers: in it those of others may be passed over."""
    limit: int
    limits: QueryLimits


@dataclass(frozen=True, kw_only=True)
class ProductQuery:
    """A query for products: a page, newest first, of those below `before`."""

    query: Node = EVERYTHING
    before: int | None = None
    limit: int
    limits: QueryLimits
