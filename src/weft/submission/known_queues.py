"""The queues of tenants with their guards, remembered until a notice tells of a change."""

import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from weft.core.queues import Guard, Queue, Route, compile_each_saved
from weft.ports.evaluation import Evaluates, TooCostly
from weft.ports.store import Caller
from weft.store import ApiStore

TENANTS_MAX: Final = 20_000
"""Tenants whose queues are known."""
FRESH_S: Final = 5.0
"""For how long queues count as known while nothing tells of changes."""
TOLD_S: Final = 600.0
"""For how long they count as known while notices do: a connection may be cut off unnoticed."""


class KnownQueues:
    """The queues of each tenant in the order of routing. One per application."""

    def __init__(
        self, store: ApiStore, evaluation: Evaluates, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._evaluation = store, evaluation
        self._clock = clock
        self._known: dict[int, tuple[float, Sequence[Route]]] = {}
        self._fresh_s = FRESH_S
        self._epoch = 0

    async def of(self, caller: Caller) -> Sequence[Route]:
        """Return the queues of this caller's tenant in the order of routing, with their guards."""
        known = self._known.get(caller.tenant_id)
        if known is not None and self._clock() < known[0] + self._fresh_s:
            return known[1]
        read_at, epoch = self._clock(), self._epoch
        guards = {one.guard.text: one.guard for one in known[1] if one.guard} if known else {}
        rows = await self._store.list_queues(caller, with_counts=False)
        queues = [msgspec.convert(row, Queue) for row in rows]
        while new := [one.guard for one in queues if one.guard and one.guard not in guards]:
            read = await self._evaluation.each(caller.tenant_id, compile_each_saved, None, new)
            for text, one in zip(new, read, strict=True):
                if not isinstance(one, TooCostly):
                    guards[text] = one
                elif one.alone:  # the first is: those before it take nothing of its time
                    guards[text] = Guard(text, (), one.why)
        found = [Route(one, guards[one.guard] if one.guard else None) for one in queues]
        if epoch == self._epoch:  # else they may have been read before they changed
            if len(self._known) >= TENANTS_MAX:
                self._known.clear()
            self._known[caller.tenant_id] = (read_at, found)
        return found

    def forget(self, tenant_id: int) -> None:
        """Read the queues of a tenant again before the next job is routed."""
        self._epoch += 1
        self._known.pop(tenant_id, None)

    def trust_notices(self) -> None:
        """Forget all, and rely on notices from now on: earlier ones may have been missed."""
        self._epoch += 1
        self._known.clear()
        self._fresh_s = TOLD_S

    def doubt_notices(self) -> None:
        """Nothing tells of changes any more: what is known counts for a few seconds."""
        self._fresh_s = FRESH_S
