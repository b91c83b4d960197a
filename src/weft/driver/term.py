"""One term of a leader: its loops, what wakes them, and the heartbeat that may end it."""

import asyncio
import itertools
from collections.abc import Coroutine, Sequence

from weft.core.errors import Unavailable
from weft.driver.bell import Bell
from weft.driver.callbacks import CallbackLoop, Post
from weft.driver.cancel import run_cancel
from weft.driver.due_date import DueDate
from weft.driver.fold import FoldLoop
from weft.driver.hold import run_hold
from weft.driver.operate import run_operate
from weft.driver.reaper import run_reaper
from weft.driver.retention import run_retention
from weft.driver.settle import run_settle
from weft.ports.store import DriverStore, Folded
from weft.settings import Settings

LOCK_EVERY_BEATS = 6


class LeadLost(Unavailable):
    """The connection that held the leader's lock is gone."""

    code = "DRIVER.LEAD_LOST"


class Term:
    """The loops of one epoch, each with a bell.

    A notice rings that of the fold, which says soon after whose turn it is besides; callbacks and
    children to be told have notices of their own. Without a `post` nobody is called back.
    """

    def __init__(
        self, store: DriverStore, epoch: int, settings: Settings, post: Post | None = None
    ) -> None:
        self._store = store
        self._epoch = epoch
        self._settings = settings
        self._post = post
        self._callback_bell = Bell()
        self._cancel_bell, self._retention_bell, self._operate_bell = Bell(), Bell(), Bell()
        self._settle_bell = Bell()
        self._hold_bell = Bell()
        self._due = DueDate(settings.lost_after_s)
        self._fold_bell, self._doubt_bell = Bell(), Bell()
        self._fold = FoldLoop(store, epoch, self._fold_bell, after_pass=self._after_fold)

    def wake(self) -> None:
        """Let the fold look, and whom it finds work for. If all looked at once, their six calls
        would stand before the start of the job that somebody has just submitted.
        """
        self._fold_bell.ring()

    def wake_all(self) -> None:
        """Let every loop look."""
        for bell in self._bells():
            bell.ring()

    def call_back(self) -> None:
        """Let the loop of callbacks look."""
        self._callback_bell.ring()

    def settle(self) -> None:
        """Let the loop that tells children look."""
        self._settle_bell.ring()

    def doubt(self) -> None:
        """Prove at once that we still hold the lock, and let every loop look.

        A break that ended one connection may have ended the one with the lock, while the others
        were made again without a word.
        """
        self._doubt_bell.ring()
        self.wake_all()
        self.call_back()

    def _bells(self) -> Sequence[Bell]:
        return (
            self._fold_bell,
            self._settle_bell,
            self._cancel_bell,
            self._hold_bell,
            self._operate_bell,
            self._retention_bell,
        )

    def _after_fold(self, folded: Folded) -> None:
        """An awake driver gets no notices: what they would say comes with the deltas."""
        has_work = (
            (folded.settle, self._settle_bell),
            (folded.sweep, self._cancel_bell),
            (folded.hold, self._hold_bell),
            (folded.operate, self._operate_bell),
            (folded.deltas > 0, self._retention_bell),
        )
        for has, bell in has_work:
            if has:
                bell.ring()

    def _after_sweep(self) -> None:
        """What was cancelled may have children."""
        self._fold_bell.ring()
        self._settle_bell.ring()

    async def run(self) -> None:
        """Run the loops until one of them cannot go on, and raise why. Never returns."""
        loops = [asyncio.create_task(loop) for loop in self._loops()]
        try:
            # No TaskGroup: up to Python 3.12.7 one that failed leaves its task half cancelled, for
            # which the next `asyncio.timeout` of 3.11.3 and older is a cancellation.
            await asyncio.wait(loops, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for loop in loops:
                loop.cancel()
            ends = await asyncio.gather(*loops, return_exceptions=True)
        raise _worst([end for end in ends if isinstance(end, Exception)])

    def _loops(self) -> Sequence[Coroutine[None, None, None]]:
        store, epoch, settings = self._store, self._epoch, self._settings
        callbacks = []
        if self._post is not None:
            loop = CallbackLoop(store, epoch, self._callback_bell, self._post, settings)
            callbacks.append(loop.run())
        return (
            *callbacks,
            self._fold.run(),
            run_settle(store, epoch, self._settle_bell, after_pass=self._fold_bell.ring),
            run_cancel(store, epoch, self._cancel_bell, after_pass=self._after_sweep),
            run_hold(store, epoch, self._hold_bell),
            run_operate(store, epoch, self._operate_bell, after_pass=self._fold_bell.ring),
            run_reaper(store, epoch, self._due, grace_s=settings.lost_after_s),
            run_retention(
                store, epoch, self._retention_bell,
                events_keep_s=settings.events_keep_s, updates_keep_s=settings.updates_keep_s,
            ),
            self._beat(),
        )  # fmt: skip

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
                answer = await self._store.beat(self._epoch, self._settings.lost_after_s)
                self._due.move(answer.due_at)
                if not answer.idle:
                    self.wake_all()
                if answer.callback_due:
                    self.call_back()

    async def _prove_lock(self) -> None:
        if not await self._store.still_lead():
            raise LeadLost(
                "this driver leads no more",
                detail="The connection that held the leader's lock is gone.",
                hint="It tries to lead again by itself.",
            )


def _worst(errors: Sequence[Exception]) -> Exception:
    """Return the one error to report: a defect before what may work later."""
    return min(errors, key=lambda error: isinstance(error, Unavailable))
