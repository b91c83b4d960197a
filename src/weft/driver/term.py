"""One term of a leader: its loops, what wakes them, and the heartbeat that may end it."""

import asyncio
import itertools
from collections.abc import Sequence

from weft.core.errors import Unavailable
from weft.driver.bell import Bell
from weft.driver.cancel import run_cancel
from weft.driver.due_date import DueDate
from weft.driver.fold import FoldLoop
from weft.driver.reaper import run_reaper
from weft.driver.retention import run_retention
from weft.ports.store import DriverStore
from weft.settings import Settings

LOCK_EVERY_BEATS = 6


class LeadLost(Unavailable):
    """The connection that held the leader's lock is gone."""

    code = "DRIVER.LEAD_LOST"


class Term:
    """The loops of one epoch. Each has a bell; a notice rings all of them."""

    def __init__(self, store: DriverStore, epoch: int, settings: Settings) -> None:
        self._store = store
        self._epoch = epoch
        self._settings = settings
        self._cancel_bell, self._retention_bell = Bell(), Bell()
        self._due = DueDate(settings.lost_after_s)
        self._fold_bell, self._doubt_bell = Bell(), Bell()
        self._fold = FoldLoop(store, epoch, self._fold_bell, after_pass=self._after_fold)

    def wake(self) -> None:
        """Let every loop look."""
        for bell in self._bells():
            bell.ring()

    def doubt(self) -> None:
        """Prove at once that we still hold the lock, and let every loop look.

        A break that ended one connection may have ended the one with the lock, while the others
        were made again without a word.
        """
        self._doubt_bell.ring()
        self.wake()

    def _bells(self) -> Sequence[Bell]:
        return self._fold_bell, self._cancel_bell, self._retention_bell

    def _after_fold(self, deltas: int) -> None:
        """An awake driver gets no notices: what they would say may have come with the deltas."""
        self._cancel_bell.ring()
        if deltas:
            self._retention_bell.ring()

    async def run(self) -> None:
        """Run the loops until one of them cannot go on, and raise why. Never returns."""
        settings = self._settings
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._fold.run())
                group.create_task(
                    run_cancel(
                        self._store, self._epoch, self._cancel_bell,
                        after_pass=self._fold_bell.ring,
                    )
                )  # fmt: skip
                group.create_task(
                    run_reaper(
                        self._store, self._epoch, self._due, grace_s=settings.lost_after_s
                    )
                )
                group.create_task(
                    run_retention(
                        self._store, self._epoch, self._retention_bell,
                        events_keep_s=settings.events_keep_s,
                        updates_keep_s=settings.updates_keep_s,
                    )
                )  # fmt: skip
                group.create_task(self._beat())
        except BaseExceptionGroup as several:
            raise _worst(several) from several

    async def _beat(self) -> None:
        """Prove now and then that we lead, and see what a lost notice should have told.

        Asleep, the question whether there is something to do proves the epoch too; the connection
        that holds the lock is asked more rarely then, to stay below one statement in 5 s.
        """
        for beat in itertools.count(1):
            doubted = await self._doubt_bell.heard(self._settings.heartbeat_s)
            if doubted or not self._fold.is_asleep or beat % LOCK_EVERY_BEATS == 0:
                await self._prove_lock()
            if self._fold.is_asleep:
                idle, due_at = await self._store.beat(self._epoch, self._settings.lost_after_s)
                self._due.move(due_at)
                if not idle:
                    self.wake()

    async def _prove_lock(self) -> None:
        if not await self._store.still_lead():
            raise LeadLost(
                "this driver leads no more",
                detail="The connection that held the leader's lock is gone.",
                hint="It tries to lead again by itself.",
            )


def _worst(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the one error to report: a defect before what may work later."""
    flat = [
        _worst(error) if isinstance(error, BaseExceptionGroup) else error
        for error in several.exceptions
    ]
    return min(flat, key=lambda error: isinstance(error, Unavailable))
