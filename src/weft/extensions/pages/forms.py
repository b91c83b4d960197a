"""Forms of pages: each is a POST that a page of this server has made, for the one who looks."""

from collections.abc import Mapping, Sequence

from weft.api.http.browsers import FORM_FIELDS_MAX, read_fields, refuse_wrong_token
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect


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
