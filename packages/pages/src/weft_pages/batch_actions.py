"""`/ui/batch-actions`: cancel, retry, hold or release many batches, after they were counted.
`/ui/operations`: work on whole batches, or on many, and how far it is.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from weft.api.http.pages import get_page, link, post_form, show
from weft.api.http.paging import cursor_of, page
from weft.api.http.parameters import operation_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Response
from weft.api.use_cases import batch_actions
from weft.core.access.rights import Permission, Right
from weft.core.batch_actions import BatchAction
from weft.core.errors import InvalidParameter
from weft.core.ids import parse_batch_id
from weft.ports.store import Origin
from weft_pages.forms import back_to, check_form

PATH: Final = "/ui/batch-actions"
LIST: Final = "/ui/batches"
_OTHER_FIELDS: Final = 8
Form = Mapping[str, Sequence[str]]


@post_form(PATH + "/count", Right.WRITE, Permission.EXECUTE, status_code=200)
async def count_batches(request: AnyRequest) -> Response[bytes]:
    """Show how many batches and jobs an action would change, and a button that does it."""
    services, caller = request.services, request.caller
    form = await _form_of(request)
    action, query = _action_of(form), _text_of(form, "q")
    if _text_of(form, "all"):
        chosen = await batch_actions.choose_by_query(services, caller, action, query)
    else:
        ids = _ids_of(form)
        chosen = await batch_actions.choose_batches(services, caller, action, ids)
    return show(
        request,
        "batch_actions.html",
        here=LIST,
        events="",
        action=action,
        chosen=chosen,
        most=services.settings.bulk_batches_max,
        q=query,
        back=link(LIST, {"q": query}),
    )


@post_form(PATH, Right.WRITE, Permission.EXECUTE)
async def press_batches(request: AnyRequest) -> Redirect:
    """Begin to do it to the batches that were counted, to none, if one of them is not the
    caller's; or to all that match, if they are too many to be counted.
    """
    form = await _form_of(request)
    services, caller, action = request.services, request.caller, _action_of(form)
    origin = Origin(trace_id=request.trace_id)
    if _text_of(form, "all"):
        query = _text_of(form, "q") or ""
        operation = await batch_actions.begin_by_query(services, caller, action, query, origin)
    else:
        ids = _ids_of(form)
        operation = await batch_actions.begin_on_batches(services, caller, action, ids, origin)
    return back_to(f"/ui/operations/{operation['id']}")


async def _form_of(request: AnyRequest) -> Form:
    most = request.services.settings.bulk_batches_max
    return await check_form(request, fields_max=most + _OTHER_FIELDS)


def _action_of(form: Form) -> BatchAction:
    action = _text_of(form, "action")
    if action not in set(BatchAction):
        raise _wrong_form(f"Its action is none of {', '.join(BatchAction)}.")
    return BatchAction(action)


def _ids_of(form: Form) -> Sequence[int]:
    ids = sorted({parse_batch_id(one) for one in form.get("b", ())}, reverse=True)
    if not ids:
        raise _wrong_form("No batch was chosen.")
    return ids


def _text_of(form: Form, name: str) -> str | None:
    values = form.get(name)
    return values[-1].strip() or None if values else None


def _wrong_form(detail: str) -> InvalidParameter:
    return InvalidParameter(
        "nothing was changed",
        detail=detail,
        hint="Go back to the list, choose batches, and press a button below it.",
    )


OPERATIONS: Final = "/ui/operations"
ROWS: Final = 50


@get_page(OPERATIONS, Right.READ, query=("cursor",))
async def show_operations(request: AnyRequest) -> Response[bytes]:
    """Show operations, newest first."""
    query = request.query
    before = cursor_of(query, "o")
    rows = await request.services.store.list_operations(
        request.caller, before=before, limit=ROWS, batch_id=None
    )
    cursor = page(rows, ROWS, "o", "id")["cursor"]
    return show(
        request,
        "operations.html",
        here=LIST,
        rows=rows,
        cursor=before,
        next=cursor and link(OPERATIONS, {"cursor": cursor}),
    )


@get_page(OPERATIONS + "/{o:str}", Right.READ)
async def show_operation(request: AnyRequest) -> Response[bytes]:
    """Show how far an operation is, and what came of it."""
    operation = await request.services.store.get_operation(
        request.caller, operation_id_of(request)
    )
    return show(request, "operation.html", here=LIST, one=operation)
