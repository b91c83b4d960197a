"""`/v1/batches/{b}/updates`: large submissions in several requests."""

from litestar import Response, get, post

from weft.api.http.creating import creating
from weft.api.http.path_ids import batch_id_of, update_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import Query, read_body
from weft.api.routes.v1.batches import created
from weft.api.services import AnyRequest, caller_of, services_of
from weft.api.use_cases.submit import Submission, update_document
from weft.wire.answers import GroupsAdded, JobsAdded, Update, UpdateCreated
from weft.wire.documents import Empty, GroupBunch, JobBunch, UpdateDocument


@post(
    "/v1/batches/{b:str}/updates",
    opt={"answer": UpdateCreated, "body": UpdateDocument, "creates": True},
)
async def create_update(request: AnyRequest) -> Response[bytes]:
    """Reserve numbers for jobs and groups, or submit jobs and groups at once."""
    Query(request, ())
    batch_id = batch_id_of(request)
    answer, is_new = await Submission(await creating(request)).create_update(batch_id)
    return created(answer, is_new=is_new)


@get("/v1/batches/{b:str}/updates/{u:str}", opt={"answer": Update})
async def get_update(request: AnyRequest) -> Response[bytes]:
    """Get what an update has reserved and whether it is committed."""
    Query(request, ())
    batch_id, update_id = batch_id_of(request), update_id_of(request)
    store = services_of(request).store
    reserved = await store.get_update(caller_of(request), batch_id, update_id)
    return reply(update_document(batch_id, reserved))


@post(
    "/v1/batches/{b:str}/updates/{u:str}/jobs",
    opt={"answer": JobsAdded, "body": JobBunch, "creates": True},
)
async def add_jobs(request: AnyRequest) -> Response[bytes]:
    """Add a bunch of jobs. A repeat of the same first job does nothing."""
    Query(request, ())
    batch_id, update_id = batch_id_of(request), update_id_of(request)
    answer, is_new = await Submission(await creating(request)).add_jobs(batch_id, update_id)
    return created(answer, is_new=is_new)


@post(
    "/v1/batches/{b:str}/updates/{u:str}/groups",
    opt={"answer": GroupsAdded, "body": GroupBunch, "creates": True},
)
async def add_groups(request: AnyRequest) -> Response[bytes]:
    """Add a bunch of tree groups. A repeat does nothing."""
    Query(request, ())
    batch_id, update_id = batch_id_of(request), update_id_of(request)
    answer, is_new = await Submission(await creating(request)).add_groups(batch_id, update_id)
    return created(answer, is_new=is_new)


@post("/v1/batches/{b:str}/updates/{u:str}/commit", opt={"answer": Update, "body": Empty})
async def commit_update(request: AnyRequest) -> Response[bytes]:
    """Make all jobs of an update visible and runnable. A repeat gets the same answer."""
    Query(request, ())
    batch_id, update_id = batch_id_of(request), update_id_of(request)
    (await read_body(request)).document(Empty)
    store = services_of(request).store
    reserved = await store.commit_update(caller_of(request), batch_id, update_id)
    return reply(update_document(batch_id, reserved))


ROUTES = (create_update, get_update, add_jobs, add_groups, commit_update)
