"""Hail's routes for old clients, which add jobs to a batch without updates and then close it."""

from contextlib import suppress
from typing import Final

from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, patch, post
from weft.core.errors import UpdateNotFound
from weft.extensions.doors.hail import submissions
from weft.extensions.doors.hail.batch_routes import API, empty
from weft.extensions.doors.hail.options import ADDED, WRITTEN
from weft.extensions.doors.hail.requests import batch_of, read_list

_BATCH: Final = API + "/batches/{b:str}"


@post(f"{_BATCH}/jobs/create", **ADDED)
async def add_hail_batch_jobs(request: AnyRequest) -> Response[bytes]:
    """Add a bunch of jobs to the first update of a batch."""
    update = await submissions.open_update(request, batch_of(request), submissions.FIRST)
    await submissions.add_jobs(request, update, await read_list(request, "jobs"))
    return empty()


@patch(f"{_BATCH}/close", **WRITTEN)
async def close_hail_batch(request: AnyRequest) -> Response[bytes]:
    """Commit the first update of a batch, if it has one."""
    batch_id = batch_of(request)
    await submissions.own(request, batch_id)
    with suppress(UpdateNotFound):
        await submissions.commit(request, batch_id, submissions.FIRST)
    return empty()


ROUTES: Final = (add_hail_batch_jobs, close_hail_batch)
