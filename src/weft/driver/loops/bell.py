"""A flag that wakes one loop: notices and other loops ring it, as often as they like."""

import asyncio


class Bell:
    """Anyone may ring it; it is heard once, however often it was rung meanwhile."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake the loop now, or at its next wait."""
        self._rung.set()

    async def heard(self, timeout_s: float | None = None) -> bool:
        """Wait until it is rung; return False if the time runs out."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._rung.wait()
        except TimeoutError:
            return False
        self._rung.clear()
        return True
