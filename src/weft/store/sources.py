"""The part of `ApiStore` about sources of production lines."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import asyncpg

from weft.core.lines.series import SeriesRule, Standing
from weft.ports.store import Caller, Row
from weft.ports.store.sources import Decision, DueSource, TakenItem, TakenSource, Target
from weft.store.database import StorePart
from weft.store.declared import calls, documents, filled, nothing, number, owner_in, parts, value

_OF_TAKEN: Final[Mapping[str, Any]] = parts(
    "taken", "taking", caller="owner", of_source_id="source_id"
)


def _standings(
    rows: Sequence[asyncpg.Record], stands: Mapping[int, tuple[str, Decimal]]
) -> Mapping[int, Standing] | None:
    found = value(rows)
    return found and {
        one["n"]: Standing(stands[one["n"]][0], one["waits"], one["previous"]) for one in found
    }


class Sources(StorePart):
    """Sources of a tenant, and items of all tenants. A call that names a source raises
    `SourceNotFound`.
    """

    @calls(documents, limit="limit_rows")
    async def list_sources(self, caller: Caller, *, after: str, limit: int) -> Sequence[Row]:
        """Return a page of the sources that the caller sees, in the order of their names."""

    @calls(value, name="of_name")
    async def get_source(self, caller: Caller, name: str) -> Row:
        """Return a source, with `n_items` by state and `user_id`."""

    @calls(value, name="of_name")
    async def try_source(self, caller: Caller, name: str, keys: Sequence[str]) -> Row:
        """Return what is needed to read a source once: kind, options with their values, cursor,
        template, owner; `known`: by key, the states of those of the items that it has.
        """

    @calls(
        documents,
        name="of_name",
        state="of_state",
        series="of_series",
        key="of_key",
        limit="limit_rows",
    )
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

    @calls(documents, name="of_name", key="of_key")
    async def item_history(self, caller: Caller, name: str, *, key: str) -> Sequence[Row]:
        """Return the dated changes of an item and of its jobs, the oldest first."""

    @calls(nothing, name="of_name")
    async def change_source(
        self, caller: Caller, name: str, *, paused: bool | None, replay_since: datetime | None
    ) -> None:
        """Pause it or let it go on; or let what it found since a date become jobs once more, and
        read it again from the beginning. A repeat with the key changes nothing. Raise
        `IdempotencyConflict` if it was used for another request.
        """

    @calls(number, name="of_name", key="of_key", series="of_series")
    async def rerun_items(
        self,
        caller: Caller,
        name: str,
        *,
        key: str | None = None,
        series: str | None = None,
        since: Decimal | None = None,
    ) -> int:
        """Let an item become a job once more, or those of a series from a point on; return how
        many do. A repeat with the key returns the same. Raise as `change_source`.
        """

    async def take_source(self, *, limit: int, lease_s: float) -> TakenSource | None:
        """Return a source whose items can become jobs. No other call returns it for `lease_s`
        seconds, or until `end_items` or `postpone_items`. None: there is none.
        """
        rows = await self._database.call("take_source", limit_rows=limit, lease_s=lease_s)
        for row in rows:
            items = [
                TakenItem(it["n"], it["key"], it["fields"], it.get("document"), it["found_at"])
                for it in row["items"]
            ]
            return filled(TakenSource, row, items=items, owner=owner_in(row))
        return None

    @calls(value)
    async def next_source_work(self) -> float | None:
        """Return in how many seconds `take_source` returns another one if no notice on the channel
        `sources` comes before. Negative: now; None: nothing waits.
        """

    @calls(
        _standings,
        items=lambda stands: [
            {"n": n, "series": series, "series_at": str(at)} for n, (series, at) in stands.items()
        ],
        skip=lambda rule: [*rule.skip],
        **parts("rule", "until", "within_s", "products"),
        **_OF_TAKEN,
    )
    async def order_items(
        self, taken: TakenSource, stands: Mapping[int, tuple[str, Decimal]], rule: SeriesRule
    ) -> Mapping[int, Standing] | None:
        """Store in which series items are, and where; return what is before each of them. None:
        the source was taken again, or has new items of which that is not known yet.
        """

    @calls(
        lambda rows: Target(**rows[0]) if rows else None,
        decisions=lambda decisions: [one._asdict() for one in decisions],
        **_OF_TAKEN,
    )
    async def decide_items(
        self, taken: TakenSource, decisions: Sequence[Decision], *, reruns: bool = False
    ) -> Target | None:
        """Store what becomes of items; those that are ready are a new set. `reruns`: what was
        decided after one that comes late in its series is new again. None: nothing was stored,
        because the source was taken again, or stopped.
        """

    @calls(nothing, **_OF_TAKEN)
    async def end_items(
        self, taken: TakenSource, batch_id: int | None, job_ids: Sequence[int]
    ) -> None:
        """Record the jobs of the set that was submitted, and let the source go."""

    @calls(nothing, **_OF_TAKEN)
    async def postpone_items(self, taken: TakenSource, error: str | None, wait_s: float) -> None:
        """Let the source go, and try again later; say why."""


class SourceItems(StorePart):
    """The calls of the driver about sources."""

    @calls(lambda rows: [DueSource(**row) for row in rows], limit="limit_rows")
    async def due_sources(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueSource]:
        """Return the sources that are to be read now, besides these, the longest due first."""

    @calls(
        value,
        found="items",
        of_source_id=lambda source: source.source_id,
        generation=lambda source: source.generation,
    )
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
