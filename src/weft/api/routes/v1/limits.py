"""`/v1/limits`: how much projects, users, batches and groups may use, in money and in hours."""

from litestar import Response, get, patch

from weft.api.http.paging import INT_MAX, PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.path_ids import batch_id_of, group_of, project_of, user_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import limits
from weft.core.errors import BadId
from weft.core.ids import parse_batch_id
from weft.ports.store.spending import Limited
from weft.wire.documents.limits import LimitEdit, UseLimit

LIMITS = (*PAGE, "batch")


@get("/v1/limits", opt={"page": UseLimit, "query": LIMITS})
async def list_limits(request: AnyRequest) -> Response[bytes]:
    """List limits, what was used of them, and when they are reached; for somebody who does not see
    the tenant's batches, their own, those of their billing projects and of batches that they see.
    `batch`: only those of this batch, its groups, its billing project and its user.
    """
    query = Query(request, LIMITS)
    services, text = services_of(request), query.text("batch")
    try:
        batch_id = None if text is None else parse_batch_id(text)
    except BadId as error:
        raise wrong_parameter("batch", "a batch is written as b12 or 12") from error
    limit = limit_of(query, services.settings)
    rows = await services.store.list_limits(
        caller_of(request),
        batch_id,
        after=cursor_of(query, "limit", most=INT_MAX) or 0,
        limit=limit,
    )
    return reply(page(rows, limit, "limit", "id"))


@patch("/v1/billing-projects/{p:str}/limit", opt={"answer": UseLimit, "body": LimitEdit})
async def set_project_limit(request: AnyRequest) -> Response[bytes]:
    """Change how much the batches of a billing project may use together."""
    return await _set(request, Limited("project", project_of(request)))


@patch("/v1/users/{user:str}/limit", opt={"answer": UseLimit, "body": LimitEdit})
async def set_user_limit(request: AnyRequest) -> Response[bytes]:
    """Change how much the batches of a user may use together, whoever pays."""
    return await _set(request, Limited("user", user_of(request)))


@patch("/v1/batches/{b:str}/limit", opt={"answer": UseLimit, "body": LimitEdit})
async def set_batch_limit(request: AnyRequest) -> Response[bytes]:
    """Change how much a batch may use."""
    return await _set(request, Limited("group", None, batch_id_of(request)))


@patch("/v1/batches/{b:str}/groups/{g:str}/limit", opt={"answer": UseLimit, "body": LimitEdit})
async def set_group_limit(request: AnyRequest) -> Response[bytes]:
    """Change how much the jobs of a group may use, with those of groups below it."""
    return await _set(request, Limited("group", None, batch_id_of(request), group_of(request)))


async def _set(request: AnyRequest, of: Limited) -> Response[bytes]:
    Query(request, ())
    edit = await read_document(request, LimitEdit)
    return reply(await limits.set_limit(services_of(request), caller_of(request), of, edit))


ROUTES = (list_limits, set_project_limit, set_user_limit, set_batch_limit, set_group_limit)
"""The routes of limits."""
