"""`/ui/system`: what runs for all tenants, on what, and whether it is well; and
`/ui/visit`: an administrator of the site looks into another tenant on all pages, and leaves.
"""

from typing import Final

from weft.api.http.browsers import PAGES
from weft.api.http.pages import get_page, post_form, show
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Response
from weft.api.http.visits import CHOICE, visit_cookie
from weft.api.use_cases import system
from weft.core.access.rights import Right
from weft.extensions.pages.forms import check_form

TABLES: Final = 15
TENANTS: Final = 200
"""So many names are offered to whoever looks into another tenant."""


@get_page("/ui/system", Right.ADMINISTER)
async def show_system(request: AnyRequest) -> Response[bytes]:
    """Show health, processes, the database, the last audit and the settings in force."""
    services = request.services
    found = await system.get_system(services, request.caller)
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


@post_form(CHOICE, Right.ADMINISTER, opt={"unrecorded": True})
async def press_visit(request: AnyRequest) -> Redirect:
    """Let this browser look into a tenant, or no more if none is named."""
    form = await check_form(request)
    services = request.services
    name = form.get("tenant", [""])[-1].strip()
    valid_s = 0.0
    if name:
        await services.store.find_tenant(name)
        valid_s = services.settings.session_valid_s
    cookie = visit_cookie(name, request.scope["scheme"], valid_s)
    return Redirect(PAGES, status_code=303, headers={"set-cookie": cookie})
