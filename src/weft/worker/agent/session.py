"""One incarnation of the worker: from its registration to its end."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.core.attempt_key import AttemptKey
from weft.core.offers import Offer
from weft.core.states import Reason
from weft.ports.log_store import LogKeeper
from weft.ports.runner import Ended, Entered, Known, Runner, Started, never_started
from weft.ports.store import Notices, Registered, WorkerStore
from weft.telemetry.log import get_logger
from weft.wire.sealed import SecretKeys
from weft.worker.agent.arguments import ArgumentFiles
from weft.worker.agent.block_files import BLOCKS, BlockFiles
from weft.worker.agent.checkpoint_removal import CheckpointRemoval
from weft.worker.agent.claim_memory import ClaimMemory
from weft.worker.agent.claiming import Claiming
from weft.worker.agent.commands import Commands
from weft.worker.agent.contact import Contact
from weft.worker.agent.held import HeldAttempts
from weft.worker.agent.job_accounts import JobAccounts
from weft.worker.agent.job_secrets import JobSecrets
from weft.worker.agent.log_removal import LogRemoval
from weft.worker.agent.message_files import MESSAGES, MessageFiles
from weft.worker.agent.patience import until_answered
from weft.worker.agent.reporting import Reporting
from weft.worker.agent.signatures import Signatures

log = get_logger()


@dataclass(frozen=True, kw_only=True)
class WorkerFacts:
    """What a worker says about itself."""

    name: str
    host: str
    pool: str
    version: str
    cpu_m: int
    memory_mib: int
    storage_mib: int
    gpu: int
    offers: Mapping[str, Offer]
    """What else it offers: amounts by name, and labels such as the names of its executors."""
    slots: int | None = None
    """How many jobs it runs at a time, whatever they ask for; None: as many as fit."""
    log_place: str | None = None
    """The name of the directory in which it keeps output; None: that of the api."""
    log_directory: str | None = None


@dataclass(frozen=True, kw_only=True)
class FenceTerms:
    """When the spawner stops all jobs by itself because the database may have reassigned them."""

    after_s: float | None = None
    """Time since the database last confirmed this worker; None: never stop (for tests only)."""
    return_s: float = 0.0
    """How long the agent may take to reach the database again after an outage."""
    find_database: Callable[[], str] = str
    """Return the database's socket if the server runs on this host, else nothing."""


class Drained(Exception):
    """This worker was told to drain, and nothing runs any more: its process may end."""


