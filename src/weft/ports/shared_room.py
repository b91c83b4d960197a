"""Room that tenants share: one of them has at most half of it, so that who waits for slow servers
waits for itself. Whatever does a few things at a time for whoever asks takes them from here.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any


class SharedRoom:
    """So many things at a time, by whose they are: a tenant, or what stands for one."""

    def __init__(self, total: int, most: int | None = None) -> None:
        self._free = total
        self._most = most or max(1, total // 2)
        """Of one of them."""
        self._held: Counter[Hashable] = Counter()
        self._waiting: dict[asyncio.Future[None], Hashable] = {}
        """Those that have waited longest come first."""

    def has(self, holder: Hashable) -> bool:
        """Say whether there is room for one more, now."""
        return self._free > 0 and self._held[holder] < self._most

    def full(self) -> list[Any]:
        """Return those that have all that they may."""
        return [holder for holder, n in self._held.items() if n >= self._most]

    @contextmanager
    def taken(self, holder: Hashable) -> Iterator[None]:
        """Have room; whoever asks knows that there is (`has`)."""
        assert self.has(holder)
        self._count(holder, 1)
        try:
            yield
        finally:
            self._give_back(holder)

    @asynccontextmanager
    async def of(self, holder: Hashable) -> AsyncIterator[None]:
        """Wait for room. What is given back goes to the holder that has least."""
        if self.has(holder):
            self._count(holder, 1)
        else:
            turn = asyncio.get_running_loop().create_future()
            self._waiting[turn] = holder
            try:
                await turn
            except asyncio.CancelledError:
                if self._waiting.pop(turn, None) is None:  # it came just now
                    self._give_back(holder)
                raise
        try:
            yield
        finally:
            self._give_back(holder)

    def _give_back(self, holder: Hashable) -> None:
        self._count(holder, -1)
        can = [turn for turn, one in self._waiting.items() if self.has(one) and not turn.done()]
        if can:
            turn = min(can, key=lambda one: self._held[self._waiting[one]])
            self._count(self._waiting.pop(turn), 1)
            turn.set_result(None)

    def _count(self, holder: Hashable, more: int) -> None:
        self._free -= more
        self._held[holder] += more
        if not self._held[holder]:
            del self._held[holder]
