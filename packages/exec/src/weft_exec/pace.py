"""The pace of frames that a client may send for a command."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from weft.wire import exec as wire

ACTS_PER_S: Final = 200.0
"""Signals, sizes and signs of life; a window that is drawn larger sends 60."""
INPUTS_PER_S: Final = 2000.0
"""Frames of input, of up to 256 KiB."""
AHEAD_S: Final = 0.5
"""Who was quiet may send what comes in this time at once."""
TOGETHER_S: Final = 0.05
"""Signals and sizes of so long are one for each kind: they reach a spawner that all jobs share."""


class Pace:
    """Gives turns, at most so many a second, and between two of them one to everybody else."""

    def __init__(self, per_s: float) -> None:
        self._each_s = 1 / per_s
        self._due = 0.0

    async def turn(self) -> None:
        """Wait for the next one."""
        now = monotonic()
        self._due = max(self._due, now - AHEAD_S) + self._each_s
        await asyncio.sleep(max(0.0, self._due - now))


class Acts:
    """Signals and sizes that a command has not got yet: each signal once, and the last size."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, bytes], bytes] = {}
        self._is_any = asyncio.Event()

    def note(self, kind: int, data: bytes) -> None:
        """Take a frame."""
        if kind == wire.SIGNAL and len(data) == 1:
            self._waiting[kind, data] = data
        elif kind == wire.RESIZE and len(data) == wire.SIZE.size:
            self._waiting[kind, b""] = data
        else:
            return
        self._is_any.set()

    async def run(self, take: Callable[[int, bytes], Awaitable[object]]) -> None:
        """Pass them on until cancelled: what has waited, in the order in which it came first."""
        while True:
            await self._is_any.wait()
            self._is_any.clear()
            waiting, self._waiting = self._waiting, {}
            for (kind, _), data in waiting.items():
                await take(kind, data)
            await asyncio.sleep(TOGETHER_S)
