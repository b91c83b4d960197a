"""The next due date of a loop, as far as the leader knows."""

import asyncio
import math
from datetime import UTC, datetime

from weft.core.reaper_timer import delay_s


class DueDate:
    """A date that the leader's heartbeats move, so that a loop need not ask for it."""

    def __init__(self) -> None:
        self._due_at: datetime | None = None
        self._moved = asyncio.Event()

    def move(self, due_at: datetime | None) -> None:
        """Set the date; None: nothing will be due."""
        self._due_at = due_at
        self._moved.set()

    async def passed(self, *, longest_s: float = math.inf) -> None:
        """Wait until the date has passed, even if it is moved meanwhile, but at most `longest_s`
        after it was moved.
        """
        while True:
            self._moved.clear()
            pause_s = None
            if self._due_at is not None:
                pause_s = delay_s(self._due_at, datetime.now(UTC), longest_s=longest_s)
            try:
                async with asyncio.timeout(pause_s):
                    await self._moved.wait()
            except TimeoutError:
                return
