"""Subscriptions of jobs of doors, in the driver's store."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store.callers import Notified
from weft.store.database import (
    StorePart,
)
from weft.store.declared import (
    calls,
    nothing,
)


class Subscriptions(StorePart):
    """Notices of subscriptions. They are sent as callbacks are (`due_callbacks`)."""

    @calls(lambda rows: rows[0][0] and Notified(**rows[0][0]), limit="limit_rows")
    async def list_notified(
        self, epoch: int, *, after_batch: int | None, limit: int
    ) -> Notified | None:
        """Return the jobs that the next events are about, in their order; None: no subscription
        is open. `after_batch`: those with a larger number instead, whatever the events.
        """

    @calls(nothing)
    async def record_notices(
        self, epoch: int, notices: Sequence[Mapping[str, Any]], xid: int, event_id: int
    ) -> None:
        """Record what is to be sent (`subscription_id`, `event_key`, `url`, `body`), once for each
        subscription and key, and how far events were looked at.
        """
