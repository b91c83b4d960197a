"""Stay in contact with the store: heartbeats, and what notices say."""

import asyncio
import time
from collections.abc import Callable, Sequence

from weft.core.errors import Unavailable
from weft.ports.store import HeartbeatAnswer, Notices, WorkerStore
from weft.telemetry import metrics
from weft.telemetry.log import get_logger
from weft.wire.spawner import AttemptKey
from weft.worker.agent.held import HeldAttempts
from weft.worker.agent.patience import until_answered

log = get_logger()

_LISTEN_AGAIN_S = 0.2

Place = tuple[int, int, int]


class DeclaredLost(Exception):
    """The database has given this worker up and its jobs to others."""


class Contact:
    """Heartbeats and notices of one incarnation."""

    def __init__(
        self,
        store: WorkerStore,
        notices: Notices,
        incarnation_id: int,
        *,
        pool_id: int,
        held: HeldAttempts,
        on_work: Callable[[], None],
        on_cancelled: Callable[[Sequence[AttemptKey]], None],
    ) -> None:
        self._store = store
        self._notices = notices
        self._incarnation_id = incarnation_id
        self._pool_id = pool_id
        self._held = held
        self._on_work = on_work
        self._on_cancelled = on_cancelled
        self.draining = False
        self._asked_ns = 0
        self.on_known: Callable[[int], None] = _ignore
        """Told, with the time at which it was asked, that the database knows this worker."""

    async def beat(self, heartbeat_s: float) -> None:
        """Send heartbeats. Raises `DeclaredLost`."""
        while True:
            await asyncio.sleep(heartbeat_s)
            answer = await until_answered(self._beat_once)
            if not answer.alive:
                raise DeclaredLost
            self.on_known(self._asked_ns)
            if answer.cancelled:
                self._on_cancelled([AttemptKey(*place) for place in answer.cancelled])
            if answer.has_work:
                self._on_work()

    async def _beat_once(self) -> HeartbeatAnswer:
        self._asked_ns = time.monotonic_ns()
        metrics.RUNNING_JOBS.set(self._held.running_count)
        metrics.LEASED_JOBS.set(self._held.live_count - self._held.running_count)
        return await self._store.heartbeat(
            self._incarnation_id, self._places(None), draining=self.draining
        )

    async def listen(self) -> None:
        """Follow the notices; after a gap look once at everything that one may have told."""
        while True:
            try:
                async for channel, payload in self._notices.listen("work", "cancel"):
                    await self._on_notice(channel, payload)
            except Unavailable:
                await asyncio.sleep(_LISTEN_AGAIN_S)

    async def _on_notice(self, channel: str, payload: str) -> None:
        if channel in {"work", ""} and payload in {str(self._pool_id), ""}:
            self._on_work()
        if channel in {"cancel", ""}:
            await self._ask_for_cancelled(int(payload) if payload else None)

    async def _ask_for_cancelled(self, batch_id: int | None) -> None:
        places = self._places(batch_id)
        if places:
            found = await until_answered(
                lambda: self._store.list_cancelled(self._incarnation_id, places)
            )
            if found:
                self._on_cancelled([AttemptKey(*place) for place in found])

    def _places(self, batch_id: int | None) -> list[Place]:
        return [
            (key.batch_id, key.job_id, key.attempt)
            for key in self._held.by_key
            if batch_id is None or key.batch_id == batch_id
        ]


def _ignore(_asked_ns: int) -> None:
    return
