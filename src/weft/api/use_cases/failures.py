"""Jobs that failed for good: why, which, and acknowledged by a person."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Final

from weft.api.calls.call import Cursor, Word, call
from weft.api.calls.path_ids import BatchId, parse_cause
from weft.api.services import Services
from weft.core.access.rights import Permission, Right
from weft.core.bounds import INT_MAX
from weft.core.errors import BadId, InvalidValue
from weft.core.ids import parse_batch_id
from weft.core.problems import Problems
from weft.core.states import Reason
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.failures import Acknowledged, DeadLetter, Failures
from weft.wire.documents.failures import ACKNOWLEDGED_MAX, AcknowledgeDocument

Place = tuple[int, int, int]
"""Batch, cause and job after which a list of dead letters goes on."""
PLACE: Final = "{batch_id}.{cause}.{job_id}"
_REASONS: Final = {reason.word: reason for reason in Reason}


@call("GET /v1/batches/{b}/failures", Right.READ, Failures, public=False)
async def list_causes(
    services: Services, caller: Caller, batch_id: BatchId, *, all_: bool, limit: int | None
) -> Row:
    """List why jobs of a batch failed for good, the most frequent causes first. `all`: also causes
    of which all jobs are acknowledged.
    """
    limit = limit or services.settings.page_rows
    return await services.store.list_causes(caller, batch_id, show_all=all_, limit=limit)


def parse_place(text: str) -> Place:
    """Read after what a list of dead letters goes on, as `PLACE` writes it. Raise `BadId`."""
    key = re.fullmatch(r"([0-9]{1,18})\.([0-9a-f]{12})\.([0-9]{1,10})", text)
    if key is None or int(key[3]) > INT_MAX:
        raise BadId(text, expected="a place is a batch, a cause and a job")
    return int(key[1]), int(key[2], 16), int(key[3])


def _parse_reason(word: str) -> Reason:
    if word not in _REASONS:
        raise BadId(word, expected=f"{word[:40]!r} is not one of {', '.join(_REASONS)}")
    return _REASONS[word]


@call(
    "GET /v1/dead-letters",
    Right.READ,
    page=DeadLetter,
    cursor=Cursor("f", PLACE, parse=parse_place),
)
async def list_dead_letters(
    services: Services,
    caller: Caller,
    batch_id: Annotated[int | None, Word("batch", parse_batch_id)] = None,
    *,
    after: Place | None,
    limit: int,
    cause: Annotated[str | None, Word("cause", parse_cause)] = None,
    reason: Annotated[Reason | None, Word("reason", _parse_reason)] = None,
    acknowledged: Annotated[bool, Word("acknowledged")] = False,
) -> Sequence[Row]:
    """List jobs that have failed and are not tried again, of the newest batch first, then by
    cause. `batch`, `cause`, `reason`: only these; `acknowledged=true`: those that a person has
    acknowledged, instead of the others.
    """
    rows = await services.store.list_dead_letters(
        caller,
        limit=limit,
        batch_id=batch_id,
        reason=reason,
        acknowledged=acknowledged,
        cause_id=None if cause is None else int(cause, 16),
        after=after,
    )
    return [{name: row[name] for name in row if name != "cause_id"} for row in rows]


@call(
    "POST /v1/batches/{b}/failures/acknowledge",
    Right.WRITE,
    Acknowledged,
    permission=Permission.EXECUTE,
    client="",
)
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
