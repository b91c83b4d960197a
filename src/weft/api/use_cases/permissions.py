"""With whom batches and single jobs are shared."""

from collections.abc import Sequence

from weft.api.calls.call import Cursor, call
from weft.api.calls.path_ids import BatchId, JobId, UserName
from weft.api.services import Services
from weft.core.access.rights import Permission, Right
from weft.core.bounds import INT_MAX
from weft.core.ids import parse_job_ref
from weft.ports.store import Caller, Row
from weft.wire.answers.permissions import SharedJob
from weft.wire.documents.permissions import PermissionDocument, SharedJobWith, SharedWith

_BATCH = "/v1/batches/{b}/permissions"
_JOB = "/v1/batches/{b}/jobs/{j}/permissions"


@call(
    f"GET {_BATCH}",
    Right.READ,
    page=SharedWith,
    cursor=Cursor("p", "user_id", INT_MAX),
    public=False,
)
async def list_permissions(
    services: Services, caller: Caller, batch_id: BatchId, *, after: int, limit: int
) -> Sequence[Row]:
    """Return the users with whom a batch is shared, in the order of their numbers. Its owner and
    the members of its billing project may do everything and are not in the list.
    """
    return await services.store.list_permissions(caller, batch_id, after=after, limit=limit)


@call(f"PUT {_BATCH}/{{user}}", Right.WRITE, SharedWith, permission=Permission.ALL, public=False)
async def share_batch(
    services: Services,
    caller: Caller,
    batch_id: BatchId,
    user: UserName,
    document: PermissionDocument,
) -> Row:
    """Share a batch with a user of the tenant, or change what they may. Raise `UserNotFound`."""
    permission = Permission[document.permission.upper()]
    return await services.store.share_batch(caller, batch_id, user, permission)


@call(
    f"DELETE {_BATCH}/{{user}}", Right.WRITE, SharedWith, permission=Permission.ALL, public=False
)
async def unshare_batch(
    services: Services, caller: Caller, batch_id: BatchId, user: UserName
) -> Row:
    """Share a batch with a user no longer. What they may do as its owner or as a member of its
    billing project stays. Raise `UserNotFound`.
    """
    return await services.store.share_batch(caller, batch_id, user, None)


@call(
    f"GET {_JOB}",
    Right.READ,
    page=SharedJobWith,
    cursor=Cursor("p", "user_id", INT_MAX),
    public=False,
)
async def list_job_permissions(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, *, after: int, limit: int
) -> Sequence[Row]:
    """Return the users with whom one job is shared, in the order of their numbers. Those who see
    its batch are not in the list.
    """
    store = services.store
    return await store.list_job_permissions(caller, batch_id, job_id, after=after, limit=limit)


@call(f"PUT {_JOB}/{{user}}", Right.WRITE, SharedJobWith, permission=Permission.ALL, public=False)
async def share_job(
    services: Services,
    caller: Caller,
    batch_id: BatchId,
    job_id: JobId,
    user: UserName,
    document: PermissionDocument,
) -> Row:
    """Share one job with a user of the tenant, or let them do more or less than before. They see
    nothing of its batch and the other jobs. Raise `UserNotFound`.
    """
    permission = Permission[document.permission.upper()]
    return await services.store.share_job(caller, batch_id, job_id, user, permission)


@call(
    f"DELETE {_JOB}/{{user}}", Right.WRITE, SharedJobWith, permission=Permission.ALL, public=False
)
async def unshare_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, user: UserName
) -> Row:
    """Stop sharing one job with a user; its batch stays shared. Raise `UserNotFound`."""
    return await services.store.share_job(caller, batch_id, job_id, user, None)


@call(
    "GET /v1/shared-jobs",
    Right.READ,
    page=SharedJob,
    cursor=Cursor("z", "b{batch_id}.j{job_id}", parse=parse_job_ref),
)
async def list_shared_jobs(
    services: Services, caller: Caller, *, before: tuple[int, int] | None, limit: int
) -> Sequence[Row]:
    """List single jobs that were shared with the caller, those of the newest batches first."""
    return await services.store.list_shared_jobs(caller, before=before, limit=limit)
