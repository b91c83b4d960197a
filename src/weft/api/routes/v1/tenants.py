"""`/v1/tenants`: closed worlds of users, for administrators of the site, and each for its own."""

from litestar import Response, get, patch, post

from weft.api.http.paging import INT_MAX, PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import tenant_of
from weft.api.http.replies import created, reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_submission,
    services_of,
)
from weft.api.use_cases import tenants
from weft.wire.documents.tenants import Tenant, TenantCreated, TenantDocument, TenantEdit


@get("/v1/tenants", opt={"page": Tenant, "query": PAGE})
async def list_tenants(request: AnyRequest) -> Response[bytes]:
    """List all tenants, in the order of their numbers."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_tenants(
        after=cursor_of(query, "t", most=INT_MAX) or 0, limit=limit
    )
    return reply(page(rows, limit, "t", "tenant_id"))


@post("/v1/tenants", opt={"answer": TenantCreated, "body": TenantDocument, "creates": True})
async def create_tenant(request: AnyRequest) -> Response[bytes]:
    """Create a tenant with its first user. The text of their token is in this answer and nowhere
    else: a repeat with the same key makes another one in its place.
    """
    Query(request, ())
    document, origin = await read_submission(request, TenantDocument)
    answer = await tenants.create_tenant(
        services_of(request), caller_of(request), document, origin
    )
    return created(answer, is_new=True)


@get("/v1/tenants/{tenant:str}", opt={"answer": Tenant})
async def get_tenant(request: AnyRequest) -> Response[bytes]:
    """Return a tenant; to somebody who does not administer the site only their own exists."""
    Query(request, ())
    services, caller = services_of(request), caller_of(request)
    return reply(await tenants.get_tenant(services, caller, tenant_of(request)))


@patch("/v1/tenants/{tenant:str}", opt={"answer": Tenant, "body": TenantEdit})
async def set_tenant(request: AnyRequest) -> Response[bytes]:
    """Change what holds in a tenant; for somebody who does not administer the site only their own
    exists.
    """
    Query(request, ())
    edit = await read_document(request, TenantEdit)
    services, caller = services_of(request), caller_of(request)
    return reply(await tenants.set_tenant(services, caller, tenant_of(request), edit))


ROUTES = (list_tenants, create_tenant, get_tenant, set_tenant)
"""The routes of tenants."""
