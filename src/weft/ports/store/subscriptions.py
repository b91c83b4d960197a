"""The driver's calls about subscriptions: who is told of what happens to jobs of doors."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from weft.ports.store.callers import Row


class Notified(NamedTuple):
    """Jobs with open subscriptions that the next events are about."""

    xid: int
    event_id: int
    """The position after these events."""
    behind: bool
    """There is more, now or when older writers have committed."""
    removed: bool
    """Events were removed before they were looked at: go by numbers of batches first."""
    jobs: Sequence[Row]
    """`door`; `told`, as `find_door_job` returns it; `subscriptions`: `id`, `url`, `event`, and
    the `keys` of events that are recorded.
    """


class SubscriptionStore(Protocol):
    """Notices of subscriptions. They are sent as callbacks are (`due_callbacks`)."""

    async def list_notified(
        self, epoch: int, *, after_batch: int | None, limit: int
    ) -> Notified | None:
        """Return the jobs that the next events are about, in their order; None: no subscription
        is open. `after_batch`: those with a larger number instead, whatever the events.
        """

    async def record_notices(
        self, epoch: int, notices: Sequence[Mapping[str, Any]], xid: int, event_id: int
    ) -> None:
        """Record what is to be sent (`subscription_id`, `event_key`, `url`, `body`), once for each
        subscription and key, and how far events were looked at.
        """
