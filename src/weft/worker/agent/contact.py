"""Stay in contact with the store: send heartbeats, follow notices."""

import asyncio

from weft.core.errors import Unavailable
from weft.core.states import AttemptKey
from weft.faults import fault_point
from weft.ports.patience import until_answered
from weft.ports.store import HeartbeatAnswer
from weft.telemetry import metrics
from weft.worker import boottime
from weft.worker.agent.attempts import Attempts
from weft.worker.agent.checkpoints import LogRemoval
from weft.worker.agent.claiming import Claiming
from weft.worker.agent.commands import Commands
from weft.worker.agent.incarnation import Incarnation
from weft.worker.agent.site import Fence

_LISTEN_AGAIN_S = 0.2
_LATE_NS = 1_000_000_000
"""A slower answer does not prove that the database still knows this worker: ask again."""
_after_usage = fault_point("agent.after_usage")


class DeclaredLost(Exception):
    """The database has declared this worker lost and given its jobs to others."""


class Contact:
    """Heartbeats and notices of one incarnation."""

    def __init__(
        self,
        incarnation: Incarnation,
        *,
        attempts: Attempts,
        claiming: Claiming,
        commands: Commands,
        fence: Fence,
        log_removal: LogRemoval,
    ) -> None:
        site = incarnation.site
        self._store = site.store
        self._notices = site.notices
        self._disks = site.disks
        self._checkpoint_removal = site.checkpoint_removal
        self._incarnation_id = incarnation.incarnation_id
        self._pool_id = incarnation.pool_id
        self._memory = incarnation.memory
        self._held = incarnation.held
        self._attempts = attempts
        self._claiming = claiming
        self._commands = commands
        self._fence = fence
        self._log_removal = log_removal
        self.draining = False
        self.drains = asyncio.Event()
        """Set while this worker drains: it ends as soon as nothing runs."""
        self.beating = asyncio.Lock()
        """Held by heartbeats, and by what ends this incarnation: else one finds it lost."""
        self._beat_now = asyncio.Event()
        self._asked_ns = 0
        self._counted = 0, 0

    async def beat(self, heartbeat_s: float) -> None:
        """Send heartbeats. Raises `DeclaredLost`."""
        try:
            await self._beat_on(heartbeat_s)
        finally:
            self._count(0, 0)

    async def _beat_on(self, heartbeat_s: float) -> None:
        is_late = False
        while True:
            if not is_late:
                await _sleep(heartbeat_s, self._beat_now)
            async with self.beating:
                answer = await until_answered(self._beat_once)
            if not answer.alive:
                raise DeclaredLost
            self._fence.renew(self._asked_ns)
            is_late = boottime.now_ns() - self._asked_ns > _LATE_NS
            if answer.to_stop:
                self._attempts.stop([AttemptKey(*one) for one in answer.to_stop])
            if answer.has_work:
                self._claiming.on_work()
            self._claiming.on_kept(answer.kept)
            if answer.drains:
                self.drains.set()
            else:
                self.drains.clear()

    async def _beat_once(self) -> HeartbeatAnswer:
        self._asked_ns = boottime.now_ns()
        self._count(self._held.running_count, self._held.live_count)
        heard, keys = self._memory.heard(), self._keys(None)
        answer = await self._store.heartbeat(
            self._incarnation_id,
            keys,
            draining=self.draining or self._disks.are_full(),
            claiming=self._memory.is_claiming,
            heard=heard,
        )
        if keys:
            _after_usage()
        self._memory.confirm(heard)
        return answer

    def _count(self, running: int, live: int) -> None:
        """Tell the metrics, which are of all agents of this process."""
        was_running, was_live = self._counted
        self._counted = running, live
        metrics.RUNNING_JOBS.inc(running - was_running)
        metrics.LEASED_JOBS.inc(live - running - (was_live - was_running))

    async def listen(self) -> None:
        """Follow the notices; after a gap check once for everything that may have been missed."""
        while True:
            try:
                channels = ("work", "cancel", "removed", "worker", "command")
                async for channel, payload in self._notices.listen(*channels):
                    await self._on_notice(channel, payload)
            except Unavailable:
                await asyncio.sleep(_LISTEN_AGAIN_S)

    async def _on_notice(self, channel: str, payload: str) -> None:
        if channel in {"work", ""} and self._is_for_us(payload):
            self._claiming.on_work()
        if channel in {"work", ""} and payload in {f"{self._pool_id}:={self._incarnation_id}", ""}:
            self._claiming.on_given()
        if channel == "worker" and payload == str(self._incarnation_id):
            self._beat_now.set()
        if channel in {"cancel", ""}:
            await self._ask_what_to_stop(int(payload) if payload else None)
        if channel in {"command", ""} and payload in {str(self._incarnation_id), ""}:
            self._commands.look()
        if channel in {"removed", ""}:
            self._log_removal.look(int(payload) if payload else None)
            self._checkpoint_removal.look()

    def _is_for_us(self, payload: str) -> bool:
        """Say whether work is announced to all of our pool (`3`), or to us (`3:17,18`)."""
        pool, _, names = payload.partition(":")
        ours = not names or str(self._incarnation_id) in names.split(",")
        return pool in {str(self._pool_id), ""} and ours

    async def _ask_what_to_stop(self, batch_id: int | None) -> None:
        attempts = self._keys(batch_id)
        if attempts:
            found = await until_answered(
                lambda: self._store.list_to_stop(self._incarnation_id, attempts)
            )
            if found:
                self._attempts.stop([AttemptKey(*one) for one in found])

    def _keys(self, batch_id: int | None) -> list[tuple[int, int, int]]:
        return [
            (key.batch_id, key.job_id, key.attempt)
            for key in self._held.by_key
            if batch_id is None or key.batch_id == batch_id
        ]


async def _sleep(seconds: float, wake: asyncio.Event) -> None:
    """Sleep, at most until `wake`; a suspension of the host counts, because the spawner waits
    only some seconds for a heartbeat after it.
    """
    timer = boottime.BoottimeTimer()
    loop = asyncio.get_running_loop()
    loop.add_reader(timer.fd, wake.set)
    try:
        timer.set(boottime.now_ns() + int(seconds * 1e9))
        await wake.wait()
        wake.clear()
    finally:
        loop.remove_reader(timer.fd)
        timer.close()
