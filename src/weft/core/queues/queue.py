"""A queue, as an operator describes it, and what applying a file of queues changes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from weft.core.scheduling.offers import POSTGRES
from weft.core.text.differences import ChangedFields, Kind, differences

DEFAULT: Final = "default"
"""The queue of jobs that no guard takes. Every tenant has it."""
QueueState = Literal["enabled", "draining", "closed"]
QueueConsumers = Literal["weft", "foreign"]


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """Where jobs wait: which jobs, in which pools, how many."""

    name: str
    priority: Annotated[
        int | None, Meta(description="null: the queue `default`, the last one")
    ] = None
    guard: str | None = None
    """None: only jobs that name the queue."""
    pools: tuple[str, ...] = (DEFAULT,)
    executor: str | None = None
    users: Annotated[tuple[str, ...] | None, Meta(description="null: all of the tenant")] = None
    state: QueueState = "enabled"
    max_running: int | None = None
    max_running_per_user: int | None = None
    max_starts_per_s: int | None = None
    max_waiting: int | None = None
    transport: str = POSTGRES
    consumers: QueueConsumers = "weft"
    """The consumers of its transport: workers of weft, or programs of others."""
    slots: Annotated[int | None, Meta(description="null: it has no foreign consumers")] = None
    """Jobs that are with foreign consumers at a time."""
    queued_s: Annotated[int | None, Meta(description="null: 600, if it has foreign consumers")] = (
        None
    )
    """How long foreign consumers may tell nothing of a job."""
    monitor: Annotated[
        Mapping[str, int | float | str | None] | None, Meta(description="null: no limits")
    ] = None
    """Limits in seconds by `PHASE_s`, `silent_s`, `ready_s` and `blocked_s`, with `action` and
    `rounds`.
    """

    def may_use(self, user: str) -> bool:
        """Say whether jobs of this user may wait here."""
        return self.users is None or user in self.users


class QueueDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that is created, changed or deleted."""

    kind: Kind
    queue: str
    fields: ChangedFields = {}


def plan_changes(now: Sequence[Queue], queues: Sequence[Queue]) -> list[QueueDifference]:
    """Return what has to change so that the queues are as wanted, and no others."""
    return [
        QueueDifference(kind=kind, queue=name, fields=fields)
        for kind, name, fields in differences(
            {queue.name: _fields(queue) for queue in now},
            {queue.name: _fields(queue) for queue in sorted(queues, key=_order)},
            _fields(Queue(name="")),
        )
    ]


def _fields(queue: Queue) -> Mapping[str, Any]:
    fields = msgspec.structs.asdict(queue)
    del fields["name"]
    return fields


def _order(queue: Queue) -> tuple[bool, int]:
    return queue.priority is None, -(queue.priority or 0)
