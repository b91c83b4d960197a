"""`/ui/system`: what runs for all tenants, on what, and whether it is well; `/ui/visit`: an
administrator of the site looks into another tenant on all pages, and leaves; `/ui/sessions`: the
browsers in which the reader is logged in.
"""

from typing import Final

from weft.api.http.browsers import LOGIN, PAGES
from weft.api.http.pages import get_page, post_form, show
from weft.api.http.parameters import session_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Response
from weft.api.http.visits import CHOICE, visit_cookie
from weft.api.use_cases import sessions, system
from weft.core.access.rights import Right
from weft_pages.forms import back_to, check_form

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


PATH: Final = "/ui/sessions"


@get_page(PATH, Right.KNOW_ONESELF)
async def show_sessions(request: AnyRequest) -> Response[bytes]:
    """Show the reader's sessions, the oldest first, and which of them this browser has."""
    caller = request.caller
    return show(
        request,
        "sessions.html",
        here=PATH,
        events="",  # none tells of what is shown here
        rows=await request.services.store.list_sessions(caller),
        own=None if caller.csrf_token is None else caller.token_id,
        may_end=caller.scopes is None,
    )


@post_form(PATH + "/{session:str}/end", Right.KNOW_ONESELF)
async def press_end_session(request: AnyRequest) -> Redirect:
    """Log one browser out; this one is led to where it can log in again."""
    await check_form(request)
    caller, number = request.caller, session_id_of(request)
    await sessions.end_session(request.services, caller, number)
    is_own = caller.csrf_token is not None and number == caller.token_id
    return back_to(LOGIN if is_own else PATH)
