"""What applying a file of queues changes."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from weft.core.queues.queue import Queue
from weft.core.text.differences import differences


class QueueDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that is created, changed or deleted."""

    kind: Literal["create", "change", "delete"]
    queue: str
    fields: Mapping[str, tuple[Any, Any]] = {}
    """The fields that differ: before and after."""


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
