"""`/v1/quotas`: how much users and tenants may have at a time."""

from litestar import Response, get, patch

from weft.api.http.parameters import Query
from weft.api.http.path_ids import tenant_of, user_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import quotas
from weft.wire.documents.quotas import Quota, QuotaEdit


@get("/v1/quotas", opt={"page": Quota})
async def list_quotas(request: AnyRequest) -> Response[bytes]:
    """List the quotas of the tenant and of users, with what they have of that; for somebody who
    does not see the tenant's batches, their own.
    """
    Query(request, ())
    rows = await services_of(request).store.list_quotas(caller_of(request))
    return reply({"items": rows, "cursor": None})


@patch("/v1/users/{user:str}/quota", opt={"answer": Quota, "body": QuotaEdit})
async def set_user_quota(request: AnyRequest) -> Response[bytes]:
    """Change how much a user may have at a time. What is there stays."""
    return await _set(request, user_of(request))


@patch("/v1/user-quota", opt={"answer": Quota, "body": QuotaEdit})
async def set_default_quota(request: AnyRequest) -> Response[bytes]:
    """Change how much each user may have at a time, unless their own quota says it."""
    return await _set(request, None)


@patch("/v1/tenants/{tenant:str}/quota", opt={"answer": Quota, "body": QuotaEdit})
async def set_tenant_quota(request: AnyRequest) -> Response[bytes]:
    """Change how much all users of a tenant together may have at a time."""
    Query(request, ())
    edit = await read_document(request, QuotaEdit)
    services, caller = services_of(request), caller_of(request)
    return reply(await quotas.set_tenant_quota(services, caller, tenant_of(request), edit))


async def _set(request: AnyRequest, user: str | None) -> Response[bytes]:
    Query(request, ())
    edit = await read_document(request, QuotaEdit)
    services, caller = services_of(request), caller_of(request)
    return reply(await quotas.set_quota(services, caller, user, edit))


ROUTES = (list_quotas, set_user_quota, set_default_quota, set_tenant_quota)
"""The routes of quotas."""
