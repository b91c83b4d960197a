"""Jobs that failed for good: why, which, and acknowledged by a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId
from weft.api.services import Services
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right
from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.core.states import Reason
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import get_logger
from weft.wire.answers.failures import Acknowledged
from weft.wire.documents.failures import ACKNOWLEDGED_MAX, AcknowledgeDocument

log = get_logger()


@dataclass(frozen=True, kw_only=True)
class DeadLetterList:
    """Which failed jobs to list."""

    limit: int
    batch_id: int | None = None
    cause: str | None = None
    reason: Reason | None = None
    acknowledged: bool = False
    after: tuple[int, int, int] | None = None
    """Batch, cause and job after which the list goes on."""


async def list_causes(
    services: Services, caller: Caller, batch_id: int, *, show_all: bool, limit: int
) -> Row:
    """Return why jobs of a batch failed."""
    return await services.store.list_causes(caller, batch_id, show_all=show_all, limit=limit)


async def list_dead_letters(
    services: Services, caller: Caller, wanted: DeadLetterList
) -> Sequence[Row]:
    """Return failed jobs, of the newest batch first."""
    return await services.store.list_dead_letters(
        caller,
        limit=wanted.limit,
        batch_id=wanted.batch_id,
        cause_id=None if wanted.cause is None else int(wanted.cause, 16),
        reason=wanted.reason,
        acknowledged=wanted.acknowledged,
        after=wanted.after,
    )


@call(
    "POST /v1/batches/{b}/failures/acknowledge", Right.WRITE, Acknowledged,
    permission=Permission.EXECUTE, client="",
)  # fmt: skip
async def acknowledge(
    services: Services, caller: Caller, batch_id: BatchId, document: AcknowledgeDocument
) -> Answer:
    """Acknowledge failed jobs of a batch: they leave the list of dead letters, and the note stays
    in their history. At most 5,000 jobs leave it per request: repeat it with the `until` of the
    answer until there are none. Raise `InvalidDocument`.
    """
    if document.cause is not None and document.jobs is not None:
        problems = Problems()
        problems.add(InvalidValue, "/jobs", "give a cause or jobs, not both")
        problems.raise_any()
    until = document.until or datetime.now(UTC)
    n_jobs = await services.store.acknowledge_failures(
        caller,
        batch_id,
        cause_id=None if document.cause is None else int(document.cause, 16),
        job_ids=document.jobs,
        note=document.note,
        until=until,
        limit=ACKNOWLEDGED_MAX,
    )
    if n_jobs:
        log.info("failures.acknowledged", batch=batch_id, jobs=n_jobs, user=caller.user_name)
    return {"batch_id": batch_id, "n_jobs": n_jobs, "until": until}
