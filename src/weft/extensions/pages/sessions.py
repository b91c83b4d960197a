"""`/ui/sessions`: the browsers in which the reader is logged in, and how to log one out."""

from typing import Final

from weft.api.http.browsers import LOGIN
from weft.api.http.pages import get_page, post_form, show
from weft.api.http.parameters import session_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Response
from weft.api.use_cases import sessions
from weft.core.access.rights import Right
from weft.extensions.pages.forms import back_to, check_form

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
