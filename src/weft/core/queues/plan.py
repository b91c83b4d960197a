"""What applying a file of queues changes."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from weft.core.queues.queue import Queue


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that is created, changed or deleted."""

    kind: Literal["create", "change", "delete"]
    queue: str
    fields: Mapping[str, tuple[Any, Any]] = {}
    """The fields that differ: before and after."""


def plan_changes(now: Sequence[Queue], wanted: Sequence[Queue]) -> list[Change]:
    """Return what has to change so that the queues are as wanted, and no others."""
    by_name = {one.name: one for one in now}
    found = [
        Change(kind="delete", queue=name)
        for name in sorted(by_name.keys() - {one.name for one in wanted})
    ]
    plain = Queue(name="")
    for one in sorted(wanted, key=_order):
        before = by_name.get(one.name)
        fields = {
            name: (getattr(before, name) if before else None, getattr(one, name))
            for name in msgspec.structs.asdict(one)
            if name != "name" and getattr(before or plain, name) != getattr(one, name)
        }
        if before is None:
            found.append(Change(kind="create", queue=one.name, fields=fields))
        elif fields:
            found.append(Change(kind="change", queue=one.name, fields=fields))
    return found


def _order(queue: Queue) -> tuple[bool, int]:
    return queue.priority is None, -(queue.priority or 0)
