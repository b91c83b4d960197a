"""`/ui/workers`: who runs jobs, and which, and what the buttons of administrators do to them."""

from collections.abc import Awaitable, Callable
from typing import Final

from weft.api.http.pages import get_page, link, post_form, show
from weft.api.http.parameters import worker_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Response
from weft.api.use_cases import workers
from weft.api.use_cases.workers import get_worker, list_workers
from weft.core.access.rights import Right
from weft.extensions.pages.forms import back_to, check_form
from weft.wire.documents.batches import Cordon

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


WORKERS: Final = "/ui/workers"


@post_form(WORKERS + "/{w:str}/cordon", Right.ADMINISTER)
async def press_cordon_worker(request: AnyRequest) -> Redirect:
    """Let a worker take no new job."""
    return await _changed(request, workers.cordon_worker, Cordon())


@post_form(WORKERS + "/{w:str}/drain", Right.ADMINISTER)
async def press_drain_worker(request: AnyRequest) -> Redirect:
    """Let a worker end when nothing runs."""
    return await _changed(request, workers.drain_worker, Cordon())


@post_form(WORKERS + "/{w:str}/uncordon", Right.ADMINISTER)
async def press_uncordon_worker(request: AnyRequest) -> Redirect:
    """Let a worker take jobs again."""
    return await _changed(request, workers.uncordon_worker)


async def _changed(
    request: AnyRequest, change: Callable[..., Awaitable[object]], *document: Cordon
) -> Redirect:
    """Change the worker of the form's pool: workers of several pools may have one name."""
    pool = (await check_form(request)).get("pool", [None])[-1]
    services, caller = request.services, request.caller
    await change(services, caller, worker_of(request), *document, pool=pool)
    return back_to(WORKERS)
