"""End tasks that run beside something: when it goes on, none of them does anything any more."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any


async def end_tasks(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel tasks, and return when they have ended, however they did."""
    ending = [*tasks]
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


@asynccontextmanager
async def tasks_beside(tasks: Iterable[asyncio.Future[Any]]) -> AsyncIterator[None]:
    """Let tasks go on until the block is left; also those that are added to them meanwhile."""
    try:
        yield
    finally:
        await end_tasks(tasks)
