"""How the driver calls what it does not trust: with a limit of time, and rarely after failures."""

import asyncio
import time
from collections.abc import Coroutine, Hashable
from typing import Any, TypeVar

Answer = TypeVar("Answer")

FIRST_S = 30.0
LONGEST_S = 900.0


async def limited(call: Coroutine[Any, Any, Answer], limit_s: float) -> Answer:
    """Return what a call returns. Raise `TimeoutError` after this time, also if the call does not
    heed that it is cancelled.
    """
    task = asyncio.ensure_future(call)
    try:
        await asyncio.wait({task}, timeout=limit_s)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(heard)


def heard(task: asyncio.Future[Any]) -> None:
    """Look at the error of a call for which nobody waits any more; else Python warns of it."""
    if not task.cancelled():
        task.exception()


class Pauses:
    """What is left alone for a while after it failed: 30 s, then twice as long each time, up to
    15 minutes.
    """

    def __init__(self) -> None:
        self._pauses: dict[Hashable, tuple[float, float]] = {}
        """Until when, and how long that was."""

    def failed(self, key: Hashable) -> None:
        """Begin the next pause."""
        _, before_s = self._pauses.get(key, (0.0, 0.0))
        for_s = min(before_s * 2 or FIRST_S, LONGEST_S)
        self._pauses[key] = (time.monotonic() + for_s, for_s)

    def worked(self, key: Hashable) -> None:
        """End the pause; the next one is short again."""
        self._pauses.pop(key, None)

    def holds(self, key: Hashable) -> bool:
        """Say whether a pause has not ended."""
        until, _ = self._pauses.get(key, (0.0, 0.0))
        return until > time.monotonic()
