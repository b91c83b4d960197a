"""An agent in this process with a real spawner, on a store in memory."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

from weft.core.access.run_as import User
from weft.plugins.executors.process import ProcessExecutor
from weft.plugins.log_stores.files.plugin import FileLogKeeper
from weft.plugins.log_stores.files.reader import FileReader
from weft.plugins.runners.spawner import SpawnerRunner
from weft.plugins.runners.spawner.start import SpawnerFiles, is_locked
from weft.ports.executor import ExecutorLimits, SpawnerExecutor
from weft.ports.log_store import AttemptLog
from weft.ports.patience import end_tasks
from weft.ports.store import EndReport
from weft.wire.log_format import STDOUT
from weft.wire.sealed import SecretKeys
from weft.wire.spawner import Hello
from weft.wire.spec import JobSpec
from weft.worker.agent.agent import Agent
from weft.worker.agent.attempt_files import BLOCKS, MESSAGES, PRODUCTS, PROGRESS
from weft.worker.agent.checkpoints import CheckpointRemoval
from weft.worker.agent.job_accounts import JobAccounts
from weft.worker.agent.site import AgentSite, FenceTerms, WorkerFacts
from weft.worker.agent.specs import Signatures
from worker.fake_store import FakeStore
from worker.file_site import file_site

LIMITS = ExecutorLimits(grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)


def sh(script: str, **fields: object) -> JobSpec:
    """Return a job that runs a script, with any other fields."""
    return JobSpec(command=("/bin/sh", "-c", script), **fields)  # type: ignore[arg-type]


class Worker:
    """One worker; its agent can die and be started again."""

    def __init__(
        self, root: Path, store: FakeStore, *, cpu_m: int = 2000, memory_mib: int = 1000
    ) -> None:
        self.store = store
        self.logs = root / "logs"
        self.files = SpawnerFiles(
            socket=root / "s.sock",
            lock=root / "s.lock",
            logs=self.logs,
            scratch=root / "scratch",
            checkpoints=root / "checkpoints",
            own_log=root / "spawner.log",
        )
        self.facts = WorkerFacts(
            name="w",
            host="h",
            pool="default",
            version="0",
            cpu_m=cpu_m,
            memory_mib=memory_mib,
            storage_mib=1,
            gpu=0,
            offers={},
        )
        self.secret_keys = [bytes(32)]
        self.executors: dict[str, SpawnerExecutor] = {"process": ProcessExecutor()}
        self.unsigned_functions = False
        self.accounts: JobAccounts | None = None
        self.heartbeat_s = 10.0
        self.again_s = 600.0
        self.fence_s: float | None = None
        self.agent: Agent | None = None
        self.task: asyncio.Task[None] | None = None

    def use_accounts(self, accounts: Mapping[User, str]) -> None:
        """Run jobs under these accounts from the next start on."""
        self.accounts = JobAccounts(self.store, accounts, uid_min=1000)
        self.files = replace(self.files, accounts=True)

    async def start(self) -> None:
        """Start an agent and wait until it is registered; raise what ends it before."""
        ready = asyncio.Event()
        site = AgentSite(
            store=self.store,
            notices=self.store,
            runner=SpawnerRunner(
                self.files,
                self.executors,
                replace(
                    LIMITS,
                    block_files=str(self.files.scratch / BLOCKS),
                    message_files=str(self.files.scratch / MESSAGES),
                    progress_files=str(self.files.scratch / PROGRESS),
                    product_files=str(self.files.scratch / PRODUCTS),
                ),
                Hello(self.facts.cpu_m, self.facts.memory_mib),
            ),
            facts=self.facts,
            grace_ms=LIMITS.grace_ms,
            heartbeat_s=self.heartbeat_s,
            fence=FenceTerms(after_s=self.fence_s),
            scratch=self.files.scratch,
            files=file_site(self.files.scratch, for_accounts=self.accounts is not None),
            log_keeper=FileLogKeeper(self.logs),
            checkpoint_removal=CheckpointRemoval(
                self.store, self.files.checkpoints, again_s=self.again_s
            ),
            open_secrets=(keys := lambda: SecretKeys(self.secret_keys)),
            signatures=Signatures(self.store, keys, required=not self.unsigned_functions),
            accounts=self.accounts,
        )
        self.agent = Agent(site, on_ready=ready.set)
        self.task = asyncio.create_task(self.agent.run())
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({self.task, waiting}, timeout=20, return_when="FIRST_COMPLETED")
        waiting.cancel()
        if self.task.done():
            self.task.result()
        assert ready.is_set()

    async def begin(self, *jobs: JobSpec) -> None:
        """Submit jobs; return when the first start of an attempt is reported."""
        self.store.submit(*jobs)
        await self.store.until_started(1)

    async def crash(self) -> None:
        """End the agent without a word, as kill -9 does."""
        assert self.task is not None
        await end_tasks([self.task])

    async def stop(self) -> None:
        """Stop as SIGTERM does."""
        assert self.agent is not None
        await self.agent.stop()
        await self.crash()

    @asynccontextmanager
    async def running(self, *, is_started: bool = True) -> AsyncIterator[Self]:
        """Start an agent, and leave nothing behind."""
        if is_started:
            await self.start()
        yield self
        await self.end()

    async def end(self) -> None:
        """Leave nothing behind, whatever the test did."""
        if self.task is None or self.task.done():
            if not is_locked(self.files.lock):
                return
            await self.start()
        self.store.is_away = False
        await self.stop()

    def output(self, report: EndReport) -> bytes:
        """Return what an attempt wrote to stdout."""
        place = AttemptLog(
            report.batch_id,
            report.job_id,
            report.attempt,
            ended=True,
            location=report.location,
            stdout_bytes=report.stdout_bytes,
            stderr_bytes=report.stderr_bytes,
            truncated=report.truncated,
            state="success",
        )
        return FileReader(self.logs).read(place, STDOUT, 0, 1 << 20)
