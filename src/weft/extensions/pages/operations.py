"""`/ui/operations`: work on whole batches, or on many, and how far it is."""

from typing import Final

from weft.api.http.pages import link, show
from weft.api.http.paging import cursor_of, page
from weft.api.http.parameters import Query, operation_id_of
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Redirect, Response, get, post
from weft.extensions.pages.forms import back_to, check_form

PATH: Final = "/ui/operations"
LIST: Final = "/ui/batches"
ROWS: Final = 50


@get(PATH, include_in_schema=False)
async def show_operations(request: AnyRequest) -> Response[bytes]:
    """Show operations, newest first."""
    query = Query(request, ("cursor",))
    before = cursor_of(query, "o")
    rows = await services_of(request).store.list_operations(
        caller_of(request), before=before, limit=ROWS, batch_id=None
    )
    cursor = page(rows, ROWS, "o", "id")["cursor"]
    return show(
        request,
        "operations.html",
        here=LIST,
        rows=rows,
        cursor=before,
        next=cursor and link(PATH, {"cursor": cursor}),
    )


@get(PATH + "/{o:str}", include_in_schema=False)
async def show_operation(request: AnyRequest) -> Response[bytes]:
    """Show how far an operation is, and what came of it."""
    Query(request, ())
    operation = await services_of(request).store.get_operation(
        caller_of(request), operation_id_of(request)
    )
    return show(request, "operation.html", here=LIST, one=operation)


@post(PATH + "/{o:str}/cancel", include_in_schema=False)
async def press_cancel_operation(request: AnyRequest) -> Redirect:
    """End an operation on many batches where it is."""
    await check_form(request)
    operation_id = operation_id_of(request)
    await services_of(request).store.cancel_operation(caller_of(request), operation_id)
    return back_to(f"{PATH}/{operation_id}")


ROUTES = (show_operations, show_operation, press_cancel_operation)
"""The routes of operations."""
