"""What the parts of the agent share during one incarnation of the worker."""

from dataclasses import dataclass

from weft.ports.store import Registered
from weft.worker.agent.attempt_files import (
    BLOCKS,
    PRODUCTS,
    PROGRESS,
    BlockFiles,
    ProductFiles,
    ProgressFiles,
)
from weft.worker.agent.checkpoint_travel import CheckpointTravel
from weft.worker.agent.claim_memory import ClaimMemory
from weft.worker.agent.environments import Environments
from weft.worker.agent.held import HeldAttempts
from weft.worker.agent.job_files import JobFiles
from weft.worker.agent.message_files import MESSAGES, MessageFiles
from weft.worker.agent.outbox import Outbox
from weft.worker.agent.parts import ArgumentFiles, Folders
from weft.worker.agent.site import AgentSite


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
    files: JobFiles
    checkpoints: CheckpointTravel


def incarnation_of(site: AgentSite, registered: Registered) -> Incarnation:
    """Begin an incarnation, without any attempts."""
    facts, block_files = site.facts, BlockFiles(site.scratch / BLOCKS)
    held = HeldAttempts(cpu_m=facts.cpu_m, memory_mib=facts.memory_mib, slots=facts.slots)
    return Incarnation(
        site=site,
        incarnation_id=registered.incarnation_id,
        pool_id=registered.pool_id,
        held=held,
        outbox=Outbox(block_files),
        memory=ClaimMemory(),
        arguments=ArgumentFiles(site.store, site.scratch / "arguments"),
        apps=Folders(site.store.get_app_part, site.scratch / "apps", "its application"),
        code=Folders(site.store.get_payload_part, site.scratch / "code", "its code"),
        environments=Environments(site, held),
        block_files=block_files,
        message_files=MessageFiles(site.scratch / MESSAGES),
        products=ProductFiles(
            site.scratch / PRODUCTS, site.settings, site.store, registered.incarnation_id
        ),
        progress=ProgressFiles(site.scratch / PROGRESS, site.store, registered.incarnation_id),
        files=JobFiles(site.files, site.store, registered.incarnation_id, site.scratch / "files"),
        checkpoints=CheckpointTravel(site.checkpoint_travel, held),
    )
