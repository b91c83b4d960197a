"""`/ui/lines` and `/ui/lines/{source}`: how production lines are, and what a source has found."""

from typing import Final, get_args
from urllib.parse import quote

from weft.api.http.pages import get_page, link, show
from weft.api.http.paging import cursor_of, page
from weft.api.http.parameters import source_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.use_cases.conditions import LINES_MAX
from weft.core.access.rights import Right
from weft.wire.answers.sources import ItemStateWord
from weft_lines.calls import sources

PLACE: Final = "/ui/lines"
ITEMS: Final = 50
_ONLY: Final = ("state", "series", "key")


@get_page(PLACE, Right.READ)
async def show_lines(request: AnyRequest) -> Response[bytes]:
    """Show sources with what they found last, sinks with what has not arrived, and how many jobs
    have each status.
    """
    services, caller = request.services, request.caller
    found = await services.store.overview_lines(caller, limit=LINES_MAX)
    return show(request, "lines.html", here=PLACE, lines=found)


@get_page(PLACE + "/{source:str}", Right.READ, query=("cursor", *_ONLY))
async def show_source(request: AnyRequest) -> Response[bytes]:
    """Show a source and its items, the newest first; or only those in one state, of one series, or
    the one of a key.
    """
    query = request.query
    services, caller, name = request.services, request.caller, source_of(request)
    state = None if query.text("state") is None else query.choice("state", get_args(ItemStateWord))
    key = query.text("key")
    filters = {"state": state, "series": query.text("series"), "key": key}
    only = {word: value for word, value in filters.items() if value is not None}
    before = cursor_of(query, "item")
    rows = await services.store.list_source_items(
        caller, name, before=before, limit=ITEMS, **filters
    )
    cursor = page(rows, ITEMS, "item", "n")["cursor"]
    path = f"{PLACE}/{quote(name, safe='')}"
    return show(
        request,
        "line_source.html",
        here=PLACE,
        one=await sources.get_source(services, caller, name),
        path=path,
        rows=rows,
        history=key and await sources.item_history(services, caller, name, key=key),
        only=", ".join(f"{word} {value}" for word, value in only.items()),
        cursor=before,
        next=cursor and link(path, {**only, "cursor": cursor}),
    )
