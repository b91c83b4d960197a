"""Wait for an event while a task works for it."""

import asyncio


async def wait_beside(event: asyncio.Event, task: "asyncio.Task[None]") -> None:
    """Return when the event is set. Raise what ended the task if that ends first."""
    waiting = asyncio.create_task(event.wait())
    try:
        await asyncio.wait((waiting, task), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if task.done():
        task.result()
