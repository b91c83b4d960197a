"""A queue, as an operator describes it."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from weft.core.scheduling.offers import POSTGRES

DEFAULT: Final = "default"
"""The queue of jobs that no guard takes. Every tenant has it."""
QueueState = Literal["enabled", "draining", "closed"]
QueueConsumers = Literal["weft", "foreign"]


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """Where jobs wait: which jobs, in which pools, how many."""

    name: str
    priority: int | None = None
    """None: the queue `default`, which comes last."""
    guard: str | None = None
    """None: only jobs that name the queue."""
    pools: tuple[str, ...] = (DEFAULT,)
    executor: str | None = None
    users: tuple[str, ...] | None = None
    """None: all of the tenant."""
    state: QueueState = "enabled"
    max_running: int | None = None
    max_running_per_user: int | None = None
    max_starts_per_s: int | None = None
    max_waiting: int | None = None
    transport: str = POSTGRES
    consumers: QueueConsumers = "weft"
    """The consumers of its transport: workers of weft, or programs of others."""
    slots: int | None = None
    """Jobs that are with foreign consumers at a time; None: it has no such consumers."""
    queued_s: int | None = None
    """How long foreign consumers may tell nothing of a job; None: 600 s."""
    monitor: Mapping[str, int | float | str | None] | None = None
    """Limits in seconds by `PHASE_s`, `silent_s`, `ready_s` and `blocked_s`, with `action` and
    `rounds`; None: none.
    """

    def may_use(self, user: str) -> bool:
        """Say whether jobs of this user may wait here."""
        return self.users is None or user in self.users
