"""`/ui/incidents`: what jobs wait for together, sources that fail, and jobs that failed for good;
`/ui/conditions`: one such condition with its jobs.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Final

from weft.api.http.pages import changeable, get_page, link, show
from weft.api.http.paging import INT_MAX, cursor_as, cursor_of, page, page_until
from weft.api.http.parameters import checked_cause, condition_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.services import Services
from weft.api.use_cases import failures
from weft.api.use_cases.conditions import failing_lines, get_condition
from weft.core.access.rights import Right
from weft.ports.store import Caller, Row

PLACE: Final = "/ui/incidents"
CONDITIONS: Final = 20
CAUSES: Final = 20
LETTERS: Final = 50
KIND: Final = "f"
_BATCH_ID_MAX: Final = 10**18 - 1
_FIRST: Final = 3
"""Jobs of a cause that are named."""


@get_page(PLACE, Right.READ, query=("cursor", "batch", "cause"))
async def show_incidents(request: AnyRequest) -> Response[bytes]:
    """Show incidents as the first page does, and failed jobs that nobody has acknowledged,
    by cause; or with `batch` and `cause` the jobs of that cause.
    """
    query = request.query
    services, caller = request.services, request.caller
    after = cursor_as(query, KIND, failures.parse_place)
    batch_id = query.integer("batch", default=None, least=1, most=_BATCH_ID_MAX)
    cause = checked_cause(query.text("cause"))
    if batch_id is not None and cause is not None:
        return await _show_cause(request, batch_id, cause, after)
    alike, end = await _by_cause(services, caller, after)
    return show(
        request,
        "incidents.html",
        here=PLACE,
        conditions=await services.store.list_conditions(caller, after_id=0, limit=CONDITIONS),
        conditions_max=CONDITIONS,
        failing=(await failing_lines(services, caller))[:CONDITIONS],
        workers=await services.store.sum_workers(caller, limit=CONDITIONS),
        alike=alike,
        changeable=await _retryable(request, (some[0]["batch_id"] for some in alike)),
        cursor=after,
        next=end and link(PLACE, {"cursor": end}),
    )


async def _retryable(request: AnyRequest, batch_ids: Iterable[int]) -> Collection[int]:
    """Return those that the caller may change, but no cancelled ones: their jobs run no more."""
    ids = await changeable(request, batch_ids)
    found = await request.services.store.read_batches(request.caller, sorted(ids))
    return {one["id"] for one in found if not one["cancelled"]}


async def _by_cause(
    services: Services, caller: Caller, after: tuple[int, int, int] | None
) -> tuple[Sequence[Sequence[Row]], str | None]:
    """Return the first jobs of each cause, and after what the next page begins."""
    found: list[Sequence[Row]] = []
    while len(found) < CAUSES:
        letters = await failures.list_dead_letters(services, caller, limit=LETTERS, after=after)
        found += [list(some)[:_FIRST] for _, some in groupby(letters, key=_cause_of)]
        if len(letters) < LETTERS:
            return found, None
        batch_id, cause = _cause_of(letters[-1])  # of it there may be more: go on behind all
        after = batch_id, int(cause, 16), INT_MAX
    last = {"batch_id": after[0], "cause": f"{after[1]:012x}", "job_id": after[2]} if after else {}
    return found, page_until([], KIND, failures.PLACE.format_map(last))["cursor"]


async def _show_cause(
    request: AnyRequest, batch_id: int, cause: str, after: tuple[int, int, int] | None
) -> Response[bytes]:
    services, caller = request.services, request.caller
    letters = await failures.list_dead_letters(
        services, caller, batch_id, cause=cause, limit=LETTERS, after=after
    )
    last = failures.PLACE.format_map(letters[-1]) if len(letters) == LETTERS else None
    cursor = page_until(letters, KIND, last)["cursor"]
    here = {"batch": str(batch_id), "cause": cause}
    return show(
        request,
        "cause.html",
        here=PLACE,
        letters=letters,
        batch_id=batch_id,
        changeable=await _retryable(request, [batch_id]),
        first=after and link(PLACE, here),
        next=cursor and link(PLACE, {**here, "cursor": cursor}),
    )


def _cause_of(letter: Row) -> tuple[int, str]:
    """Return what the jobs of one row have in common; they come in this order."""
    return int(letter["batch_id"]), str(letter["cause"])


ALL_CONDITIONS: Final = "/ui/conditions"
CONDITION_ROWS: Final = 50


@get_page(ALL_CONDITIONS, Right.READ, query=("cursor",))
async def show_conditions(request: AnyRequest) -> Response[bytes]:
    """Show what blocked jobs wait for together, the oldest first."""
    query = request.query
    services, after = request.services, cursor_of(query, "c")
    rows = await services.store.list_conditions(
        request.caller, after_id=after or 0, limit=CONDITION_ROWS
    )
    cursor = page(rows, CONDITION_ROWS, "c", "condition_id")["cursor"]
    return show(
        request,
        "conditions.html",
        here=PLACE,
        conditions=rows,
        cursor=after,
        next=cursor and link(ALL_CONDITIONS, {"cursor": cursor}),
    )


@get_page(ALL_CONDITIONS + "/{c:str}", Right.READ)
async def show_condition(request: AnyRequest) -> Response[bytes]:
    """Show a condition: how it is tested, what the last test said, and the jobs due first."""
    condition = await get_condition(request.services, request.caller, condition_id_of(request))
    return show(request, "condition.html", here=PLACE, one=condition)
