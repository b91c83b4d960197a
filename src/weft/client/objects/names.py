"""Batches and jobs by what a person calls them: `b42`, `b42.j7`, `nightly`, `nightly.j7`."""

import json
from contextlib import suppress

from weft.client.api import Api
from weft.client.http.calls import Document
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


class NoJobOfName(NotFound, code="CLIENT.NO_JOB_OF_NAME"):
    """No job of the batch, or more than one, has this name."""


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
    """Return the numbers of batch and job; a job is called by its number or its name. Raise
    `BadId`, `NoBatchOfName`, `NoJobOfName`.
    """
    with suppress(BadId):
        return parse_job_ref(text)
    if "." not in text:
        raise BadId(text, expected="a job is written b12.j7, or by its name nightly.align")
    for batch, _, job in (text.rpartition("."), text.partition(".")):  # names may have dots
        with suppress(NoBatchOfName):
            return await _job_of(api, await batch_called(api, batch), job)
    raise NoBatchOfName(f"no batch is named {batch[:80]!r}", hint="`weft ls` lists batches.")


async def _job_of(api: Api, batch_id: int, job: str) -> tuple[int, int]:
    with suppress(BadId):
        return batch_id, parse_job_id(job)
    query = f"name = {json.dumps(job, ensure_ascii=False)}"
    found = await api.list_jobs(batch_id, query, page_rows=2).next_page()
    if len(found) == 1:
        return batch_id, int(found[0]["job_id"])
    how_many = "several jobs" if found else "no job"
    name = format_batch_id(batch_id)
    raise NoJobOfName(
        f"{name} has {how_many} named {job[:80]!r}", hint=f"`weft jobs {name}` lists its jobs."
    )
