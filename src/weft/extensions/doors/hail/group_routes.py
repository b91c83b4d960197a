"""Hail's routes of job groups."""

from typing import Final

from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Response, get, patch
from weft.api.use_cases import cancel, read
from weft.extensions.doors.hail.batch_documents import group_document
from weft.extensions.doors.hail.batch_routes import API, empty
from weft.extensions.doors.hail.refused import CANCELLED, READ
from weft.extensions.doors.hail.requests import (
    PAGE,
    Document,
    batch_of,
    last_of,
    number_of,
    query_of,
)
from weft.wire.documents.batches import CancelDocument

_GROUPS: Final = API + "/batches/{b:str}/job-groups"
_GROUP: Final = _GROUPS + "/{g:str}"
_MOST: Final = 2_000_000_000
ROOT: Final = 0


@get(_GROUP, **READ)
async def get_hail_group(request: AnyRequest) -> Response[bytes]:
    """Get a job group."""
    row = await read.get_group(
        services_of(request), caller_of(request), batch_of(request), number_of(request, "g")
    )
    return reply(group_document(row))


@patch(f"{_GROUP}/cancel", **CANCELLED)
async def cancel_hail_group(request: AnyRequest) -> Response[bytes]:
    """Cancel a job group; group 0 is the batch."""
    await cancel.cancel_group(
        services_of(request), caller_of(request), batch_of(request), number_of(request, "g"),
        CancelDocument(),
    )  # fmt: skip
    return empty()


@get(f"{_GROUP}/job-groups", **READ)
async def list_hail_groups_below(request: AnyRequest) -> Response[bytes]:
    """List the job groups directly below one."""
    return await _list(request, number_of(request, "g"))


@get(_GROUPS, **READ)
async def list_hail_groups(request: AnyRequest) -> Response[bytes]:
    """List the job groups directly below the root."""
    return await _list(request, ROOT)


async def _list(request: AnyRequest, group_id: int) -> Response[bytes]:
    after = last_of(query_of(request), "last_job_group_id") or 0
    rows = await read.list_child_groups(
        services_of(request), caller_of(request), batch_of(request), group_id,
        after=min(after, _MOST), limit=PAGE + 1,
    )  # fmt: skip
    answer: Document = {"job_groups": [group_document(row) for row in rows[:PAGE]]}
    if len(rows) > PAGE:
        answer["last_job_group_id"] = rows[PAGE - 1]["group_id"]
    return reply(answer)


ROUTES: Final = (get_hail_group, cancel_hail_group, list_hail_groups_below, list_hail_groups)
