"""`/v1/batches/{b}/jobs/{j}/permissions`: with whom one job is shared; `/v1/shared-jobs`: the jobs
that were shared with the caller.
"""

from litestar import Response, delete, get, put

from weft.api.http.paging import (
    INT_MAX,
    PAGE,
    cursor_of,
    cursor_text,
    limit_of,
    page,
    page_until,
    wrong_cursor,
)
from weft.api.http.parameters import Query
from weft.api.http.path_ids import batch_id_of, job_id_of, user_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.core.access.permissions import Permission
from weft.core.errors import BadId
from weft.core.ids import parse_job_ref
from weft.wire.answers.shared_jobs import SharedJob
from weft.wire.documents.batches import Empty
from weft.wire.documents.permissions import PermissionDocument, SharedJobWith

SHARED = "z"


@get("/v1/batches/{b:str}/jobs/{j:str}/permissions", opt={"page": SharedJobWith, "query": PAGE})
async def list_job_permissions(request: AnyRequest) -> Response[bytes]:
    """List the users with whom one job is shared, in the order of their numbers. Those who see its
    batch are not in the list.
    """
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_job_permissions(
        caller_of(request),
        batch_id_of(request),
        job_id_of(request),
        after=cursor_of(query, "p", most=INT_MAX) or 0,
        limit=limit,
    )
    return reply(page(rows, limit, "p", "user_id"))


@put(
    "/v1/batches/{b:str}/jobs/{j:str}/permissions/{user:str}",
    opt={"answer": SharedJobWith, "body": PermissionDocument},
)
async def share_job(request: AnyRequest) -> Response[bytes]:
    """Share one job with a user of the tenant, or let them do more or less than before. They see
    nothing of its batch and the other jobs.
    """
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    document = await read_document(request, PermissionDocument)
    return await _share(request, batch_id, job_id, Permission[document.permission.upper()])


@delete(
    "/v1/batches/{b:str}/jobs/{j:str}/permissions/{user:str}",
    status_code=200,
    opt={"answer": SharedJobWith, "body": Empty},
)
async def unshare_job(request: AnyRequest) -> Response[bytes]:
    """Share one job with a user no longer. What they may do with its batch stays."""
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    await read_document(request, Empty)
    return await _share(request, batch_id, job_id, None)


@get("/v1/shared-jobs", opt={"page": SharedJob, "query": PAGE})
async def list_shared_jobs(request: AnyRequest) -> Response[bytes]:
    """List single jobs that were shared with the caller, those of the newest batches first."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_shared_jobs(
        caller_of(request), before=_position(query), limit=limit
    )
    last = None
    if len(rows) == limit:
        last = f"b{rows[-1]['batch_id']}.j{rows[-1]['job_id']}"
    return reply(page_until(rows, SHARED, last))


def _position(query: Query) -> tuple[int, int] | None:
    text = cursor_text(query, SHARED)
    if text is None:
        return None
    try:
        return parse_job_ref(text)
    except BadId as error:
        raise wrong_cursor() from error


async def _share(
    request: AnyRequest, batch_id: int, job_id: int, permission: Permission | None
) -> Response[bytes]:
    store = services_of(request).store
    caller, user = caller_of(request), user_of(request)
    return reply(await store.share_job(caller, batch_id, job_id, user, permission))


ROUTES = (list_job_permissions, share_job, unshare_job, list_shared_jobs)
"""The routes of permissions on single jobs."""
