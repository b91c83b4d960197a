"""One term of a leader: its loops, what wakes them, and the heartbeat that may end it."""

import asyncio
import itertools
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial

from weft.core.errors import EpochStale, Unavailable
from weft.driver.adapters import Adapters
from weft.driver.loops import LOOPS
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import Loop, LoopContext, Rest
from weft.ports.patience import Failures
from weft.settings import Settings
from weft.store import DriverStore
from weft.telemetry.log import log

LOCK_EVERY_BEATS = 6
_RETRY_LONGEST_S = 30.0
FIRST = "fold"
"""The loop that a notice without a name wakes. It soon names the others with work: if all looked
at once, their calls would delay the start of the job that was just submitted."""


class LeadLost(Unavailable, code="DRIVER.LEAD_LOST"):
    """The connection that held the leader's lock is gone."""


class Term:
    """The loops of one epoch, each with a bell and a date."""

    def __init__(
        self,
        store: DriverStore,
        epoch: int,
        settings: Settings,
        adapters: Adapters,
        loops: Sequence[Loop] = LOOPS,
    ) -> None:
        self._store = store
        self._epoch = epoch
        self._settings = settings
        self._adapters = adapters
        self._loops = loops
        self._bells = {loop.name: Bell() for loop in loops}
        self._due_dates = {loop.name: DueDate() for loop in loops}
        self._rest = Rest()
        self._doubt = Bell()

    def wake(self, name: str = FIRST) -> None:
        """Wake a loop. A name that this version does not know wakes the fold."""
        self._bells.get(name, self._bells[FIRST]).ring()

    def wake_each(self, names: Iterable[str]) -> None:
        """Wake some loops."""
        for name in names:
            self.wake(name)

    def wake_all(self) -> None:
        """Wake every loop."""
        self.wake_each(self._bells)

    def doubt(self) -> None:
        """Check at once that we still hold the lock, and wake every loop.

        A break that ended one connection may have ended the one with the lock, while the others
        reconnected silently.
        """
        self._doubt.ring()
        self.wake_all()

    async def run(self) -> None:
        """Run the loops until the database or the lead is lost, and raise that. Never returns."""
        tasks = [asyncio.ensure_future(self._run_always(loop)) for loop in self._loops]
        tasks.append(asyncio.ensure_future(self._beat()))
        try:
            # No TaskGroup: up to Python 3.12.7 a failed one leaves its task half cancelled, which
            # the next `asyncio.timeout` of 3.11.3 and older takes for a cancellation.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        raise _worst([end for end in ends if isinstance(end, Exception)])

    async def _run_always(self, loop: Loop) -> None:
        """Run a loop, and begin it anew after a mistake in it, while the others go on."""
        failures = Failures(longest_s=_RETRY_LONGEST_S)
        while True:
            await failures.pause()
            try:
                await loop.run(self._context(loop))
            except (Unavailable, EpochStale):
                raise
            except Exception:
                failures.add()
                log.exception("driver.loop_failed", loop=loop.name, failures=failures.count)
            else:
                return

    def _context(self, loop: Loop) -> LoopContext:
        return LoopContext(
            store=self._store,
            epoch=self._epoch,
            settings=self._settings,
            bell=self._bells[loop.name],
            due=self._due_dates[loop.name],
            moved=partial(self.wake_each, self._followers_of(loop)),
            ring=self.wake_each,
            rest=self._rest,
            adapters=self._adapters,
        )

    def _followers_of(self, loop: Loop) -> Sequence[str]:
        return [other.name for other in self._loops if loop.name in other.after]

    async def _beat(self) -> None:
        """Check now and then that we lead, and catch up on lost notices and on dates.

        While the driver sleeps, asking for work proves the epoch too; the connection that holds
        the lock is then checked less often, to stay below one statement in 5 s.
        """
        for beat in itertools.count(1):
            doubted = await self._doubt.heard(self._settings.heartbeat_s)
            if doubted or not self._rest.is_asleep or beat % LOCK_EVERY_BEATS == 0:
                await self._prove_lock()
            await self._ask_what_is_due()

    async def _ask_what_is_due(self) -> None:
        answer = await self._store.beat(self._epoch, self._settings.lost_after_s)
        if self._rest.is_asleep and not answer.idle:
            self.wake_all()
        now = datetime.now(UTC)
        for name, bell in self._bells.items():
            if (due_at := answer.due.get(name)) is not None:
                bell.ring_in(max((due_at - now).total_seconds(), 0.0))
        for name, due_date in self._due_dates.items():
            due_date.move(answer.due.get(name))

    async def _prove_lock(self) -> None:
        if not await self._store.still_lead():
            raise LeadLost(
                "this driver no longer leads",
                detail="The connection that held the leader's lock is gone.",
                hint="The driver tries to lead again by itself.",
            )


def _worst(errors: Sequence[Exception]) -> Exception:
    """Return the one error to report: a defect takes precedence over an outage."""
    return min(errors, key=lambda error: isinstance(error, Unavailable))
