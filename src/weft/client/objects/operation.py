"""Waiting for operations that the server runs in the background."""

from collections.abc import Sequence

from weft.client.answer import Answer
from weft.client.api import Api
from weft.client.http.calls import Document
from weft.client.http.problems import to_error
from weft.client.http.sse import ServerEvent
from weft.client.progress_bar import Progress
from weft.client.waiting import last_of

_ENDS = frozenset({"operation.success", "operation.failed", "operation.cancelled"})


async def end_of(
    api: Api, operation: Document, title: str, *, shown: bool | None = None
) -> Answer:
    """Wait until an operation has ended; return its result, or raise the error that ended it.
    `shown`: with a bar, as of `Progress`.
    """
    operation_id, batch_id = int(operation["id"]), operation["batch_id"]
    with Progress(title, shown=shown) as bar:
        # Steps cause events of their own; without a progress bar only the end matters.
        of_progress = None if batch_id is not None else _is_of_operation
        watched = api.watch(
            batch_id,
            lambda: api.get_operation(operation_id),
            is_last=lambda document: bool(document["state"] != "running"),
            wanted=of_progress if bar.is_shown else _is_end,
        )
        document = await last_of(
            watched, lambda document: bar.advance_to(document["done"], document["total"])
        )
    if document["state"] == "failed":
        raise to_error(0, document["error"])
    return Answer(document["result"])


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
    result = await end_of(api, operation, f"{title} retry", shown=shown)
    return int(result["n_retried"])


def _is_of_operation(event: ServerEvent) -> bool:
    return event.kind.startswith("operation.")


def _is_end(event: ServerEvent) -> bool:
    return event.kind in _ENDS
