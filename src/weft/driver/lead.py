"""Election of the leader: one driver leads, the others stand by.

      try_lead ── None ──▶ stand by ── a leader died, or heartbeat ──▶ try_lead
         │ epoch
         ▼
        term ── lock or database gone, a newer epoch ──▶ try_lead

A standby never waits inside the lock: a waiting backend would hold back the removal of dead rows.
Every write carries the epoch, so a leader that slept through its end is refused.

One term of a leader: its loops, what wakes them, and the heartbeat that may end it.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial

from weft.core.errors import DiskFull, EpochStale, Unavailable
from weft.driver.adapters import Adapters
from weft.driver.loops import LOOPS
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import Loop, LoopContext, Rest
from weft.ports.patience import Failures, end_tasks, follow, retry_s, run_beside
from weft.ports.store import Notices
from weft.settings import Settings, sql_settings
from weft.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import log

LOCK_EVERY_BEATS = 6
SILENT_BEATS = 10
"""A leader that has not proved its lock for this number of heartbeats loses it."""
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
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ends = await end_tasks(tasks)
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


STANDBY_S = 5.0
"""How often a standby tries: a leader that died on another host is replaced in this time."""
SUCCESSION_S = (0.0, 0.02, 0.1, 0.3, 1.0)
"""Pauses of a standby that was woken: the dead leader's backend is about to free the lock."""
STEADY_S = 5.0
"""A term that lasted longer has done its work before a disk was full."""
_retry_s = partial(retry_s, first_s=0.05, longest_s=5.0)


class Driver:
    """Lead whenever possible, until cancelled. `on_state` gets `leader` and `standby`."""

    def __init__(
        self,
        store: DriverStore,
        notices: Notices,
        settings: Settings,
        adapters: Adapters,
        *,
        on_state: Callable[[str], None],
    ) -> None:
        self._store = store
        self._notices = notices
        self._settings = settings
        self._adapters = adapters
        self._on_state = on_state
        self._succession = Bell()
        self._term: Term | None = None

    def succeed(self) -> None:
        """Try to lead: the leader may have died."""
        self._succession.ring()

    async def run(self) -> None:
        """Listen, and lead or stand by."""
        await run_beside(follow(self._notices, "driver", self._pass_on), self._serve())

    def _pass_on(self, channel: str, payload: str) -> None:
        if self._term is None:
            return
        if channel:
            self._term.wake(payload or FIRST)
        else:  # notices may be lost
            self._term.doubt()

    async def _serve(self) -> None:
        failures = 0
        while True:
            begun = None
            try:
                epoch = await self._try_lead()
                if epoch is None:
                    epoch = await self._stand_by()
                begun = time.monotonic()
                await self._lead(epoch)
            except EpochStale as error:
                log.warning("driver.lead_lost", error=error.message)
            except Unavailable as error:
                # On a full disk a term begins, and ends with its first write: that is no success.
                is_full = isinstance(error, DiskFull)
                if begun is not None and not (is_full and time.monotonic() < begun + STEADY_S):
                    failures = 0
                failures += 1
                log.debug("driver.unavailable", error=error.message, failures=failures)
                await self._succession.heard(_retry_s(failures))

    async def _stand_by(self) -> int:
        """Wait until this driver leads; return the epoch of its term."""
        self._enter("standby")
        while True:
            leader_died = await self._succession.heard(STANDBY_S)
            for pause_s in SUCCESSION_S if leader_died else SUCCESSION_S[:1]:
                await asyncio.sleep(pause_s)
                epoch = await self._try_lead()
                if epoch is not None:
                    return epoch

    async def _try_lead(self) -> int | None:
        return await self._store.try_lead(silent_s=SILENT_BEATS * self._settings.heartbeat_s)

    async def _lead(self, epoch: int) -> None:
        """Lead until the term ends. Its lock is let go then, whatever ended it: the next term, of
        whichever driver, begins on a connection of its own.
        """
        try:
            followed = {name: getattr(self._settings, name) for name in sql_settings()}
            await self._store.configure(epoch, followed)
            self._term = Term(self._store, epoch, self._settings, self._adapters)
            self._enter("leader", epoch=epoch)
            metrics.LEADER.set(1)
            await self._term.run()
        finally:
            await self._store.stop_leading()
            if self._term is not None:
                self._term = None
                metrics.LEADER.set(0)
                log.info("driver.term_ended", epoch=epoch)

    def _enter(self, state: str, **facts: int) -> None:
        log.info("driver.state_changed", state=state, **facts)
        self._on_state(state)
