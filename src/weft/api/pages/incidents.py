"""`/ui/incidents`: what jobs wait for together, and jobs that failed for good."""

from itertools import groupby
from typing import Final

from litestar import Response, get

from weft.api.http.dead_letter_pages import after_of, last_of
from weft.api.http.paging import page_until
from weft.api.http.parameters import Query
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.view import changeable, link, show
from weft.api.use_cases import failures
from weft.ports.store import Row

PLACE: Final = "/ui/incidents"
CONDITIONS: Final = 20
LETTERS: Final = 50
KIND: Final = "f"


@get(PLACE, include_in_schema=False)
async def show_incidents(request: AnyRequest) -> Response[bytes]:
    """Show the oldest conditions, and failed jobs that nobody has acknowledged."""
    query = Query(request, ("cursor",))
    services, caller, after = services_of(request), caller_of(request), after_of(query, KIND)
    wanted = failures.DeadLetterList(limit=LETTERS, after=after)
    letters = await failures.list_dead_letters(services, caller, wanted)
    cursor = page_until(letters, KIND, last_of(letters, LETTERS))["cursor"]
    return show(
        request,
        "incidents.html",
        here=PLACE,
        conditions=await services.store.list_conditions(caller, after_id=0, limit=CONDITIONS),
        conditions_max=CONDITIONS,
        letters=letters,
        alike=[list(some) for _, some in groupby(letters, key=_cause_of)],
        changeable=await changeable(request, (one["batch_id"] for one in letters)),
        cursor=after,
        next=cursor and link(PLACE, {"cursor": cursor}),
    )


def _cause_of(letter: Row) -> tuple[int, str]:
    """Return what the jobs of one row have in common; they come in this order."""
    return int(letter["batch_id"]), str(letter["cause"])


ROUTES = (show_incidents,)
"""The routes of incidents."""
