"""`/v1/batches/{b}/jobs/{j}/permissions`: with whom one job is shared; `/v1/shared-jobs`: the jobs
that were shared with the caller.
"""

from weft.api.http.paging import PAGE, cursor_text, limit_of, page_until, wrong_cursor
from weft.api.http.parameters import Query
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Response, get
from weft.core.errors import BadId
from weft.core.ids import parse_job_ref
from weft.wire.answers.shared_jobs import SharedJob

SHARED = "z"


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


ROUTES = (list_shared_jobs,)
"""The routes of permissions on single jobs."""
