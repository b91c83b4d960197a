"""`/ui/workers`: who runs jobs, and which."""

from typing import Final

from weft.api.http.pages import get_page, link, show
from weft.api.http.parameters import worker_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.use_cases.workers import get_worker, list_workers
from weft.core.access.rights import Right

PLACE: Final = "/ui/workers"
ROWS: Final = 100


@get_page(PLACE, Right.READ, query=("after", "pool"))
async def show_workers(request: AnyRequest) -> Response[bytes]:
    """Show the workers by name; `after` and `pool`: those after this one."""
    query = request.query
    name = query.text("after")
    rows = await list_workers(
        request.services,
        request.caller,
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


@get_page(PLACE + "/{w:str}", Right.READ, query=("pool",))
async def show_worker(request: AnyRequest) -> Response[bytes]:
    """Show one worker, what it runs, and who changed its state."""
    pool = request.query.text("pool")
    one = await get_worker(request.services, request.caller, worker_of(request), pool=pool)
    return show(request, "worker.html", here=PLACE, one=one)
