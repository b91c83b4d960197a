"""`/v1/batches/{b}/…/why`: why jobs wait, or what became of them."""

from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.path_ids import batch_id_of, group_of, job_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.use_cases import why
from weft.wire.answers.why import GroupWhy, JobWhy

ROOT = 0


@get("/v1/batches/{b:str}/jobs/{j:str}/why", opt={"answer": JobWhy})
async def why_job(request: AnyRequest) -> Response[bytes]:
    """Say why a job waits: all causes, what is first to change first, each with the command that
    changes it. Of a job that runs or has ended, say where and since when it runs, or how it ended.
    """
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    return reply(await why.why_job(services_of(request), caller_of(request), batch_id, job_id))


@get("/v1/batches/{b:str}/why", opt={"answer": GroupWhy})
async def why_batch(request: AnyRequest) -> Response[bytes]:
    """Say why jobs of a batch wait. A few stand for the others, so it takes the same time however
    many there are.
    """
    Query(request, ())
    batch_id = batch_id_of(request)
    return reply(await why.why_group(services_of(request), caller_of(request), batch_id, ROOT))


@get("/v1/batches/{b:str}/groups/{g:str}/why", opt={"answer": GroupWhy})
async def why_group(request: AnyRequest) -> Response[bytes]:
    """Say why jobs of a group wait, as for a batch."""
    Query(request, ())
    services, batch_id = services_of(request), batch_id_of(request)
    return reply(await why.why_group(services, caller_of(request), batch_id, group_of(request)))


ROUTES = (why_job, why_batch, why_group)
