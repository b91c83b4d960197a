"""What all pages have in common: who looks, the events that keep them live, how lists go on."""

import secrets
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from markupsafe import Markup

from weft.api.feeds import PAGES_PER_S
from weft.api.html.render import HTML, render
from weft.api.http.browsers import is_page
from weft.api.http.compression import compressed
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get, post
from weft.core.access.rights import Permission, Right
from weft.core.access.sessions import PAD_DIGITS, masked_csrf_token
from weft.core.errors import BatchNotFound, JobNotFound, PermissionMissing
from weft.ports.store import Caller

REST_MAX_MS: Final = 30_000
"""Each page is read again after this rest, however many are open."""
_ALL: Final = "/ui/events"
_MOMENT: Final = "moment"
_CURRENCY_CHARS: Final = 20
get_page = partial(get, include_in_schema=False)
post_form = partial(post, include_in_schema=False)

NO_MOMENT: Final = {"moment": False}
"""Options of the routes below `/ui` whose answers are not read again after an event."""


async def note_moment(request: AnyRequest) -> None:
    """Note the newest events before a page is read: any later one makes it be read again."""
    is_read_again = request.route.opt.get("moment", True)
    if request.method == "GET" and is_read_again and is_page(request.scope["path"]):
        moment = await request.services.store.events_now()
        request.scope["state"][_MOMENT] = "{}-{}".format(*moment)


def show(
    request: AnyRequest,
    template: str,
    *,
    here: str,
    events: str = _ALL,
    status: int = 200,
    **values: Any,  # noqa: ANN401 (what the template shows)
) -> Response[bytes]:
    """Reply with a page. `here`: the place in the navigation that it belongs to; `events`: the
    stream that says when to read it again.
    """
    caller = request.caller
    pad = secrets.token_hex(PAD_DIGITS // 2)

    def csrf() -> Markup:
        if caller.csrf_token is None:
            return Markup()
        return Markup('<input type="hidden" name="csrf_token" value="{}">').format(
            masked_csrf_token(caller.csrf_token, pad)
        )

    body = render(
        template,
        caller=caller,
        may_operate=caller.may(Right.OPERATE),
        may_administer=caller.may(Right.ADMINISTER),
        csrf=csrf,
        here=here,
        events=events,
        since=request.scope["state"].get(_MOMENT, ""),
        currency=request.services.settings.currency[:_CURRENCY_CHARS],
        rest_ms=min(REST_MAX_MS, 1000 * request.services.feeds.n_pages // PAGES_PER_S),
        **({"may_change": caller.may(Right.WRITE)} | values),
    )
    headers = {"content-type": HTML}
    body = compressed(body, request.headers.get("accept-encoding", ""), headers)
    return Response(body, status_code=status, headers=headers)


async def may_act(request: AnyRequest, look: Callable[[Caller], Awaitable[object]]) -> bool:
    """Say whether the caller may act on what they look at, and not only see it: `look` reads it
    once more, as an action would.
    """
    caller = request.caller
    if not caller.may(Right.WRITE) or caller.sees_tenant:
        return caller.may(Right.WRITE)
    try:
        await look(replace(caller, needs=Permission.EXECUTE))
    except (BatchNotFound, JobNotFound, PermissionMissing):
        return False
    return True


async def changeable(request: AnyRequest, batch_ids: Iterable[int]) -> Collection[int]:
    """Return those of these batches on which the caller may act, and not only see them."""
    caller, wanted = request.caller, frozenset(batch_ids)
    if not caller.may(Right.WRITE):
        return frozenset()
    if caller.sees_tenant or not wanted:
        return wanted
    asking = replace(caller, needs=Permission.EXECUTE)
    return await request.services.store.list_allowed(asking, sorted(wanted))


def events_of(batch_id: int) -> str:
    """Return the address of the events of one batch."""
    return f"{_ALL}?batch={batch_id}"


def link(path: str, parameters: Mapping[str, str | Sequence[str] | None]) -> str:
    """Return the address of a page with those parameters that have a value, or several."""
    given = {name: value for name, value in parameters.items() if value}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path
