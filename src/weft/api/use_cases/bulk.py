"""Cancel, retry, hold or release many batches: those of a list, or those that a query finds."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

from weft.api.services import Origin, Services
from weft.api.use_cases import cancel, hold, read, release, retry
from weft.core.errors import BatchCancelled, BatchNotFound, PermissionMissing
from weft.ports.store import ACTION, Caller, Row
from weft.wire.documents import CancelDocument
from weft.wire.repeat_documents import RetryJobsDocument

ROOT_GROUP: Final = 0


@dataclass(frozen=True)
class Kind:
    """What is done to each batch."""

    concerns: Callable[[Row], int]
    """How many jobs of a batch it concerns; a batch of 0 is left as it is."""
    act: Callable[[Services, Caller, int, str], Awaitable[object]]
    """Do it to a batch, with a trace id."""


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
    services: Services, caller: Caller, action: str, batch_ids: Sequence[int]
) -> Choice:
    """Count what an action would do to these batches. Raise `BatchNotFound`, or
    `PermissionMissing`, if one of them is not the caller's to change.
    """
    rows = [await read.get_batch(services, caller, one) for one in batch_ids]
    return _choice_of(rows, action)


async def choose_by_query(
    services: Services, caller: Caller, action: str, query: str | None
) -> Choice:
    """Count what an action would do to the batches that match, of which it takes the newest
    `bulk_batches_max`. Raise `BadQuery`, `QueryTooWide` or `QueryTooSlow`.
    """
    most = services.settings.bulk_batches_max
    wanted = read.BatchList(limit=most + 1, query=query)
    rows = await read.list_batches(services, caller, wanted)
    own = [row for row in rows[:most] if await _may_change(services, caller, row)]
    return replace(_choice_of(own, action), has_more=len(rows) > most)


async def change_batches(
    services: Services, caller: Caller, action: str, batch_ids: Sequence[int], trace_id: str
) -> int:
    """Do it to each of these batches that it concerns; return to how many. Nothing is changed if
    one of them is not the caller's to change: see `choose_batches`. Each batch is changed, and
    recorded in the trail, by itself: if the server stops, the rest is as it was.
    """
    chosen = await choose_batches(services, caller, action, batch_ids)
    recorded, n_changed = ACTION.get(), 0
    for row in chosen.rows:
        batch_id = int(row["id"])
        entry = recorded and replace(recorded, batch_id=batch_id, request_id=uuid4())
        before = ACTION.set(entry)
        try:
            await KINDS[action].act(services, caller, batch_id, trace_id)
            n_changed += 1
        except (BatchCancelled, BatchNotFound):
            pass  # somebody has cancelled or deleted it meanwhile: there is nothing left to do
        finally:
            ACTION.reset(before)
    return n_changed


async def _may_change(services: Services, caller: Caller, row: Row) -> bool:
    """Say whether the caller may do to a batch what the request is for, and not only see it."""
    if caller.sees_tenant or row["user"] == caller.user_name:
        return True
    try:
        await read.get_batch(services, caller, int(row["id"]))
    except (PermissionMissing, BatchNotFound):
        return False
    return True


def _choice_of(rows: Sequence[Row], action: str) -> Choice:
    counts = [KINDS[action].concerns(row) for row in rows]
    concerned = [row for row, count in zip(rows, counts, strict=True) if count]
    return Choice(concerned, sum(counts), n_idle=len(rows) - len(concerned))


def _left(row: Row) -> int:
    return int(row["n_jobs"] - row["n_completed"])


def _cancellable(row: Row) -> int:
    return 0 if row["cancelled"] else _left(row)


def _holdable(row: Row) -> int:
    return 0 if row["held"] else _left(row)


def _releasable(row: Row) -> int:
    return _left(row) if row["held"] else 0


def _retryable(row: Row) -> int:
    if row["cancelled"] and row["cancel_after_n_failures"] is None:
        return 0  # what a person has cancelled does not run again
    return int(row["n_failed"] + row["n_errored"])


async def _cancel(services: Services, caller: Caller, batch_id: int, _: str) -> object:
    return await cancel.cancel_batch(services, caller, batch_id, CancelDocument())


async def _hold(services: Services, caller: Caller, batch_id: int, _: str) -> object:
    return await hold.hold_group(services, caller, batch_id, ROOT_GROUP)


async def _release(services: Services, caller: Caller, batch_id: int, _: str) -> object:
    return await release.release_group(services, caller, batch_id, ROOT_GROUP)


async def retry_failed(services: Services, caller: Caller, batch_id: int, trace_id: str) -> object:
    """Begin to run the failed jobs of a batch again."""
    origin = Origin(digest=b"", trace_id=trace_id)
    return await retry.retry_jobs(
        services, caller, batch_id, RetryJobsDocument(), origin,
        query=None, within=None, cause=None,
    )  # fmt: skip


KINDS: Final[Mapping[str, Kind]] = {
    "hold": Kind(_holdable, _hold),
    "release": Kind(_releasable, _release),
    "retry": Kind(_retryable, retry_failed),
    "cancel": Kind(_cancellable, _cancel),
}
"""By the words of the command line."""
