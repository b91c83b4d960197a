"""`/v1/batches/{b}/updates`: large submissions in several requests."""

from weft.api.http.parameters import batch_id_of, update_id_of
from weft.api.http.problem_documents import created, reply
from weft.api.http.requests import AnyRequest, read_document, read_submission
from weft.api.http.routing import Response, get, post
from weft.core.access.rights import Right
from weft.submission import submit
from weft.wire.answers.batches import GroupsAdded, JobsAdded, Update, UpdateCreated
from weft.wire.documents.batches import Empty, GroupBunch, JobBunch, UpdateDocument


@post(
    "/v1/batches/{b:str}/updates",
    Right.WRITE,
    opt={"answer": UpdateCreated, "body": UpdateDocument, "creates": True},
)
async def create_update(request: AnyRequest) -> Response[bytes]:
    """Reserve numbers for jobs and groups, or submit jobs and groups in one request."""
    batch_id = batch_id_of(request)
    document, origin = await read_submission(request, UpdateDocument)
    answer, is_new = await submit.create_update(
        request.services, request.caller, batch_id, document, origin
    )
    return created(answer, is_new=is_new)


@get("/v1/batches/{b:str}/updates/{u:str}", Right.READ, opt={"answer": Update})
async def get_update(request: AnyRequest) -> Response[bytes]:
    """Get what an update has reserved and whether it is committed."""
    batch_id, update_id = batch_id_of(request), update_id_of(request)
    return reply(await submit.get_update(request.services, request.caller, batch_id, update_id))


@post(
    "/v1/batches/{b:str}/updates/{u:str}/jobs",
    Right.WRITE,
    opt={"unrecorded": True, "answer": JobsAdded, "body": JobBunch, "creates": True},
)
async def add_jobs(request: AnyRequest) -> Response[bytes]:
    """Add a bunch of jobs. A repeat with the same first job does nothing."""
    batch_id, update_id = batch_id_of(request), update_id_of(request)
    document, origin = await read_submission(request, JobBunch)
    answer, is_new = await submit.add_jobs(
        request.services, request.caller, batch_id, update_id, document, origin
    )
    return created(answer, is_new=is_new)


@post(
    "/v1/batches/{b:str}/updates/{u:str}/groups",
    Right.WRITE,
    opt={"unrecorded": True, "answer": GroupsAdded, "body": GroupBunch, "creates": True},
)
async def add_groups(request: AnyRequest) -> Response[bytes]:
    """Add a bunch of groups. A repeat does nothing."""
    batch_id, update_id = batch_id_of(request), update_id_of(request)
    document, origin = await read_submission(request, GroupBunch)
    answer, is_new = await submit.add_groups(
        request.services, request.caller, batch_id, update_id, document, origin
    )
    return created(answer, is_new=is_new)


@post(
    "/v1/batches/{b:str}/updates/{u:str}/commit",
    Right.WRITE,
    opt={"answer": Update, "body": Empty},
)
async def commit_update(request: AnyRequest) -> Response[bytes]:
    """Make all jobs of an update visible and runnable. A repeat gets the same answer."""
    batch_id, update_id = batch_id_of(request), update_id_of(request)
    await read_document(request, Empty)
    return reply(await submit.commit_update(request.services, request.caller, batch_id, update_id))
