"""The agent's life: find the spawner, register, work; again when one of them is gone."""

import asyncio
import time
from collections.abc import Callable, Mapping

from weft.core.errors import IncarnationEnded, Unavailable
from weft.ports.executor import Executor, ExecutorLimits
from weft.ports.store import Notices, Registered, WorkerStore
from weft.telemetry.log import get_logger
from weft.wire.spawner import PROTOCOL_VERSION, Hello, Quit, WarmLimits, Welcome
from weft.worker.agent.contact import DeclaredLost
from weft.worker.agent.patience import until_answered
from weft.worker.agent.session import Fence, Session, WorkerFacts
from weft.worker.agent.spawner_link import SpawnerGone, SpawnerLink, greet
from weft.worker.agent.spawner_start import SpawnerPlace, find_or_start, wait_gone

log = get_logger()

_DRAIN_GRACE_MS = 800
_DRAIN_S = 1.4
_LEAVE_S = 0.3
_SETTLE_S = 0.5


class Agent:
    """Run jobs until told to stop."""

    def __init__(
        self,
        store: WorkerStore,
        notices: Notices,
        *,
        place: SpawnerPlace,
        facts: WorkerFacts,
        executors: Mapping[str, Executor],
        limits: ExecutorLimits,
        heartbeat_s: float,
        fence: Fence,
        warm: WarmLimits | None = None,
        on_ready: Callable[[], None],
    ) -> None:
        self._store = store
        self._notices = notices
        self._place = place
        self._facts = facts
        self._executors = executors
        self._limits = limits
        self._heartbeat_s = heartbeat_s
        self._fence = fence
        self._warm = warm or WarmLimits()
        self._on_ready = on_ready
        self._asked_ns = 0
        self._link: SpawnerLink | None = None
        self._session: Session | None = None

    async def run(self) -> None:
        """Work for ever; every end of a session is followed by a new one."""
        while True:
            self._link = await find_or_start(self._place)
            try:
                await self._work(self._link)
            except SpawnerGone:
                log.warning("worker.spawner_lost")
                await wait_gone(self._place)
            except (DeclaredLost, IncarnationEnded):
                log.warning("worker.declared_lost")
                self._link.send(Quit())
                await wait_gone(self._place)
            finally:
                self._session = None
                self._link.close()

    async def _work(self, link: SpawnerLink) -> None:
        facts = self._facts
        hello = Hello(facts.cpu_m, facts.memory_mib, warm=self._warm)
        welcome = await greet(link, hello)
        if welcome.version != PROTOCOL_VERSION:
            log.warning("worker.spawner_outdated", version=welcome.version)
            link.send(Quit())
            await link.gone
            raise SpawnerGone
        registered = await until_answered(lambda: self._register(welcome))
        session = self._session = Session(
            self._store, self._notices, link, registered, facts=facts, executors=self._executors,
            limits=self._limits, fence=self._fence,
        )  # fmt: skip
        session.reconcile(registered, welcome)
        session.renew(self._asked_ns)
        log.info(
            "worker.registered", worker_id=registered.worker_id, cpu_m=facts.cpu_m,
            memory_mib=facts.memory_mib, pid_namespace=welcome.pid_namespace,
        )  # fmt: skip
        self._on_ready()
        await session.run(self._heartbeat_s)

    async def _register(self, welcome: Welcome) -> Registered:
        facts = self._facts
        self._asked_ns = time.monotonic_ns()
        return await self._store.register_worker(
            name=facts.name,
            host=facts.host,
            pool=facts.pool,
            incarnation=welcome.incarnation,
            cpu_m=facts.cpu_m,
            memory_mib=facts.memory_mib,
            storage_mib=facts.storage_mib,
            gpu=facts.gpu,
            version=facts.version,
            # find_or_start starts no spawner before all processes of the older one are gone.
            same_host_proved_gone=True,
        )

    async def stop(self) -> None:
        """End running jobs, report them, and end the spawner, within two seconds.

        Call it while `run` runs; cancel that afterwards. What cannot be reported now, because the
        database is away, is found to be lost when this worker registers again.
        """
        session, link = self._session, self._link
        if session is not None:
            try:
                async with asyncio.timeout(_DRAIN_S):
                    await session.drain(grace_ms=_DRAIN_GRACE_MS)
                async with asyncio.timeout(_LEAVE_S):
                    await self._store.leave(session.incarnation_id)
            except (TimeoutError, Unavailable):
                log.warning("worker.drain_incomplete", left=session.held.live_count)
        if link is not None:
            link.send(Quit())
            try:
                async with asyncio.timeout(_LEAVE_S):
                    await link.gone
            except TimeoutError:
                log.warning("worker.spawner_slow")

    async def detach(self) -> None:
        """Leave the spawner and its jobs alone, for the next agent."""
        if self._session is not None:
            self._session.claiming.draining = True
            try:
                async with asyncio.timeout(_SETTLE_S):
                    await self._session.reporting.until_settled()
            except TimeoutError:
                return
