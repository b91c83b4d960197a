"""Wait for a database or an engine that is unavailable: nothing fails, nothing is forgotten."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from weft.core.backoff import backoff_s
from weft.core.errors import Unavailable

_FIRST_S = 0.05
_LONGEST_S = 2.0

Result = TypeVar("Result")


async def until_answered(call: Callable[[], Awaitable[Result]]) -> Result:
    """Repeat an idempotent call until it is answered."""
    failures = 0
    while True:
        try:
            return await call()
        except Unavailable:
            failures += 1
            await asyncio.sleep(
                backoff_s(
                    failures,
                    first_s=_FIRST_S,
                    longest_s=_LONGEST_S,
                    jitter=random.random(),  # noqa: S311 (spreads retries, guards nothing)
                )
            )
