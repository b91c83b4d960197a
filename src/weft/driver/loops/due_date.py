"""The next due date of a loop, as far as the leader knows."""

import asyncio
from datetime import UTC, datetime

from weft.core.reaper_timer import reaper_delay_s


class DueDate:
    """A date that the leader's heartbeats move, so that a loop need not ask for it."""

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._due_at: datetime | None = None
        self._moved = asyncio.Event()

    def move(self, due_at: datetime | None) -> None:
        """Set the date; None: nothing will be due."""
        self._due_at = due_at
        self._moved.set()

    async def passed(self) -> None:
        """Wait until the date has passed, even if it is moved meanwhile."""
        while True:
            self._moved.clear()
            delay_s = None
            if self._due_at is not None:
                delay_s = reaper_delay_s(self._due_at, datetime.now(UTC), grace_s=self._grace_s)
            try:
                async with asyncio.timeout(delay_s):
                    await self._moved.wait()
            except TimeoutError:
                return
