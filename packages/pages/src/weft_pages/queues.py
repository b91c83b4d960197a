"""`/ui/queues`, `/ui/pools`, `/ui/pools/{p}` and `/ui/workers`: where jobs wait, whose turn it is,
who makes the machines that run them, and the workers.
"""

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from weft.api.http.decoding import JSON, decode
from weft.api.http.pages import get_page, link, post_form, show
from weft.api.http.paging import KIND, after_of, last_of, page_until
from weft.api.http.parameters import pool_of, worker_of, wrong_parameter
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.use_cases import pools, queues
from weft.api.use_cases.workers import get_worker, list_workers
from weft.core.access.rights import Right
from weft.core.errors import WeftError
from weft.ports.store import Row
from weft.wire.documents.batches import BatchDocument
from weft_pages.forms import check_form

QUEUES: Final = 50
POOLS: Final = 50
SHARES: Final = 100
CHANGES: Final = 50
MACHINES: Final = 200
COST_DAYS: Final = 30
_PRIORITY: Final = re.compile(r"-?[0-9]{1,7}")
EXAMPLE: Final = '{"jobs": [{"command": ["true"], "resources": {"cpu": 2}}]}'


@get_page("/ui/queues", Right.READ, query=("below",))
async def show_queues(request: AnyRequest) -> Response[bytes]:
    """Show queues in the order of routing, `below`: those of a lower priority; and pools."""
    text = request.query.text("below")
    if text is not None and not _PRIORITY.fullmatch(text):
        raise wrong_parameter("below", "it is not the priority of a queue")
    return await _show(request, below=None if text is None else int(text), document=EXAMPLE)


@post_form("/ui/queues/test", Right.READ, status_code=200)
async def test_guards(request: AnyRequest) -> Response[bytes]:
    """Show the same, and which queue takes each job of a document."""
    form = await check_form(request)
    text = (form.get("document") or [""])[-1]
    try:
        document = decode(text.encode(), JSON, BatchDocument)
        found = await queues.test_queues(request.services, request.caller, document)
    except WeftError as error:
        return await _show(request, document=text, problem=error, status=error.status, events="")
    return await _show(request, document=text, routes=found["routes"], events="")


async def _show(
    request: AnyRequest,
    *,
    below: int | None = None,
    **values: Any,  # noqa: ANN401 (what the template shows)
) -> Response[bytes]:
    services, caller = request.services, request.caller
    found = await services.store.list_queues(caller, below=below, limit=QUEUES)
    known: dict[str, Any] = {"problem": None, "routes": None}
    return show(
        request,
        "queues.html",
        here="/ui/queues",
        queues=found,
        next=_after(found),
        **await _pools_page(request, None),
        **(known | values),
    )


def _after(found: Sequence[Row]) -> str | None:
    """Return the address of the queues of lower priorities; after `default` there is none."""
    if len(found) < QUEUES or found[-1]["priority"] is None:
        return None
    return link("/ui/queues", {"below": str(found[-1]["priority"])})


@get_page("/ui/pools", Right.READ, query=("after",))
async def show_pools(request: AnyRequest) -> Response[bytes]:
    """Show the pools by name; `after`: those after this one."""
    after = request.query.text("after")
    return show(
        request, "pools.html", here="/ui/queues", after=after, **await _pools_page(request, after)
    )


async def _pools_page(request: AnyRequest, after: str | None) -> dict[str, Any]:
    rows = await request.services.store.list_pools(request.caller, after=after, limit=POOLS)
    more = len(rows) == POOLS
    return {
        "pools": rows,
        "next_pools": link("/ui/pools", {"after": rows[-1]["pool"]}) if more else None,
    }


@get_page("/ui/pools/{p:str}", Right.READ, query=("cursor",))
async def show_pool(request: AnyRequest) -> Response[bytes]:
    """Show a pool: who runs how much there and who waits, `cursor`: those after the page before;
    its machines, what was decided about them and what they cost.
    """
    after = after_of(request.query)
    services, caller, name = request.services, request.caller, pool_of(request)
    pool = await pools.get_pool(services, caller, name, machines_max=MACHINES)
    shares = await pools.list_shares(services, caller, name, limit=SHARES, after=after)
    cursor = page_until(shares.rows, KIND, last_of(shares.next))["cursor"]
    path = f"/ui/pools/{quote(name, safe='')}"
    return show(
        request,
        "pool.html",
        here="/ui/queues",
        pool=pool,
        machines_max=MACHINES,
        path=path,
        shares=shares,
        is_first=after is None,
        next_shares=cursor and link(path, {"cursor": cursor}),
        changes=await pools.list_pool_changes(services, caller, name, limit=CHANGES),
        costs=await pools.list_pool_costs(services, caller, name, days=COST_DAYS),
    )


WORKERS_PLACE: Final = "/ui/workers"
WORKERS: Final = 100


@get_page(WORKERS_PLACE, Right.READ, query=("after", "pool"))
async def show_workers(request: AnyRequest) -> Response[bytes]:
    """Show the workers by name; `after` and `pool`: those after this one."""
    query = request.query
    name = query.text("after")
    rows = await list_workers(
        request.services,
        request.caller,
        all_=False,
        limit=WORKERS,
        after=None if name is None else (name, query.text("pool") or ""),
    )
    last = rows[-1] if len(rows) == WORKERS else None
    return show(
        request,
        "workers.html",
        here=WORKERS_PLACE,
        rows=rows,
        after=name,
        next=last and link(WORKERS_PLACE, {"after": last["worker"], "pool": last["pool"]}),
    )


@get_page(WORKERS_PLACE + "/{w:str}", Right.READ, query=("pool",))
async def show_worker(request: AnyRequest) -> Response[bytes]:
    """Show one worker, what it runs, and who changed its state."""
    pool = request.query.text("pool")
    one = await get_worker(request.services, request.caller, worker_of(request), pool=pool)
    return show(request, "worker.html", here=WORKERS_PLACE, one=one)