class Session:
    """Claim, run and report until the runner or the registration is lost."""

    def __init__(
        self,
        store: WorkerStore,
        notices: Notices,
        runner: Runner,
        registered: Registered,
        *,
        facts: WorkerFacts,
        grace_ms: int,
        fence: FenceTerms,
        scratch: Path,
        log_keeper: LogKeeper,
        checkpoint_removal: CheckpointRemoval,
        secret_keys: Callable[[], SecretKeys] = SecretKeys,
        unsigned_functions: bool = False,
        accounts: JobAccounts | None = None,
    ) -> None:
        self._store = store
        self._runner = runner
        self._grace_ms = grace_ms
        self._an_end = asyncio.Event()
        self.incarnation_id = registered.incarnation_id
        self.held = HeldAttempts(cpu_m=facts.cpu_m, memory_mib=facts.memory_mib, slots=facts.slots)
        self._block_files = BlockFiles(scratch / BLOCKS)
        self.reporting = Reporting(
            store, self.incarnation_id, self._on_recorded, block_files=self._block_files
        )
        memory = ClaimMemory()
        self._message_files = MessageFiles(scratch / MESSAGES)
        self.commands = Commands(
            store, self.incarnation_id, self.held, runner, self._message_files
        )
        self._arguments = ArgumentFiles(store, scratch / "arguments")
        self.claiming = Claiming(
            store, self.incarnation_id, memory=memory, held=self.held, runner=runner,
            reporting=self.reporting, arguments=self._arguments,
            secrets=JobSecrets(store, self.incarnation_id, secret_keys),
            signatures=Signatures(store, secret_keys, required=not unsigned_functions),
            accounts=accounts, on_end=self._on_end,
            on_submitted=self.commands.on_submitted,
        )  # fmt: skip
        self.log_removal = LogRemoval(store, log_keeper)
        self._checkpoint_removal = checkpoint_removal
        self.contact = Contact(
            store, notices, self.incarnation_id, pool_id=registered.pool_id, memory=memory,
            held=self.held, on_work=self.claiming.on_work, on_kept=self.claiming.on_kept,
            on_stop=self._stop,
            on_removed=self._on_removed, on_command=self.commands.look,
        )  # fmt: skip
        self.reporting.expected = lambda: self.held.live_count
        self._fence = fence
        self._database = fence.find_database()
        self.contact.on_known = self.renew

    def reconcile(self, registered: Registered, known: Known) -> None:
        """Agree with the runner and the database on what this worker has.

        Attempts that both know continue; attempts that the database does not list are killed;
        attempts that the runner never received are handed back.
        """
        owned = {AttemptKey(one.batch_id, one.job_id, one.attempt): one for one in registered.live}
        for key, one in owned.items():
            self.held.add(key, cpu_m=one.cpu_m, memory_mib=one.memory_mib).is_sent = True
        self._arguments.adopt([*known.waiting, *(one.key for one in known.live)])
        for files in (self._block_files, self._message_files):
            files.prepare([*(one.key for one in known.live), *(one.key for one in known.ended)])
        ended_keys = {one.key for one in known.ended}
        has = {*known.waiting, *(one.key for one in known.live), *ended_keys}
        strangers = has - owned.keys() - ended_keys
        if strangers:
            self._runner.stop(sorted(strangers), reason=Reason.LOST, grace_ms=0)
        for key in owned.keys() - has:
            self._on_end(never_started(key, Reason.PREEMPTED, now_ns=time.monotonic_ns()))
        for started in known.live:
            self._on_start(started)
        for ended in known.ended:
            self._on_end(ended)
        if has:
            log.info(
                "worker.jobs_adopted",
                live=len(known.live),
                queued=len(known.waiting),
                ended=len(known.ended),
                killed=len(strangers),
                handed_back=len(owned.keys() - has),
            )

    def renew(self, known_ns: int) -> None:
        """Let the runner continue: the database confirmed this worker at that time."""
        if self._fence.after_s is None:
            self._runner.keep_until(0)
            return
        self._runner.keep_until(
            known_ns + int(self._fence.after_s * 1e9),
            database=self._database,
            return_ns=int(self._fence.return_s * 1e9),
        )

    async def run(self, heartbeat_s: float) -> None:
        """Work until something fails: raises `RunnerGone`, `DeclaredLost` or `Drained`."""
        tasks = [
            asyncio.create_task(self._follow_runner()),
            asyncio.create_task(self.claiming.run()),
            asyncio.create_task(self.reporting.run()),
            asyncio.create_task(self.contact.beat(heartbeat_s)),
            asyncio.create_task(self.contact.listen()),
            asyncio.create_task(self.commands.run()),
            asyncio.create_task(self.log_removal.run()),
            asyncio.create_task(self._checkpoint_removal.run()),
            asyncio.create_task(self._end_when_drained()),
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _end_when_drained(self) -> None:
        """Raise `Drained` when this worker drains and has nothing left."""
        while True:
            await self.contact.drains.wait()
            self._an_end.clear()
            if self.held.live_count:
                await self._an_end.wait()
                continue
            await self.reporting.until_settled()
            async with self.contact.beating:
                if await until_answered(lambda: self._store.finish_drain(self.incarnation_id)):
                    raise Drained
            self.contact.drains.clear()  # the next heartbeat tells

    async def drain(self, *, grace_ms: int) -> None:
        """Claim nothing more, end the running jobs, and wait until their ends are recorded."""
        self.claiming.draining = self.contact.draining = True
        self.claiming.on_room()
        live = [held.key for held in self.held.by_key.values() if held.is_sent and not held.ended]
        if live:
            self._runner.stop(live, reason=Reason.PREEMPTED, grace_ms=grace_ms)
        while self.held.live_count:
            self._an_end.clear()
            await self._an_end.wait()
        await self.reporting.until_settled()

    async def _follow_runner(self) -> None:
        async for happened in self._runner.happened():
            for started in happened.started:
                self._on_start(started)
            for entered in happened.entered:
                self._on_phase(entered)
            for ended in happened.ended:
                self._on_end(ended)
            if happened.obeyed:
                self.commands.on_obeyed(happened.obeyed)
            if happened.withdrawn:
                self.claiming.on_withdrawn(happened.withdrawn)

    def _on_start(self, started: Started) -> None:
        if self.held.start(started.key, started.started_ns):
            self.reporting.add_start(started)

    def _on_phase(self, entered: Entered) -> None:
        if self.held.enter(entered.key, entered.phase):
            self.reporting.add_phase(entered)

    def _on_end(self, ended: Ended) -> None:
        self.held.end(ended.key, ended)
        self._arguments.remove(ended.key)
        self.reporting.add_end(ended)
        self.claiming.on_room()
        log.debug("attempt.ended", key=ended.key, reason=ended.reason)
        self._an_end.set()

    def _on_recorded(self, keys: Sequence[AttemptKey]) -> None:
        self._runner.acknowledge(keys)
        self._checkpoint_removal.on_recorded(keys)
        self._block_files.remove(keys)
        for key in keys:
            self.held.forget(key)
            self._message_files.remove(key)

    def _on_removed(self, batch_id: int | None) -> None:
        self.log_removal.look(batch_id)
        self._checkpoint_removal.look()

    def _stop(self, keys: Sequence[AttemptKey]) -> None:
        """Stop these attempts: they are cancelled, or this worker no longer owns them."""
        sent = []
        for key in keys:
            held = self.held.by_key.get(key)
            if held is None or held.ended:
                continue
            if held.is_sent:
                sent.append(key)
            else:  # its spec is being read
                self._on_end(never_started(key, Reason.CANCELLED, now_ns=held.claimed_ns))
        if sent:
            self._runner.stop(sent, reason=Reason.CANCELLED, grace_ms=self._grace_ms)
