"""The calls of the api about queues."""

from collections.abc import Sequence
from typing import Protocol

from weft.core.queues import Queue
from weft.ports.store.callers import Caller, Row


class QueueStore(Protocol):
    """Queues of a tenant."""

    async def list_queues(self, caller: Caller, *, with_counts: bool = True) -> Sequence[Row]:
        """Return queues in the order of routing, `default` last: the fields of `Queue`,
        `n_waiting` and `n_running` (None without counts).
        """

    async def save_queues(self, caller: Caller, queues: Sequence[Queue]) -> None:
        """Make these the queues of the tenant, beside `default`; add pools that are new. Raise
        `QueueHasJobs` if one with waiting jobs would go.

        Limits hold for jobs that are submitted from now on, and those that wait behind a limit
        follow when it changes. A submission of too many waiting jobs raises `QueueFull`.
        """

    async def drain_queue(self, caller: Caller, name: str) -> bool:
        """Let a queue take no more jobs, whatever somebody else saves at the same time. Return
        whether there is one.
        """
