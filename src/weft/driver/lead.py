"""Election of the leader: one driver leads, the others stand by.

      try_lead ── None ──▶ stand by ── a leader died, or heartbeat ──▶ try_lead
         │ epoch
         ▼
        term ── lock or database gone, a newer epoch ──▶ try_lead

A standby never waits inside the lock: a waiting backend would hold back the removal of dead rows.
Every write carries the epoch, so a leader that slept through its end is refused.
"""

import asyncio
from collections.abc import Callable
from functools import partial

from weft.core.errors import EpochStale, Unavailable
from weft.driver.adapters import Adapters
from weft.driver.loops.bell import Bell
from weft.driver.term import FIRST, Term
from weft.ports.patience import follow, retry_s
from weft.ports.store import Notices
from weft.settings import Settings, sql_settings
from weft.store import DriverStore
from weft.telemetry import metrics
from weft.telemetry.log import log

STANDBY_S = 5.0
"""How often a standby tries: a leader that died on another host is replaced in this time."""
SUCCESSION_S = (0.0, 0.02, 0.1, 0.3, 1.0)
"""Pauses of a standby that was woken: the dead leader's backend is about to free the lock."""
_retry_s = partial(retry_s, first_s=0.05, longest_s=5.0)


class Driver:
    """Lead whenever possible, until cancelled. `on_state` gets `leader` and `standby`."""

    def __init__(
        self, store: DriverStore, notices: Notices, settings: Settings,
        adapters: Adapters, *, on_state: Callable[[str], None],
    ) -> None:  # fmt: skip
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
        async with asyncio.TaskGroup() as group:
            group.create_task(follow(self._notices, "driver", self._pass_on))
            group.create_task(self._serve())

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
            try:
                epoch = await self._store.try_lead()
                if epoch is None:
                    epoch = await self._stand_by()
                failures = 0
                await self._lead(epoch)
            except EpochStale as error:
                log.warning("driver.lead_lost", error=error.message)
            except Unavailable as error:
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
                epoch = await self._store.try_lead()
                if epoch is not None:
                    return epoch

    async def _lead(self, epoch: int) -> None:
        followed = {name: getattr(self._settings, name) for name in sql_settings()}
        await self._store.configure(epoch, followed)
        self._term = Term(self._store, epoch, self._settings, self._adapters)
        self._enter("leader", epoch=epoch)
        metrics.LEADER.set(1)
        try:
            await self._term.run()
        finally:
            self._term = None
            metrics.LEADER.set(0)
            log.info("driver.term_ended", epoch=epoch)

    def _enter(self, state: str, **facts: int) -> None:
        log.info("driver.state_changed", state=state, **facts)
        self._on_state(state)
