"""Wait for a database, an engine or a broker that is unavailable: nothing fails, nothing is
forgotten. End tasks that run beside something: when it goes on, none of them does anything any
more.
"""

import asyncio
import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from weft.core.backoff import backoff_s
from weft.core.errors import Unavailable

if TYPE_CHECKING:  # the supervisor of `weft up` ends tasks only, and the store takes 40 ms
    from weft.ports.store import Notices

_FIRST_S = 0.05
_LONGEST_S = 2.0
_LISTEN_S = 5.0
_CANCELLED_AGAIN_S = 12.0  # longer than anything that closes in order, as the last shipping
RETRY_LONGEST_S: Final = 5.0
_FORGOTTEN_S = 30.0
"""After so long without one, failures are no longer in a row."""

Result = TypeVar("Result")
Work = Coroutine[Any, Any, Any]


def retry_s(failures: int, *, first_s: float, longest_s: float) -> float:
    """Return the delay after this number of failures in a row (0 counts as 1), at random so that
    those who failed together do not come back together.
    """
    jitter = random.random()  # noqa: S311 (spreads retries, guards nothing)
    return backoff_s(max(failures, 1), first_s=first_s, longest_s=longest_s, jitter=jitter)


async def pause_after(failures: int) -> None:
    """Wait before what is elsewhere is asked again, after this number of failures in a row."""
    await asyncio.sleep(retry_s(failures, first_s=0.2, longest_s=RETRY_LONGEST_S))


class Failures:
    """How often in a row something has failed that is begun anew each time."""

    def __init__(self, *, longest_s: float) -> None:
        self.count = 0
        self._longest_s = longest_s
        self._last_s = -math.inf
        self._is_waiting = False

    def add(self) -> None:
        """Note one more; after long without one the count begins anew."""
        now_s = time.monotonic()
        forgets = now_s - self._last_s > self._longest_s + _FORGOTTEN_S
        self.count = 1 if forgets else self.count + 1
        self._last_s, self._is_waiting = now_s, True

    async def pause(self) -> None:
        """Wait after a failure, the longer the more there were."""
        if self._is_waiting:
            self._is_waiting = False
            await asyncio.sleep(retry_s(self.count, first_s=_FIRST_S, longest_s=self._longest_s))


async def until_answered(call: Callable[[], Awaitable[Result]]) -> Result:
    """Repeat an idempotent call until it is answered."""
    failures = 0
    while True:
        try:
            return await call()
        except Unavailable:
            failures += 1
            await asyncio.sleep(retry_s(failures, first_s=_FIRST_S, longest_s=_LONGEST_S))


async def follow(notices: "Notices", channel: str, take: Callable[[str, str], None]) -> NoReturn:
    """Take what a channel brings, and ("", "") whenever listening begins: all may have come."""
    failures = 0
    while True:
        try:
            async for notice in notices.listen(channel):
                failures = 0
                take(*notice)
        except Unavailable:
            failures += 1
        await asyncio.sleep(retry_s(failures, first_s=_FIRST_S, longest_s=_LISTEN_S))


async def wait_at_most(seconds: float | None, event: asyncio.Event) -> bool:
    """Wait until an event is set, but no longer than this (None: without an end); return whether
    it was.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return event.is_set()  # both in the same moment


async def end_tasks(tasks: Iterable[asyncio.Future[Any]]) -> list[Any]:
    """Cancel tasks, and return what they ended with when all have. One that goes on is cancelled
    again: what it closed on its way out may have failed, and a loop have gone on after that error.
    """
    loop, ending = asyncio.get_running_loop(), [*tasks]

    def cancel() -> asyncio.TimerHandle:
        for task in ending:
            task.cancel()
        return loop.call_later(_CANCELLED_AGAIN_S, lambda: again.append(cancel()))

    again = [cancel()]
    try:
        return await asyncio.gather(*ending, return_exceptions=True)
    finally:
        again[-1].cancel()


@asynccontextmanager
async def tasks_beside(tasks: Iterable[asyncio.Future[Any]]) -> AsyncIterator[None]:
    """Let tasks go on until the block is left; also those that are added to them meanwhile."""
    try:
        yield
    finally:
        await end_tasks(tasks)


async def run_beside(
    *works: Work, begins: Callable[[Callable[[Work], None]], Work] | None = None
) -> None:
    """Run these, and what `begins` begins, until all have ended or one fails, or is cancelled by
    somebody else; then end the others, and raise that. A TaskGroup cancels once only; and one that
    failed leaves, up to Python 3.12.7, what the next `asyncio.timeout` of 3.11.3 and older takes
    for a cancellation.
    """
    tasks, over = set[asyncio.Task[Any]](), asyncio.get_running_loop().create_future()

    def begin(work: Work) -> None:
        if over.done():  # what begins it lost its cancellation
            work.close()
            return
        tasks.add(task := asyncio.create_task(work))
        task.add_done_callback(on_end)

    def on_end(task: asyncio.Task[Any]) -> None:
        tasks.discard(task)
        lost = f"{task.get_coro()} was cancelled" if task.cancelled() else ""
        error = RuntimeError(lost) if lost else task.exception()
        if (error is not None or not tasks) and not over.done():
            over.set_result(error)

    for work in works if begins is None else (*works, begins(begin)):
        begin(work)
    async with tasks_beside(tasks):
        if tasks and (error := await over) is not None:
            raise error
