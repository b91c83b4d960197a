"""A flag that wakes one loop: notices and other loops ring it, as often as they like."""

import asyncio
from typing import Final

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
        try:
            async with asyncio.timeout(timeout_s):
                await self._rung.wait()
        except TimeoutError:
            return False
        self._rung.clear()
        return True

    async def heard_by(self, due_in_s: float | None) -> None:
        """Wait until it is rung, or until the next date of a loop, as the database told it."""
        if due_in_s is not None:
            due_in_s = due_in_s + LATE_S if due_in_s > 0 else RETRY_S
        self.ring_in(due_in_s)
        await self.heard()
