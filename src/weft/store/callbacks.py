"""Callbacks of batches, in the stores of the api and the driver."""

import uuid
from collections.abc import Sequence

import asyncpg

from weft.ports.store import (
    Caller,
    DeliveryReport,
    DueCallback,
    Row,
    StoredFileStore,
)
from weft.store.database import (
    StorePart,
)
from weft.store.declared import (
    actor,
    calls,
    column,
    documents,
    filled,
    nothing,
    seconds,
    value,
)
from weft.store.worker_files import store_of


class Callbacks(StorePart):
    """Deliveries of callbacks, as users see them."""

    @calls(documents, limit="limit_rows")
    async def list_callbacks(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return delivery documents of a batch and its groups, ids above `after`, in order."""

    @calls(
        value,
        of_delivery_id=lambda delivery: delivery if isinstance(delivery, int) else None,
        of_name=lambda delivery: None if isinstance(delivery, int) else delivery,
        actor=actor,
    )
    async def redeliver_callback(
        self, caller: Caller, batch_id: int, delivery: int | uuid.UUID
    ) -> Row:
        """Make an undelivered callback due at once; return its document.

        The delivery is given by number or name. A repeat changes nothing. Raise
        `CallbackNotFound` or `CallbackDelivered`.
        """


def _due_callbacks(rows: Sequence[asyncpg.Record]) -> Sequence[DueCallback]:
    return [
        filled(DueCallback, row, name=str(row["name"]), age_s=row["age"].total_seconds())
        for row in rows
    ]


class DueCallbacks(StorePart):
    """The driver's calls about deliveries."""

    @calls(_due_callbacks)
    async def due_callbacks(
        self,
        epoch: int,
        busy: Sequence[int],
        *,
        limit_all: int,
        limit_tenant: int,
        limit_host: int,
    ) -> Sequence[DueCallback]:
        """Return the callbacks to send now, within limits that include those under way.

        `busy`: the deliveries under way; they are not returned again. The others are returned
        until `record_deliveries` says how they went.
        """

    @calls(
        lambda rows: store_of(rows[0]) if rows else None,
        tenant_id="of_tenant_id",
        name="of_name",
    )
    async def find_sink_store(self, tenant_id: int, name: str) -> StoredFileStore | None:
        """Return a store of files of a tenant, for messages; None: there is none."""

    @calls(seconds)
    async def next_callback(self, epoch: int) -> float | None:
        """Return in how many seconds another callback will be due, apart from those that are due
        already; None: there is none.
        """

    @calls(
        nothing,
        delivery_ids=column("reports", "delivery_id"),
        delivered_list=column("reports", "delivered"),
        statuses=column("reports", "status"),
        errors=column("reports", "error"),
        retries_in_s=column("reports", "retry_in_s"),
        rejected_list=column("reports", "rejected"),
        held_list=column("reports", "held"),
    )
    async def record_deliveries(self, epoch: int, reports: Sequence[DeliveryReport]) -> None:
        """Record attempts of callbacks. Reports on a delivery that is over change nothing."""
