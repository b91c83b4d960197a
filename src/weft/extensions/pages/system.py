"""`/ui/system`: what runs for all tenants, on what, and whether it is well."""

from typing import Final

from weft.api.http.pages import show
from weft.api.http.parameters import Query
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Response, get
from weft.api.use_cases import system

TABLES: Final = 15
TENANTS: Final = 200
"""So many names are offered to whoever looks into another tenant."""


@get("/ui/system", include_in_schema=False)
async def show_system(request: AnyRequest) -> Response[bytes]:
    """Show health, processes, the database, the last audit and the settings in force."""
    Query(request, ())
    services = services_of(request)
    found = await system.get_system(services, caller_of(request))
    changed = [one for one in found["settings"] if not one["is_default"] or one["driver_value"]]
    return show(
        request,
        "system.html",
        here="/ui/system",
        events="",  # none tells of what is shown here
        found=found,
        tables=found["database"]["tables"][:TABLES],
        changed=changed,
        tenants=await services.store.list_tenants(after=0, limit=TENANTS),
    )


ROUTES = (show_system,)
"""The route of the site."""
