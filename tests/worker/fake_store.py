"""A store for the agent without a database: a list of jobs and what was reported of them.

It knows nothing of scheduling, rights or history; `tests/store` tests the real one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from weft.core.ends.conditions import Ask
from weft.core.errors import IncarnationEnded, Unavailable
from weft.core.scheduling.black_holes import AvoidedNode
from weft.core.scheduling.offers import Offer
from weft.core.states import AttemptKey, Command, Reason
from weft.ports.store import (
    Claimed,
    ClaimRequest,
    EndReport,
    FileWanted,
    FoundFile,
    HeartbeatAnswer,
    JobUser,
    KeptFile,
    ParentAnswer,
    PhaseReport,
    ProgressReport,
    Registered,
    StartReport,
    StoredFileStore,
    StoredSecret,
)
from weft.wire.sealed import SecretKeys, SecretRow
from weft.wire.signed import CHUNK, Signer, sign
from weft.wire.spec import JobSpec, encode_chunk
from worker.fake_notes import FakeNotes

BATCH, POOL = 1, 7
WITHIN_S = 60.0
_AGAIN = {Reason.PREEMPTED, Reason.LOST}


@dataclass
class FakeJob:
    """One job."""

    spec: JobSpec
    cpu_m: int = 1000
    memory_mib: int = 64
    attempt: int = 0
    owner: int | None = None
    is_over: bool = False
    ends: list[EndReport] = field(default_factory=list)


class FakeStore(FakeNotes):
    """`WorkerStore` and `Notices` in memory."""

    def __init__(self) -> None:
        self.jobs: list[FakeJob] = []
        self.starts: list[StartReport] = []
        self.claim_sizes: list[int] = []
        self.sets_with_claim: list[int] = []
        """Ends that were reported together with a claim."""
        self.max_running: int | None = None
        """Limit on how many jobs run at once."""
        self.asks: dict[int, Ask] = {}
        """What jobs wait for, as it was told before their ends."""
        self.cancelled: set[int] = set()
        self.commands: list[Command] = []
        self.asks_again = False
        self.avoided: list[AvoidedNode] = []
        self.allowed: dict[int, dict[str, list[str]]] = {}
        self.limits_ms: dict[tuple[int, int, int], int] = {}
        """Time limits that rules of `retry_with` lead to."""
        """Whether it wants to be asked for commands after claims."""
        self.obeyed: list[tuple[int, str]] = []
        self.removed: set[int] = set()
        self.incarnations: list[str] = []
        self.ended_incarnations: set[str] = set()
        self.is_away = False
        self.is_lost = False
        self.refuses_with: Exception | None = None
        """How it answers to everything."""
        self.left: list[int] = []
        self.drains = False
        self.drained: list[int] = []
        self.heartbeats = 0
        self.refusals = 0
        self.payloads = asyncio.Event()
        """Set when questions for payloads are answered; there is none."""
        self.files: list[KeptFile] = []
        """What attempts have left."""
        self.products: list[tuple[Any, Any]] = []
        """What they have made, and of what."""
        self.progress: list[Sequence[ProgressReport]] = []
        """How far attempts are, by calls."""
        self.secrets: dict[str, bytes] = {}
        """Encrypted, by name."""
        self.sign: Callable[[bytes], bytes] = partial(
            sign, CHUNK, signer=Signer(1, 1), keys=SecretKeys([bytes(32)])
        )
        """Signs the chunks of specs, as the api does."""
        self.submitter = ("local", "ada")
        """Tenant and name of the user of all jobs."""
        self._notices: list[asyncio.Queue[tuple[str, str]]] = []
        self._changed = asyncio.Event()

    # what a test does

    def submit(self, *specs: JobSpec, cpu_m: int = 1000, memory_mib: int = 64) -> None:
        """Add jobs and tell the worker."""
        self.jobs += [FakeJob(spec, cpu_m=cpu_m, memory_mib=memory_mib) for spec in specs]
        self.notify("work", str(POOL))

    def cancel(self, job_id: int) -> None:
        """Cancel one job and tell the worker."""
        self.cancelled.add(job_id)
        self.notify("cancel", str(BATCH))

    def tell(self, command: Command) -> None:
        """Tell an attempt something, as its worker learns it."""
        self.commands.append(command)
        self.notify("command", "")

    async def until_obeyed(self, count: int) -> list[tuple[int, str]]:
        """Wait until `count` commands were acknowledged; return what came of all of them."""
        await self._until(lambda: len(self.obeyed) >= count)
        return self.obeyed

    def notify(self, channel: str, payload: str) -> None:
        """Send a notice to who listens."""
        for queue in self._notices:
            queue.put_nowait((channel, payload))

    async def until(self, count: int) -> list[EndReport]:
        """Wait until `count` jobs are over; return the last report of each job that has one."""
        await self._until(lambda: sum(job.is_over for job in self.jobs) >= count)
        return [job.ends[-1] for job in self.jobs if job.ends]

    async def until_heartbeats(self, count: int) -> None:
        """Wait until `count` heartbeats have come."""
        await self._until(lambda: self.heartbeats >= count)

    async def until_refused(self, count: int) -> None:
        """Wait until `count` calls have come while the store was away."""
        await self._until(lambda: self.refusals >= count)

    async def until_ended(self, count: int) -> list[EndReport]:
        """Wait until `count` ends were reported, of whatever kind."""
        await self._until(lambda: len(self._ends()) >= count)
        return self._ends()

    async def until_handed_back(self, count: int) -> list[EndReport]:
        """Wait until `count` leases were handed back."""

        def handed_back() -> list[EndReport]:
            return [
                end
                for end in self._ends()
                if end.reason == Reason.PREEMPTED and end.start_age_us is None
            ]

        await self._until(lambda: len(handed_back()) >= count)
        return handed_back()

    async def until_started(self, count: int) -> None:
        """Wait until `count` starts were reported."""
        await self._until(lambda: len(self.starts) >= count)

    async def until_progress(self) -> None:
        """Wait until an attempt has said how far it is."""
        await self._until(lambda: bool(self.progress))

    async def _until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(WITHIN_S):
            while not is_so():
                self._changed.clear()
                await self._changed.wait()

    def _ends(self) -> list[EndReport]:
        return [end for job in self.jobs for end in job.ends]

    # WorkerStore

    async def register_worker(
        self,
        *,
        name: str,
        host: str,
        pool: str,
        incarnation: str,
        cpu_m: int,
        memory_mib: int,
        storage_mib: int,
        gpu: int,
        offers: Mapping[str, Offer],
        version: str,
        same_host_proved_gone: bool,
        log_place: str | None = None,
        log_directory: str | None = None,
        outlives: bool = False,
        is_over: bool = False,
    ) -> Registered:
        del name, host, pool, cpu_m, memory_mib, storage_mib, gpu, offers, version
        del log_place, log_directory, outlives, is_over
        assert same_host_proved_gone
        self._check()
        if incarnation in self.ended_incarnations:
            raise IncarnationEnded("it has ended")
        if incarnation not in self.incarnations:
            self.incarnations.append(incarnation)
            for job in self.jobs:
                job.owner = None
        self.is_lost = False
        number = self.incarnations.index(incarnation)
        live = [
            self._claimed(job_id, job)
            for job_id, job in enumerate(self.jobs, 1)
            if job.owner == number
        ]
        return Registered(worker_id=1, incarnation_id=number, pool_id=POOL, live=live)

    async def claim_jobs(self, incarnation_id: int, request: ClaimRequest) -> Sequence[Claimed]:
        self._check()
        budget_cpu_m, budget_memory_mib = request.budget_cpu_m, request.budget_memory_mib
        claimed: list[Claimed] = []
        for job_id, job in enumerate(self.jobs, 1):
            if len(claimed) == request.limit_jobs or self._is_full():
                break
            if job.is_over or job.owner is not None or job_id in self.cancelled:
                continue
            budget_cpu_m -= job.cpu_m
            budget_memory_mib -= job.memory_mib
            if claimed and (budget_cpu_m < 0 or budget_memory_mib < 0):
                break
            job.attempt += 1
            job.owner = incarnation_id
            claimed.append(self._claimed(job_id, job))
        self.claim_sizes.append(len(claimed))
        return claimed

    async def get_chunks(
        self, batch_ids: Sequence[int], chunk_firsts: Sequence[int]
    ) -> Mapping[tuple[int, int], bytes]:
        self._check()
        return {
            (batch, first): self.sign(encode_chunk([self.jobs[first - 1].spec]))
            for batch, first in zip(batch_ids, chunk_firsts, strict=True)
        }

    async def list_job_users(self, jobs: Sequence[tuple[int, int]]) -> Sequence[JobUser]:
        self._check()
        return [JobUser(batch, job, 1, 1, *self.submitter) for batch, job in jobs]

    async def home_tenant(self) -> str | None:
        self._check()
        return "local"

    async def get_secrets(
        self, incarnation_id: int, wanted: Sequence[tuple[AttemptKey, str]]
    ) -> Sequence[StoredSecret | None]:
        del incarnation_id
        self._check()
        row = SecretRow(1, 1, "")
        return [
            StoredSecret(row._replace(name=name), self.secrets.get(name)) for _, name in wanted
        ]

    async def find_files(
        self, incarnation_id: int, key: AttemptKey, wanted: Sequence[FileWanted]
    ) -> Sequence[FoundFile | None]:
        assert incarnation_id >= 0
        assert key.batch_id == BATCH
        known = {one.path: one for one in self.files}
        return [
            FoundFile(BATCH, 6, known[one.path].n_bytes, known[one.path].digest, None)
            if one.path in known
            else None
            for one in wanted
        ]

    async def find_stores(
        self, incarnation_id: int, key: AttemptKey, names: Sequence[str]
    ) -> Sequence[StoredFileStore | None]:
        del incarnation_id, key
        return [None for _ in names]

    async def record_products(
        self,
        incarnation_id: int,
        key: AttemptKey,
        products: Sequence[dict[str, Any]],
        *,
        inputs: Sequence[dict[str, Any]] | None,
    ) -> bool:
        assert incarnation_id >= 0
        assert key.batch_id == BATCH
        self.products += [(one, inputs) for one in products]
        return True

    async def record_files(
        self,
        incarnation_id: int,
        key: AttemptKey,
        files: Sequence[KeptFile],
        *,
        staging_ms: int,
        storing_ms: int,
    ) -> bool:
        assert incarnation_id >= 0
        assert key.batch_id == BATCH
        assert min(staging_ms, storing_ms) >= 0
        self.files += files
        return True

    async def get_payload_part(
        self, batch_id: int, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        del batch_id, digest, part
        self._check()
        await self.payloads.wait()
        return None

    async def get_app_part(
        self, batch_id: int, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        del batch_id, digest, part
        self._check()
        return None

    async def wait_for_work(self, incarnation_id: int) -> bool:
        del incarnation_id
        self._check()
        return not self._is_full() and any(
            not job.is_over and job.owner is None and job_id not in self.cancelled
            for job_id, job in enumerate(self.jobs, 1)
        )

    async def record_phases(
        self, incarnation_id: int, reports: Sequence[PhaseReport]
    ) -> Sequence[str]:
        del incarnation_id
        return ["ok" for _ in reports]

    async def record_progress(
        self, incarnation_id: int, reports: Sequence[ProgressReport]
    ) -> None:
        del incarnation_id
        self._check()
        self.progress.append([*reports])
        self._changed.set()

    async def start_attempts(
        self, incarnation_id: int, reports: Sequence[StartReport]
    ) -> Sequence[str]:
        del incarnation_id
        self._check()
        self.starts += reports
        self._changed.set()
        return ["ok" for _ in reports]

    async def ask_block(self, incarnation_id: int, key: AttemptKey, ask: Ask) -> bool:
        self._check()
        job = self.jobs[key.job_id - 1]
        assert (job.attempt, job.owner) == (key.attempt, incarnation_id)
        self.asks[key.job_id] = ask
        return True

    async def complete_attempts(
        self, incarnation_id: int, reports: Sequence[EndReport]
    ) -> Sequence[str]:
        self._check()
        verdicts = []
        for report in reports:
            job = self.jobs[report.job_id - 1]
            owned = job.owner == incarnation_id and job.attempt == report.attempt
            verdicts.append("ok" if owned else "stale")
            if owned:
                job.ends.append(report)
                job.owner = None
                job.is_over = report.reason is None or report.reason not in _AGAIN
        self._changed.set()
        if self.max_running is not None:
            self.notify("work", str(POOL))
        return verdicts

    async def claim_reserved(
        self, incarnation_id: int, request: ClaimRequest
    ) -> tuple[Sequence[Claimed], bool]:
        assert request.passes is not None  # this worker is not kept
        rest = replace(request, limit_jobs=1)
        first = next((job for job in self.jobs if not job.is_over and job.owner is None), None)
        fits = first is not None and first.cpu_m <= request.budget_cpu_m
        return (await self.claim_jobs(incarnation_id, rest) if fits else []), fits

    async def complete_and_claim(
        self, incarnation_id: int, reports: Sequence[EndReport], request: ClaimRequest
    ) -> tuple[Sequence[str], Sequence[Claimed]]:
        verdicts = await self.complete_attempts(incarnation_id, reports)
        claimed = await self.claim_jobs(incarnation_id, request)
        self.sets_with_claim.append(len(reports))
        return verdicts, claimed

    async def list_to_stop(
        self, incarnation_id: int, attempts: Sequence[tuple[int, int, int]]
    ) -> Sequence[tuple[int, int, int]]:
        del incarnation_id
        self._check()
        return [one for one in attempts if one[1] in self.cancelled]

    async def list_removed(self, batch_ids: Sequence[int]) -> Sequence[int]:
        self._check()
        return [one for one in batch_ids if one in self.removed]

    async def list_commands(
        self, incarnation_id: int, attempts: Sequence[tuple[int, int, int]]
    ) -> tuple[Sequence[Command], bool]:
        del incarnation_id
        self._check()
        live = {AttemptKey(*one) for one in attempts}
        return [one for one in self.commands if one.key in live], self.asks_again

    async def list_time_limits(
        self, attempts: Sequence[tuple[int, int, int]]
    ) -> Mapping[tuple[int, int, int], int]:
        self._check()
        return {one: self.limits_ms[one] for one in attempts if one in self.limits_ms}

    async def list_answers(self, attempts: Sequence[tuple[int, int, int]]) -> list[ParentAnswer]:
        del attempts
        return []

    async def note_avoided(self, incarnation_id: int, nodes: Sequence[AvoidedNode]) -> None:
        del incarnation_id
        self._check()
        self.avoided = [*nodes]
        self._changed.set()

    async def list_choices(
        self, batch_ids: Sequence[int]
    ) -> Mapping[int, Mapping[str, Sequence[str]]]:
        self._check()
        return {one: self.allowed[one] for one in batch_ids if one in self.allowed}

    async def acknowledge_commands(
        self, incarnation_id: int, obeyed: Sequence[tuple[int, AttemptKey, str]]
    ) -> None:
        del incarnation_id
        self._check()
        self.obeyed += [(number, refusal) for number, _, refusal in obeyed]
        told = {number for number, _, _ in obeyed}
        self.commands = [one for one in self.commands if one.number not in told]
        self._changed.set()

    async def list_ended_jobs(self, jobs: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        self._check()
        return [one for one in jobs if self.jobs[one[1] - 1].is_over]

    async def heartbeat(
        self,
        incarnation_id: int,
        attempts: Sequence[tuple[int, int, int]],
        *,
        draining: bool,
        claiming: bool = False,
        heard: Sequence[int] = (),
    ) -> HeartbeatAnswer:
        del incarnation_id, draining, claiming, heard
        self._check()
        self.heartbeats += 1
        self._changed.set()
        to_stop = [one for one in attempts if one[1] in self.cancelled]
        return HeartbeatAnswer(
            alive=not self.is_lost, to_stop=to_stop, has_work=True, drains=self.drains
        )

    async def finish_drain(self, incarnation_id: int) -> bool:
        self._check()
        is_over = self.drains and not any(job.owner == incarnation_id for job in self.jobs)
        self.drained += [incarnation_id] * is_over
        return is_over

    async def leave(self, incarnation_id: int) -> None:
        self._check()
        self.left.append(incarnation_id)

    # Notices

    async def listen(self, *channels: str) -> AsyncIterator[tuple[str, str]]:
        queue: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self._notices.append(queue)
        yield "", ""
        while True:
            channel, payload = await queue.get()
            if channel in channels:
                yield channel, payload

    def _is_full(self) -> bool:
        running = sum(job.owner is not None and not job.is_over for job in self.jobs)
        return self.max_running is not None and running >= self.max_running

    @staticmethod
    def _claimed(job_id: int, job: FakeJob) -> Claimed:
        return Claimed(
            batch_id=BATCH,
            job_id=job_id,
            attempt=job.attempt,
            cpu_m=job.cpu_m,
            memory_mib=job.memory_mib,
            storage_mib=0,
            gpu=0,
            chunk_first=job_id,
        )

    def _check(self) -> None:
        if self.is_away:
            self.refusals += 1
            self._changed.set()
            raise Unavailable("the store is away")
        if self.refuses_with is not None:
            raise self.refuses_with
