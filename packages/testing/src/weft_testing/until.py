"""Waiting for what rings no bell."""

import asyncio
from collections.abc import Callable

LOOK_S = 0.05
"""Between two looks: who looks without a pause takes a core from what it waits for."""


async def until(is_so: Callable[[], object], within_s: float = 60) -> None:
    """Wait for a fact of which no event tells. Raise `TimeoutError`."""
    async with asyncio.timeout(within_s):
        while not is_so():  # noqa: ASYNC110 (no event tells)
            await asyncio.sleep(LOOK_S)
