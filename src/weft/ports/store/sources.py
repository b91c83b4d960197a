"""The calls about sources of production lines and their items: those of the api, and what the
driver is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple, Protocol

from weft.core.lines.configuration import Standing
from weft.core.lines.series import SeriesRule
from weft.ports.store.callers import Caller, Row

ItemState = Literal["new", "waiting", "ready", "job", "cancelled", "refused"]
Document = Mapping[str, Any]


class DueSource(NamedTuple):
    """A source that is to be read."""

    source_id: int
    name: str
    kind: str
    options: Document
    every_s: float
    generation: int
    """A reading of an earlier one is void."""
    cursor: Document | None
    n_failures: int
    """Readings in a row."""
    sealed: Document | None = None
    """The secrets that its options name: `tenant_id` and `user_id` of their owner, and `bodies`,
    encrypted and in base64, by their names. None: they name none.
    """


class TakenItem(NamedTuple):
    """An item of which a job is to be made."""

    n: int
    key: str
    fields: Document
    document: Document | None
    """Of its job, which is being submitted; None: to be decided."""
    found_at: str


@dataclass(frozen=True, kw_only=True)
class TakenSource:
    """A source whose items an api has, before any other one."""

    source_id: int
    name: str
    lifecycle: str | None
    billing_project: str
    template: Document
    taking: int
    bunch: int
    batch_id: int | None
    """Where the jobs of this set go; None: to a new batch."""
    batch_day: date | None
    items: Sequence[TakenItem]
    """The oldest first."""
    owner: Caller
    sealed: Document | None = None
    """The secrets that its look-ups name, as of `DueSource`."""


class Decision(NamedTuple):
    """What becomes of an item."""

    n: int
    state: ItemState
    document: Document | None = None
    """Of its job, if it is ready."""
    reason: str | None = None
    """If it is not."""
    due_in_s: float | None = None
    """When it is looked at again, if it waits."""
    parameters: Mapping[str, int] | None = None
    """The versions that decided about it."""


class Target(NamedTuple):
    """Where the jobs of a set go."""

    bunch: int
    batch_id: int | None
    batch_day: date
    n_late: int = 0
    """Items after which something in their series was decided before."""
    n_again: int = 0
    """Items that are decided again therefore."""


class SourceReadings(Protocol):
    """The calls of the driver about sources."""

    async def sources_due(self, epoch: int, busy: Sequence[int]) -> float | None:
        """Return in how many seconds a source is to be read, as `gates_due`, besides these."""

    async def due_sources(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueSource]:
        """Return the sources that are to be read now, besides these, the longest due first."""

    async def store_items(
        self,
        epoch: int,
        source: DueSource,
        found: Sequence[Mapping[str, Any]],
        *,
        cursor: Mapping[str, Any] | None,
        next_in_s: float,
        error: str | None,
    ) -> int | None:
        """Keep what a reading has found (`key`, `fields`, `error`), with where the next one begins
        and when; return how many items are new. An item whose key is known is the same. None: the
        source is another one by now, or stopped, and nothing was kept.
        """


class SourceStore(Protocol):
    """Sources of a tenant, and items of all tenants. A call that names a source raises
    `SourceNotFound`.
    """

    async def list_sources(self, caller: Caller, *, after: str, limit: int) -> Sequence[Row]:
        """Return a page of the sources that the caller sees, in the order of their names."""

    async def get_source(self, caller: Caller, name: str) -> Row:
        """Return a source, with `n_items` by state and `user_id`."""

    async def try_source(self, caller: Caller, name: str, keys: Sequence[str]) -> Row:
        """Return what is needed to read a source once: kind, options with their values, cursor,
        template, owner; `known`: by key, the states of those of the items that it has.
        """

    async def list_source_items(
        self,
        caller: Caller,
        name: str,
        *,
        before: int | None,
        state: str | None,
        series: str | None = None,
        key: str | None = None,
        limit: int,
    ) -> Sequence[Row]:
        """Return a page of its items, the newest first; `state`, `series`, `key`: only those."""

    async def change_source(
        self, caller: Caller, name: str, *, paused: bool | None, replay_since: datetime | None,
        idempotency_key: str | None = None, digest: bytes = b"",
    ) -> None:  # fmt: skip
        """Pause it or let it go on; or let what it found since a date become jobs once more, and
        read it again from the beginning. A repeat with the key changes nothing. Raise
        `IdempotencyConflict` if it was used for another request.
        """

    async def rerun_series(
        self, caller: Caller, name: str, *, series: str, since: Decimal,
        idempotency_key: str | None = None, digest: bytes = b"",
    ) -> int:  # fmt: skip
        """Let the items of a series from a point on be decided again; return how many. A repeat
        with the key returns the same. Raise as `change_source`.
        """

    async def take_source(self, *, limit: int, lease_s: float) -> TakenSource | None:
        """Return a source whose items can become jobs. No other call returns it for `lease_s`
        seconds, or until `end_items` or `postpone_items`. None: there is none.
        """

    async def next_source_work(self) -> float | None:
        """Return in how many seconds `take_source` returns another one if no notice on the channel
        `sources` comes before. Negative: now; None: nothing waits.
        """

    async def order_items(
        self, taken: TakenSource, stands: Mapping[int, tuple[str, Decimal]], rule: SeriesRule
    ) -> Mapping[int, Standing] | None:
        """Store in which series items are, and where; return what is before each of them. None:
        the source was taken again, or has new items of which that is not known yet.
        """

    async def decide_items(
        self, taken: TakenSource, decisions: Sequence[Decision], *, reruns: bool = False
    ) -> Target | None:
        """Store what becomes of items; those that are ready are a new set. `reruns`: what was
        decided after one that comes late in its series is new again. None: nothing was stored,
        because the source was taken again, or stopped.
        """

    async def end_items(
        self, taken: TakenSource, batch_id: int | None, job_ids: Sequence[int]
    ) -> None:
        """Record the jobs of the set that was submitted, and let the source go."""

    async def postpone_items(self, taken: TakenSource, error: str | None, wait_s: float) -> None:
        """Let the source go, and try again later; say why."""
