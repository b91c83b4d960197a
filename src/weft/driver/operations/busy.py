"""The pause of a step whose rows another transaction held."""

import asyncio
import random
from typing import Final

BUSY_S: Final = 0.02


async def until_rows_are_free() -> None:
    """Wait a little: the other transaction will soon end."""
    await asyncio.sleep(random.uniform(0, BUSY_S))  # noqa: S311 (jitter)
