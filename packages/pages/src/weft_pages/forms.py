"""Forms of pages: each is a POST that a page of this server has made, for the one who looks."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from weft.api.calls.call import call_of
from weft.api.http.browsers import FORM_FIELDS_MAX, read_fields, refuse_wrong_token
from weft.api.http.declared import read_parameter
from weft.api.http.pages import post_form
from weft.api.http.parameters import PATH_IDS, Query
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Route
from weft.core.access.rights import Permission
from weft.ports.store import Origin

UseCase = Callable[..., Awaitable[Any]]
Ids = Mapping[str, Any]
"""What the parts of a path stand for, by their names."""


async def check_form(
    request: AnyRequest, *, fields_max: int = FORM_FIELDS_MAX
) -> Mapping[str, Sequence[str]]:
    """Return the fields of a form. Raise `ForeignRequest` unless it has the token of the browser's
    session. Programs have no session, so they need none.
    """
    form = await read_fields(request, fields_max)
    token = request.caller.csrf_token
    if token is not None:
        refuse_wrong_token(token, form.get("csrf_token", [""])[-1])
    return form


def back_to(path: str) -> Redirect:
    """Lead back to a page of this server, which is then read with GET."""
    return Redirect(path, status_code=303)


class Fields(Query):
    """The fields of a form, of which the last one of a name counts."""

    def __init__(self, form: Mapping[str, Sequence[str]]) -> None:
        self._values = {name: [*values[-1:]] for name, values in form.items()}


def button(
    use_case: UseCase,
    back: str,
    document: Callable[[Ids, Fields], msgspec.Struct] | None = None,
    *,
    path: str = "",
    name: str = "",
    look: UseCase | None = None,
    permission: Permission | None = None,
) -> Route:
    """Return the route of a button that makes a call, as whom the call allows, and leads back.

    `back`: the page, with ids of the path and `answer`; `document`: makes what the call reads;
    `path`: below `/ui`, if it is not that of the call; `name`: in the trail, after `press_`;
    `look`: reads what the call is about before the form is read: what is wrong with it is nothing
    to those who do not see that; `permission`: on the batch, if it is not that of the call.
    """
    call = call_of(use_case)

    async def press(request: AnyRequest) -> Redirect:
        fields = Fields(await check_form(request))
        services, caller = request.services, request.caller
        ids = {
            name: PATH_IDS[name].parse(text, services.settings)
            for name, text in request.path_params.items()
        }
        arguments = {parameter: ids[one.name] for parameter, one in call.ids.items()}
        if look is not None:
            await look(services, caller, **arguments)
        arguments |= {
            parameter: read_parameter(fields, one, services.settings)
            for parameter, one in call.query.items()
        }
        if call.document is not None and call.body is not None:
            arguments[call.document] = document(ids, fields) if document else call.body()
        if call.origin is not None:
            arguments[call.origin] = Origin(trace_id=request.trace_id)
        answer = await use_case(services, caller, **arguments)
        return back_to(back.format(**ids, answer=answer))

    press.__name__ = f"press_{name or call.operation}"
    served = path or call.path.replace("/v1/", "/ui/")
    return post_form(served.replace("}", ":str}"), call.right, permission or call.permission)(
        press
    )
