"""Wait for an event that a task will set, or for the last of many items."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio

Item = TypeVar("Item")


async def wait_beside(event: "asyncio.Event", task: "asyncio.Task[None]") -> None:
    """Return when the event is set. Raise what ended the task if that ends first."""
    import asyncio  # noqa: PLC0415 (most commands wait for nothing)

    waiting = asyncio.create_task(event.wait())
    try:
        await asyncio.wait((waiting, task), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if task.done():
        task.result()


async def last_of(
    items: AsyncGenerator[Item, None], note: Callable[[Item], object] | None = None
) -> Item:
    """Return the last item, of which there must be one; `note` is called with each."""
    found: list[Item] = []
    async with aclosing(items) as every:
        async for item in every:
            found = [item]
            if note is not None:
                note(item)
    return found[0]
