"""`/ui/visit`: an administrator of the site looks into another tenant on all pages, and leaves."""

from weft.api.http.browsers import PAGES
from weft.api.http.requests import AnyRequest, services_of
from weft.api.http.routing import Redirect, post
from weft.api.http.visits import CHOICE, visit_cookie
from weft.extensions.pages.forms import check_form


@post(CHOICE, include_in_schema=False, opt={"unrecorded": True})
async def press_visit(request: AnyRequest) -> Redirect:
    """Let this browser look into a tenant, or no more if none is named."""
    form = await check_form(request)
    services = services_of(request)
    name = form.get("tenant", [""])[-1].strip()
    valid_s = 0.0
    if name:
        await services.store.find_tenant(name)
        valid_s = services.settings.session_valid_s
    cookie = visit_cookie(name, request.scope["scheme"], valid_s)
    return Redirect(PAGES, status_code=303, headers={"set-cookie": cookie})


ROUTES = (press_visit,)
"""The route of visits."""
