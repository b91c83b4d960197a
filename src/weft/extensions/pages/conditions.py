"""`/ui/conditions`: what jobs wait for together, and one such condition with its jobs."""

from typing import Final

from weft.api.http.pages import get_page, link, post_form, show
from weft.api.http.paging import cursor_of, page
from weft.api.http.parameters import condition_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Response
from weft.api.use_cases import conditions
from weft.core.access.rights import Right
from weft.core.errors import FieldError, InvalidValue
from weft.extensions.pages.forms import back_to, check_form
from weft.wire.documents.limits import ReleaseDocument

PLACE: Final = "/ui/conditions"
ROWS: Final = 50
JOBS_MAX: Final = 1_000_000_000
INCIDENTS: Final = "/ui/incidents"


@get_page(PLACE, Right.READ, query=("cursor",))
async def show_conditions(request: AnyRequest) -> Response[bytes]:
    """Show what blocked jobs wait for together, the oldest first."""
    query = request.query
    services, after = request.services, cursor_of(query, "c")
    rows = await services.store.list_conditions(request.caller, after_id=after or 0, limit=ROWS)
    cursor = page(rows, ROWS, "c", "condition_id")["cursor"]
    return show(
        request,
        "conditions.html",
        here=INCIDENTS,
        conditions=rows,
        cursor=after,
        next=cursor and link(PLACE, {"cursor": cursor}),
    )


@get_page(PLACE + "/{c:str}", Right.READ)
async def show_condition(request: AnyRequest) -> Response[bytes]:
    """Show a condition: how it is tested, what the last test said, and the jobs due first."""
    condition = await conditions.get_condition(
        request.services, request.caller, condition_id_of(request)
    )
    return show(request, "condition.html", here=INCIDENTS, one=condition)


@post_form(PLACE + "/{c:str}/test", Right.WRITE)
async def press_test_condition(request: AnyRequest) -> Redirect:
    """Test a condition now."""
    await check_form(request)
    condition_id = condition_id_of(request)
    await conditions.test_condition(request.services, request.caller, condition_id)
    return back_to(PLACE)


@post_form(PLACE + "/{c:str}/release", Right.OPERATE)
async def press_release_condition(request: AnyRequest) -> Redirect:
    """Let some jobs of a condition go on without a test, those that are due first."""
    form = await check_form(request)
    services, caller, number = request.services, request.caller, condition_id_of(request)
    await conditions.get_condition(services, caller, number)  # the form is read second
    n_jobs = _count_of(form.get("n", [""])[-1])
    await conditions.release_condition(services, caller, number, ReleaseDocument(n_jobs))
    return back_to(PLACE)


@post_form(PLACE + "/{c:str}/fail", Right.OPERATE)
async def press_fail_condition(request: AnyRequest) -> Redirect:
    """End the jobs of a condition as errors."""
    await check_form(request)
    condition_id = condition_id_of(request)
    await conditions.fail_condition(request.services, request.caller, condition_id)
    return back_to(PLACE)


def _count_of(text: str) -> int:
    if text.isdecimal() and len(text) < len(str(JOBS_MAX)) and int(text) > 0:
        return int(text)
    why = f"a whole number from 1 to {JOBS_MAX - 1:,}"
    raise InvalidValue(
        "no job was released",
        hint=f"Write how many jobs go on: {why}. Go back, what you typed is there.",
        errors=[FieldError("/n", f"it is not {why}")],
    )
