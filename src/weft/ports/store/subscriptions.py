"""The driver's calls about subscriptions: who is told of what happens to jobs of doors."""

from collections.abc import Sequence
from typing import NamedTuple

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
