"""Wait for a database, an engine or a broker that is unavailable: nothing fails, nothing is
forgotten.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from weft.core.backoff import backoff_s
from weft.core.errors import Unavailable

_FIRST_S = 0.05
_LONGEST_S = 2.0

Result = TypeVar("Result")


def retry_s(failures: int, *, first_s: float, longest_s: float) -> float:
    """Return the delay after this number of failures in a row (0 counts as 1), at random so that
    those who failed together do not come back together.
    """
    jitter = random.random()  # noqa: S311 (spreads retries, guards nothing)
    return backoff_s(max(failures, 1), first_s=first_s, longest_s=longest_s, jitter=jitter)


async def until_answered(call: Callable[[], Awaitable[Result]]) -> Result:
    """Repeat an idempotent call until it is answered."""
    failures = 0
    while True:
        try:
            return await call()
        except Unavailable:
            failures += 1
            await asyncio.sleep(retry_s(failures, first_s=_FIRST_S, longest_s=_LONGEST_S))
