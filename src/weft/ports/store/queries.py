"""Lists that a query chooses from (`core/query`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from weft.core.batch_order import BatchOrder, BatchPlace
from weft.core.query import EVERYTHING, Node
from weft.ports.store.callers import Caller, Row
from weft.ports.store.job_entries import JobEntry

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


class QueryStore(Protocol):
    """Pages of documents, all of one moment.

    Each method raises `QueryTooSlow` if it takes too long, the ones for jobs `QueryTooWide` if too
    many would be read.
    """

    async def query_jobs(self, caller: Caller, batch_id: int, wanted: JobQuery) -> Sequence[Row]:
        """Return job documents. Raise `BatchNotFound`, `GroupNotFound`."""

    async def query_job_entries(
        self, caller: Caller, batch_id: int, wanted: JobQuery
    ) -> Sequence[JobEntry]:
        """Return entries of the jobs that match, as `list_job_entries` does."""

    async def explain_jobs(self, caller: Caller, batch_id: int, wanted: JobQuery) -> Row:
        """Return `{sql, plan: [lines]}` of the same query, which is not run."""

    async def query_batches(self, caller: Caller, wanted: BatchQuery) -> Sequence[Row]:
        """Return batch documents, newest first."""

    async def sort_batches(
        self, caller: Caller, wanted: BatchQuery
    ) -> tuple[Sequence[Row], BatchPlace | None]:
        """Return batch documents in the order that the query names, and the place after which the
        next page begins; None: it is the last page.
        """

    async def explain_batches(self, caller: Caller, wanted: BatchQuery) -> Row:
        """Return `{sql, plan: [lines]}` of the same query, which is not run."""
