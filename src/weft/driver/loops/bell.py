"""What wakes one loop: a flag that notices and other loops ring, as often as they like, and its
next due date, as far as the leader knows.
"""

import asyncio
import math
from datetime import UTC, datetime
from typing import Final

from weft.core.loop_periods import delay_s
from weft.ports.patience import wait_at_most

LATE_S: Final = 0.01
"""The bell rings this long after a date, so that the database agrees that it has passed."""
RETRY_S: Final = 0.25
"""The pause if a date has passed and its work is still there, because rows are locked."""


class Bell:
    """Anyone may ring it; it is heard once, however often it was rung meanwhile."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self._alarm: asyncio.TimerHandle | None = None

    def ring(self) -> None:
        """Wake the loop now, or at its next wait."""
        self._rung.set()

    def ring_in(self, delay_s: float | None) -> None:
        """Ring it by itself after this time, instead of an earlier date; None: at no date."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = None
        if delay_s is not None:
            self._alarm = asyncio.get_running_loop().call_later(delay_s, self.ring)

    async def heard(self, timeout_s: float | None = None) -> bool:
        """Wait until it is rung; return False if the time runs out."""
        if not await wait_at_most(timeout_s, self._rung):
            return False
        self._rung.clear()
        return True

    async def heard_by(self, due_in_s: float | None) -> None:
        """Wait until it is rung, or until the next date of a loop, as the database told it."""
        if due_in_s is not None:
            due_in_s = due_in_s + LATE_S if due_in_s > 0 else RETRY_S
        self.ring_in(due_in_s)
        await self.heard()


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
            if not await wait_at_most(pause_s, self._moved):
                return
