"""`/ui/workers`: who runs jobs, and which."""

from typing import Final

from weft.api.http.pages import link, show
from weft.api.http.parameters import Query, worker_of
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Response, get
from weft.api.use_cases.workers import get_worker, list_workers

PLACE: Final = "/ui/workers"
ROWS: Final = 100


@get(PLACE, include_in_schema=False)
async def show_workers(request: AnyRequest) -> Response[bytes]:
    """Show the workers by name; `after` and `pool`: those after this one."""
    query = Query(request, ("after", "pool"))
    name = query.text("after")
    rows = await list_workers(
        services_of(request),
        caller_of(request),
        all_=False,
        limit=ROWS,
        after=None if name is None else (name, query.text("pool") or ""),
    )
    last = rows[-1] if len(rows) == ROWS else None
    return show(
        request,
        "workers.html",
        here=PLACE,
        rows=rows,
        after=name,
        next=last and link(PLACE, {"after": last["worker"], "pool": last["pool"]}),
    )


@get(PLACE + "/{w:str}", include_in_schema=False)
async def show_worker(request: AnyRequest) -> Response[bytes]:
    """Show one worker, what it runs, and who changed its state."""
    pool = Query(request, ("pool",)).text("pool")
    one = await get_worker(services_of(request), caller_of(request), worker_of(request), pool=pool)
    return show(request, "worker.html", here=PLACE, one=one)


ROUTES = (show_workers, show_worker)
"""The routes of workers."""
