"""What the parts of the agent share during one incarnation of the worker."""

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from weft.core.scheduling.lease import Budget
from weft.ports.store import Claimed, ClaimRequest, Registered
from weft.worker.agent.attempt_files import (
    BLOCKS,
    MESSAGES,
    PRODUCTS,
    PROGRESS,
    BlockFiles,
    MessageFiles,
    ProductFiles,
    ProgressFiles,
)
from weft.worker.agent.checkpoints import CheckpointTravel
from weft.worker.agent.environments import Environments
from weft.worker.agent.held import HeldAttempts
from weft.worker.agent.job_files import JobFiles
from weft.worker.agent.note_files import NoteFiles
from weft.worker.agent.outbox import Outbox
from weft.worker.agent.parts import ArgumentFiles, Folders
from weft.worker.agent.site import AgentSite, Fence

HINTS_MAX: Final = 64


class ClaimMemory:
    """Number the claims; remember which were answered and the positions they reached."""

    def __init__(self, live: Sequence[Claimed] = ()) -> None:
        self._calls = itertools.count(time.time_ns())
        """No earlier process has used these numbers."""
        self._under_way = 0
        self._heard: set[int] = set()
        self._last_jobs: dict[int, int] = {}
        self._given = {one.key for one in live}
        """What `take` has had, or registering: it is held already."""

    @contextmanager
    def asking(self, budget: Budget) -> Iterator[ClaimRequest]:
        """Make a claim within this block: heartbeats say meanwhile that one is under way."""
        with self.is_asking():
            yield ClaimRequest(
                budget_cpu_m=budget.cpu_m,
                budget_memory_mib=budget.memory_mib,
                limit_jobs=budget.jobs,
                call=next(self._calls),
                hints=self._last_jobs,
            )

    @contextmanager
    def is_asking(self) -> Iterator[None]:
        """Ask for claimed jobs within this block."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def note(self, request: ClaimRequest, claimed: Sequence[Claimed]) -> None:
        """Note the reply. The caller must hold the claimed jobs before another task runs, so that
        the next heartbeat lists them.
        """
        if claimed:
            self._heard.add(request.call)
        for one in claimed:
            if one.runnable_id:
                self._last_jobs.pop(one.runnable_id, None)
                self._last_jobs[one.runnable_id] = one.job_id
        while len(self._last_jobs) > HINTS_MAX:
            del self._last_jobs[next(iter(self._last_jobs))]

    def take(self, given: Sequence[tuple[int, Claimed]]) -> Sequence[Claimed]:
        """Return what the reply before did not have. Each is asked for after the one before, so
        what has left them does not come back. Hold it as after `note`.
        """
        before = self._given
        self._given = {one.key for _, one in given}
        self._heard.update(call for call, _ in given)
        return [one for _, one in given if one.key not in before]

    @property
    def is_claiming(self) -> bool:
        """Say whether a claim is under way."""
        return self._under_way > 0

    def heard(self) -> Sequence[int]:
        """Return the claims whose replies no heartbeat has confirmed yet."""
        return list(self._heard)

    def confirm(self, heard: Sequence[int]) -> None:
        """Forget claims that a heartbeat has confirmed."""
        self._heard.difference_update(heard)


@dataclass(frozen=True, kw_only=True)
class Incarnation:
    """One registration of this worker, and what it knows of its attempts."""

    site: AgentSite
    incarnation_id: int
    pool_id: int
    held: HeldAttempts
    outbox: Outbox
    """What happened to attempts and is not reported yet."""
    memory: ClaimMemory
    arguments: ArgumentFiles
    apps: Folders
    code: Folders
    environments: Environments
    block_files: BlockFiles
    message_files: MessageFiles
    products: ProductFiles
    progress: ProgressFiles
    notes: NoteFiles
    files: JobFiles
    checkpoints: CheckpointTravel
    fence: Fence


def incarnation_of(site: AgentSite, registered: Registered) -> Incarnation:
    """Begin an incarnation, without any attempts."""
    facts, block_files = site.facts, BlockFiles(site.scratch / BLOCKS)
    fence, incarnation_id = Fence(site.runner, site.fence), registered.incarnation_id
    held = HeldAttempts(cpu_m=facts.cpu_m, memory_mib=facts.memory_mib, slots=facts.slots)
    return Incarnation(
        site=site,
        incarnation_id=incarnation_id,
        pool_id=registered.pool_id,
        held=held,
        outbox=Outbox(block_files),
        memory=ClaimMemory(registered.live),
        arguments=ArgumentFiles(site.store, site.scratch / "arguments"),
        apps=Folders(site.store.get_app_part, site.scratch / "apps", "its application"),
        code=Folders(site.store.get_payload_part, site.scratch / "code", "its code"),
        environments=Environments(site, held),
        block_files=block_files,
        message_files=MessageFiles(site.scratch / MESSAGES),
        products=ProductFiles(site.scratch / PRODUCTS, site.settings, site.store, incarnation_id),
        progress=ProgressFiles(site.scratch / PROGRESS, site.store, incarnation_id),
        notes=NoteFiles(
            site.scratch / PROGRESS, site.store, incarnation_id, site.settings.note_bytes_per_s
        ),
        files=JobFiles(site.files, site.store, incarnation_id, site.scratch / "files", fence),
        checkpoints=CheckpointTravel(site.checkpoint_travel, held),
        fence=fence,
    )
