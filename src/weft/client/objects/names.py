"""Batches and jobs by what a person calls them: `b42`, `b42.j7`, `nightly`, `nightly.j7`."""

from weft.client.api import Api
from weft.client.http.listing import Document
from weft.core.errors import BadId, NotFound
from weft.core.ids import format_batch_id, parse_batch_id, parse_job_id, parse_job_ref


class BatchNumber(int):
    """The number of a batch, which is shown as commands write it: `b42`. It is 42 in sums, in
    documents and within an f-string.
    """

    def __repr__(self) -> str:
        return format_batch_id(int(self))

    __str__ = __repr__

    def __format__(self, form: str) -> str:
        return format(int(self), form)


class NoBatchOfName(NotFound, code="CLIENT.NO_BATCH_OF_NAME"):
    """No batch has this name."""


async def newest_batch(api: Api, name: str) -> Document | None:
    """Return the newest batch of exactly this name."""
    page = await api.list_batches(name=name, hidden=True, page_rows=1).next_page()
    return page[0] if page else None


async def batch_called(api: Api, text: str | int) -> int:
    """Return the number of a batch. Raise `NoBatchOfName`."""
    if isinstance(text, int):
        return int(text)
    try:
        return parse_batch_id(text)
    except BadId:
        found = await newest_batch(api, text)
    if found is None:
        raise NoBatchOfName(f"no batch is named {text[:80]!r}", hint="`weft ls` lists batches.")
    return int(found["id"])


async def job_called(api: Api, text: str) -> tuple[int, int]:
    """Return the numbers of batch and job. Raise `BadId`, `NoBatchOfName`."""
    batch, dot, job = text.rpartition(".")
    try:
        return parse_job_ref(text)
    except BadId:
        if not dot or not job.startswith("j"):
            raise
    return await batch_called(api, batch), parse_job_id(job)
