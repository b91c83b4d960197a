"""Wait for an event that a task will set, or for the last of many items; Ctrl-C in a program that
waits for jobs.
"""

import sys
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


CHOICES = "[c]ancel it, [w]ait on, or leave it running (Enter)? "


def may_wait_on(title: str, cancel: Callable[[], object]) -> bool:
    """Ask the person at the terminal whether to cancel the jobs that the program waits for.

    Return whether to wait on; if not, the interrupt should go its way. Where nobody can answer,
    and at a second Ctrl-C, nothing is cancelled.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"\n{title} is not complete: {CHOICES}")
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().lower()[:1]
    if answer == "c":
        cancel()
    return answer == "w"
