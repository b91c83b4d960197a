"""Lists that a query chooses from (`core/query`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

from weft.core.batch_order import BatchOrder, BatchPlace
from weft.core.billing.spending import Measure, Spending
from weft.core.query import EVERYTHING, Node
from weft.ports.store.callers import Row

NEWEST: Final = (1 << 63) - 1
"""No number of a batch is above it."""


@dataclass(frozen=True)
class QueryLimits:
    """Limits on the cost of a query."""

    timeout_s: float
    scan_jobs_max: int
    """How many jobs a query without a suitable index may read."""
    setting: str = "query_timeout_s"
    """What says the time."""


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


@dataclass(frozen=True, kw_only=True)
class ReportQuery:
    """What a report covers, and how it is divided."""

    by: str
    """project, user, day, resource or attribute."""
    attribute: str | None = None
    project: str | None = None
    first_day: date | None = None
    last_day: date | None = None
    limit: int | None = None
    """How many projects, users or days; None: all, by name."""
    after: int | None = None
    """The `next` of the page before."""


@dataclass(frozen=True)
class ReportPage:
    """The rows of a report, or a page of them."""

    rows: Sequence[Row]
    next: int | None = None
    """Where the next page begins; None: this is the last one."""


class Limit(NamedTuple):
    """One limit, of one version."""

    limit_id: int
    version: int
    is_new: bool
    """Nothing was decided since it was changed."""
    kind: str
    """Of what: project, user, batch or group."""
    name: str
    measure: Measure
    tenant: str
    on_limit: str
    spending: Spending


class Admitted(NamedTuple):
    """What a limit that is near let start."""

    limit_id: int
    n_admitted: int
    """Also attempts that fit, but whose batch or row somebody else has locked just now."""
    is_short: bool
    """A job did not fit below it."""


class Limited(NamedTuple):
    """What a limit is of: a project or user by name, or a group of a batch by number or path."""

    kind: str
    """project, user or group; the root group is the batch."""
    name: str | None = None
    batch_id: int | None = None
    group: int | str = 0


@dataclass(frozen=True)
class ShareKey:
    """Where a user stands among those with work in a pool."""

    load: float | None
    """Running mCPU divided by weight; None: the user has no ready jobs."""
    user_id: int


class Waiting(NamedTuple):
    """Some jobs of a batch that wait."""

    batch_id: int
    last_job: int
    """The last one that was looked at."""
    jobs: Sequence[Row]
    """What guards read: `job_id`, `name`, `attributes`, `n_jobs` of the array (None: no array),
    `priority`, `always_run`, `max_attempts`, `cpu_m`, `memory_mib`, `storage_mib`, `gpu`, `asked`
    (with `queue` and `pool`), `named` (the job names its queue), `spec`.
    """


class StoredFile(NamedTuple):
    """A file that an attempt has left."""

    attempt: int
    n_bytes: int
    digest: bytes
    address: str | None
    """Where it is kept; None: weft keeps it itself."""
    folder: str
    """Which folder of a home has the files of this database."""
    why_gone: str | None
    """Why it was removed, in one sentence; None: it was not."""
    batch_id: int
    """Among whose files it is kept."""
