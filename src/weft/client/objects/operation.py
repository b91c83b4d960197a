"""Waiting for operations that the server runs in the background."""

from collections.abc import Sequence

from weft.client.api import Api, has_ended, is_of_operation
from weft.client.http.listing import Document
from weft.client.http.problems import to_error
from weft.client.http.sse import ServerEvent
from weft.client.progress import Progress
from weft.client.waiting import last_of

_ENDS = frozenset({"operation.success", "operation.failed", "operation.cancelled"})


async def end_of(api: Api, operation: Document, shown: Progress) -> Document:
    """Wait until an operation has ended; return its result, or raise the error that ended it."""
    operation_id, batch_id = int(operation["id"]), operation["batch_id"]

    def note(document: Document) -> None:
        shown.advance_to(document["done"], document["total"])

    # Steps cause events of their own; without a progress bar only the end matters.
    of_progress = None if batch_id is not None else is_of_operation
    watched = api.watch(
        batch_id,
        lambda: api.get_operation(operation_id),
        is_last=has_ended,
        wanted=of_progress if shown.is_shown else _is_end,
    )
    document = await last_of(watched, note)
    if document["state"] == "failed":
        raise to_error(0, document["error"])
    result: Document = document["result"]
    return result


async def retried(
    api: Api,
    batch_id: int,
    q: str | None = None,
    *,
    jobs: Sequence[int] | None = None,
    group: int | None = None,
    cause: str | None = None,
    title: str,
    shown: bool | None,
) -> int:
    """Retry jobs, and wait until they run again; return how many."""
    operation = await api.retry_batch(batch_id, q, jobs=jobs, group=group, cause=cause)
    with Progress(f"{title} retry", shown=shown) as bar:
        result = await end_of(api, operation, bar)
    return int(result["n_retried"])


def _is_end(event: ServerEvent) -> bool:
    return event.kind in _ENDS
