"""Do what a driver has found due, in an api: at every notice, and when the next is due."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from functools import partial
from typing import Any, ClassVar, Final

from weft.core.errors import Internal, Unavailable
from weft.ports.patience import follow, retry_s, run_beside, tasks_beside, wait_at_most
from weft.ports.store import Notices
from weft.telemetry.log import log

LATE_S: Final = 0.01
_pause_s = partial(retry_s, first_s=0.05, longest_s=5.0)


def defect(what: str, then: str) -> Internal:
    """Return the error for what hit a defect of weft."""
    detail = "It hit a defect of weft, which the log of the api describes."
    return Internal(what, detail=detail, hint=f"Report it{then}.")


class DueWork(ABC):
    """Does it until cancelled, whatever happens."""

    channel: ClassVar[str]
    failed_event: ClassVar[str]
    """Of the log, when it meets a defect."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._woken = asyncio.Event()
        self._begun: set[asyncio.Task[None]] = set()

    @abstractmethod
    async def submit_due(self) -> float | None:
        """Do all that is due; return in how many seconds there may be more, if no notice comes
        before; None: there is nothing.
        """

    def wake(self) -> None:
        """Look again."""
        self._woken.set()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this beside all else, and look again after it. Where the database is away it stays
        due, and is begun again when its lease ends.
        """

        async def do() -> None:
            try:
                await work
            except Unavailable:
                pass
            except Exception:
                log.exception(self.failed_event)
            finally:
                self.wake()

        task = asyncio.create_task(do())
        self._begun.add(task)
        task.add_done_callback(self._begun.discard)

    async def settled(self) -> None:
        """Wait until nothing that was begun is under way."""
        await asyncio.gather(*self._begun, return_exceptions=True)

    async def run(self) -> None:
        """Listen, and work. Never returns."""
        news = follow(self._notices, self.channel, lambda *_: self.wake())
        async with tasks_beside(self._begun):
            await run_beside(news, self._serve())

    async def _serve(self) -> None:
        failures = 0
        while True:
            self._woken.clear()
            try:
                due_in_s = await self.submit_due()
                pause_s = None if due_in_s is None else max(due_in_s, 0) + LATE_S
                failures = 0
            except Exception as error:
                # If this loop ended, the work would stand still while the api serves.
                if not isinstance(error, Unavailable):
                    log.exception(self.failed_event)
                failures += 1
                pause_s = _pause_s(failures)
            await wait_at_most(pause_s, self._woken)
