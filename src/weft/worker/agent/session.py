"""One incarnation of the worker: from its registration to its end."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weft.core.attempt_key import AttemptKey
from weft.core.states import Reason
from weft.ports.executor import Executor, ExecutorLimits
from weft.ports.store import Notices, Registered, WorkerStore
from weft.telemetry.log import get_logger
from weft.wire.spawner import Acknowledge, Ended, Kill, Renew, Report, Started, Welcome
from weft.worker.agent.claim_memory import ClaimMemory
from weft.worker.agent.claiming import Claiming
from weft.worker.agent.contact import Contact
from weft.worker.agent.held import HeldAttempts
from weft.worker.agent.outcomes import reason_of
from weft.worker.agent.reporting import Reporting
from weft.worker.agent.spawner_link import SpawnerGone, SpawnerLink

log = get_logger()


@dataclass(frozen=True, kw_only=True)
class WorkerFacts:
    """What a worker says of itself."""

    name: str
    host: str
    pool: str
    version: str
    cpu_m: int
    memory_mib: int
    storage_mib: int
    gpu: int


@dataclass(frozen=True, kw_only=True)
class Fence:
    """When the spawner stops all jobs by itself, because the database may have given them away."""

    after_s: float | None = None
    """So long after the database knew this worker; None: never, which only tests want."""
    return_s: float = 0.0
    """How long the agent may take to be heard again after an outage of the database."""
    find_database: Callable[[], str] = str
    """Return the socket of the database if it is a server on this host, else nothing."""


class Session:
    """Claim, run, report, until the spawner or the registration is gone."""

    def __init__(
        self,
        store: WorkerStore,
        notices: Notices,
        link: SpawnerLink,
        registered: Registered,
        *,
        facts: WorkerFacts,
        executors: Mapping[str, Executor],
        limits: ExecutorLimits,
        fence: Fence,
    ) -> None:
        self._store = store
        self._link = link
        self._limits = limits
        self._an_end = asyncio.Event()
        self.incarnation_id = registered.incarnation_id
        self.held = HeldAttempts(cpu_m=facts.cpu_m, memory_mib=facts.memory_mib)
        self.reporting = Reporting(store, self.incarnation_id, self._on_recorded)
        memory = ClaimMemory()
        self.claiming = Claiming(
            store, self.incarnation_id, memory=memory, held=self.held, link=link,
            executors=executors, limits=limits, reporting=self.reporting, on_end=self._on_end,
        )  # fmt: skip
        self.contact = Contact(
            store, notices, self.incarnation_id, pool_id=registered.pool_id, memory=memory,
            held=self.held, on_work=self.claiming.on_work, on_stop=self._stop,
        )  # fmt: skip
        self.reporting.expected = lambda: self.held.live_count
        self._fence = fence
        self._database = fence.find_database()
        self.contact.on_known = self.renew

    def reconcile(self, registered: Registered, welcome: Welcome) -> None:
        """Agree with the spawner and the database on what this worker has.

        What both know goes on; what the database does not hold is killed; what the spawner was
        never told is handed back.
        """
        owned = {AttemptKey(one.batch_id, one.job_id, one.attempt): one for one in registered.live}
        for key, one in owned.items():
            self.held.add(key, cpu_m=one.cpu_m, memory_mib=one.memory_mib).is_sent = True
        ended_keys = {one.key for one in welcome.ended}
        known = {*welcome.queued, *(one.key for one in welcome.live), *ended_keys}
        strangers = known - owned.keys() - ended_keys
        if strangers:
            self._link.send(Kill(sorted(strangers), Reason.LOST, 0))
        for key in owned.keys() - known:
            self._on_end(Ended(key, 0, time.monotonic_ns(), killed_for=Reason.PREEMPTED))
        for started in welcome.live:
            self._on_start(started)
        for ended in welcome.ended:
            self._on_end(ended)
        if known:
            log.info(
                "worker.jobs_adopted",
                live=len(welcome.live),
                queued=len(welcome.queued),
                ended=len(welcome.ended),
                killed=len(strangers),
                handed_back=len(owned.keys() - known),
            )
        self._link.deliver_to(self._on_report)

    def renew(self, known_ns: int) -> None:
        """Let the spawner go on: the database knew this worker at that time."""
        if self._fence.after_s is None:
            self._link.send(Renew(0))
            return
        until_ns = known_ns + int(self._fence.after_s * 1e9)
        self._link.send(Renew(until_ns, self._database, int(self._fence.return_s * 1e9)))

    async def run(self, heartbeat_s: float) -> None:
        """Work until something fails: raises `SpawnerGone` or `DeclaredLost`."""
        tasks = [
            asyncio.create_task(self.claiming.run()),
            asyncio.create_task(self.reporting.run()),
            asyncio.create_task(self.contact.beat(heartbeat_s)),
            asyncio.create_task(self.contact.listen()),
            asyncio.create_task(self._until_spawner_is_gone()),
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def drain(self, *, grace_ms: int) -> None:
        """Take no more, end what runs, and wait until the database knows."""
        self.claiming.draining = self.contact.draining = True
        self.claiming.on_room()
        live = [held.key for held in self.held.by_key.values() if held.is_sent and not held.ended]
        if live:
            self._link.send(Kill(live, Reason.PREEMPTED, grace_ms))
        while self.held.live_count:
            self._an_end.clear()
            await self._an_end.wait()
        await self.reporting.until_settled()

    async def _until_spawner_is_gone(self) -> None:
        await asyncio.shield(self._link.gone)
        raise SpawnerGone

    def _on_report(self, report: Report) -> None:
        for started in report.started:
            self._on_start(started)
        for ended in report.ended:
            self._on_end(ended)
        if report.withdrawn:
            self.claiming.on_withdrawn(report.withdrawn)

    def _on_start(self, started: Started) -> None:
        if self.held.start(started.key, started.started_ns):
            self.reporting.add_start(started)

    def _on_end(self, ended: Ended) -> None:
        self.held.end(ended.key, ended)
        self.reporting.add_end(ended)
        self.claiming.on_room()
        log.debug("attempt.ended", key=ended.key, reason=reason_of(ended))
        self._an_end.set()

    def _on_recorded(self, keys: Sequence[AttemptKey]) -> None:
        self._link.send(Acknowledge(list(keys)))
        for key in keys:
            self.held.forget(key)

    def _stop(self, keys: Sequence[AttemptKey]) -> None:
        sent = []
        for key in keys:
            held = self.held.by_key.get(key)
            if held is None or held.ended:
                continue
            if held.is_sent:
                sent.append(key)
            else:  # its spec is being read
                self._on_end(Ended(key, 0, held.claimed_ns, killed_for=Reason.CANCELLED))
        if sent:
            self._link.send(Kill(sent, Reason.CANCELLED, self._limits.grace_ms))
