"""Actions on many batches, which are operations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from weft.api.calls.call import KEYED, Word, call
from weft.api.services import Services
from weft.api.use_cases import read
from weft.core.access.rights import Permission, Right
from weft.core.batch_actions import BatchAction, n_concerned
from weft.core.errors import BadId, FieldError, InvalidDocument, TooLarge
from weft.core.problems import pointing
from weft.core.query import Subject
from weft.ports.store import Caller, Origin, Row
from weft.submission.services import Answer
from weft.wire.answers.operations import Operation
from weft.wire.documents.batch_actions import BatchActionCount, BatchActionDocument


@dataclass(frozen=True)
class Choice:
    """The batches that an action would change."""

    rows: Sequence[Row]
    n_jobs: int
    """Of these batches, those that it concerns."""
    n_idle: int
    """Batches that were chosen, and in which there is nothing to do."""
    has_more: bool = False
    """Whether the query finds more than were counted."""


async def choose_batches(
    services: Services, caller: Caller, action: BatchAction, batch_ids: Sequence[int]
) -> Choice:
    """Count what an action would do to these batches. Raise `BatchNotFound`, or
    `PermissionMissing`, if one of them is not the caller's to change.
    """
    rows = [await read.get_batch(services, caller, one) for one in batch_ids]
    return _choice_of(rows, action)


async def choose_by_query(
    services: Services, caller: Caller, action: BatchAction, query: str | None
) -> Choice:
    """Count what an action would do to the batches that match, of which the newest
    `bulk_batches_max` are counted. Raise `BadQuery`, `QueryTooWide` or `QueryTooSlow`.
    """
    most = services.settings.bulk_batches_max
    wanted = read.BatchList(limit=most + 1, query=query)
    rows = await read.list_batches(services, caller, wanted)
    allowed = await services.store.list_allowed(caller, [int(row["id"]) for row in rows[:most]])
    own = [row for row in rows[:most] if row["id"] in allowed]
    return replace(_choice_of(own, action), has_more=len(rows) > most)


@call(
    "POST /v1/batch-actions",
    Right.WRITE,
    accepted=Operation,
    permission=Permission.EXECUTE,
    public=False,
    marks=KEYED,
)
async def begin_batch_action(
    services: Services, caller: Caller, document: BatchActionDocument, origin: Origin
) -> Answer:
    """Cancel, retry, hold or release batches, one after the other: those of a list, of which none
    may be anybody's whom the caller may not change, or all that match a query, but for batches
    that are created later. The reply is the operation that does so. Each batch is treated as by a
    request of its own at that moment. `result` counts what was done so far: `n_changed`; `n_idle`:
    there was nothing to do; `n_skipped`: the caller may not do it, for example, and `skipped` says
    by the code of the error how often.
    """
    if (document.query is None) == (document.batches is None):
        raise InvalidDocument(
            "an action names batches, or says which ones by a query",
            detail=f"The request does {'both' if document.batches else 'neither'}.",
            hint="Send `query` or `batches`.",
            errors=[FieldError("/query", "exactly one of query and batches is needed")],
        )
    if document.query is not None:
        with pointing(lambda _: "/query"):
            return await begin_by_query(services, caller, document.action, document.query, origin)
    batch_ids = sorted(set(document.batches or ()))
    return await begin_on_batches(services, caller, document.action, batch_ids, origin)


def _parse_action(word: str) -> BatchAction:
    if word not in set(BatchAction):
        raise BadId(word, expected=f"it is one of {', '.join(BatchAction)}")
    return BatchAction(word)


@call("GET /v1/batch-actions", Right.READ, BatchActionCount, permission=Permission.EXECUTE)
async def count_batch_action(
    services: Services,
    caller: Caller,
    action: Annotated[BatchAction, Word("action", _parse_action)],
    q: Annotated[str | None, Word("q")] = None,
) -> Answer:
    """Count what an action would do to the batches that match a query, or to all; nothing is
    done. At most the newest `bulk_batches_max` are counted, and `has_more` tells that there are
    more. Raise `BadQuery`.
    """
    chosen = await choose_by_query(services, caller, action, q)
    return {
        "action": action,
        "n_batches": len(chosen.rows),
        "n_jobs": chosen.n_jobs,
        "n_idle": chosen.n_idle,
        "has_more": chosen.has_more,
    }


async def begin_on_batches(
    services: Services,
    caller: Caller,
    action: BatchAction,
    batch_ids: Sequence[int],
    origin: Origin,
) -> Answer:
    """Begin to act on these batches; return the operation. There is none if one of the batches is
    not the caller's to change. Raise `TooLarge`, `BatchNotFound`, `PermissionMissing`.
    """
    most = services.settings.bulk_batches_max
    if len(batch_ids) > most:
        raise TooLarge(
            "the request names too many batches",
            detail=f"It names {len(batch_ids)}, at most {most} (setting bulk_batches_max).",
            hint="Choose them by a query.",
        )
    return await _begin(services, caller, {"action": action, "batches": batch_ids}, origin)


async def begin_by_query(
    services: Services, caller: Caller, action: BatchAction, query: str, origin: Origin
) -> Answer:
    """Begin to act on all batches that match, but for those that are created from now on; return
    the operation. Raise `BadQuery`.
    """
    read.parse(query, Subject.BATCHES, services.settings)  # refuses a wrong query now
    return await _begin(services, caller, {"action": action, "query": query}, origin)


async def _begin(services: Services, caller: Caller, arguments: Answer, origin: Origin) -> Answer:
    operation_id = await services.store.begin_batch_action(caller, arguments, origin)
    return dict(await services.store.get_operation(caller, operation_id))


def _choice_of(rows: Sequence[Row], action: BatchAction) -> Choice:
    counts = [n_concerned(action, row) for row in rows]
    concerned = [row for row, count in zip(rows, counts, strict=True) if count]
    return Choice(concerned, sum(counts), n_idle=len(rows) - len(concerned))
