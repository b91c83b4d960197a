"""`/ui/batches`: the list, and one batch with its jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from weft.api.http.pages import changeable, events_of, link, may_act, show
from weft.api.http.paging import INT_MAX, ORDER, BatchPage, cursor_of, kind_of, page
from weft.api.http.parameters import Query, batch_id_of
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Response, get
from weft.api.use_cases import failures, read, why
from weft.core.batch_order import BatchOrder, BatchSort
from weft.core.query.reach import JOB_ID_MAX
from weft.extensions.pages.batch_parts import columns_of, parts_of
from weft.extensions.pages.search import BATCH_WORDS, JOB_WORDS, find, query_of
from weft.ports.store import Row

USUAL = BatchOrder(BatchSort.NUMBER)


@dataclass(frozen=True)
class SortLink:
    """A head: where it leads, and how the table is sorted by it now, as `aria-sort` says it."""

    href: str
    direction: str | None


def sort_links(q: str | None, order: BatchOrder | None) -> Mapping[str, SortLink]:
    """Return a link for each column that can be sorted by; that of the present one turns it."""
    now = order or USUAL
    return {
        sort.value: SortLink(_href(q, sort, turned=sort is now.sort and not now.reverse), way)
        for sort in BatchSort
        for way in [_direction(now) if sort is now.sort else None]
    }


def _href(q: str | None, sort: BatchSort, *, turned: bool) -> str:
    is_usual = sort is USUAL.sort and not turned
    parameters = {"q": q, "sort": None if is_usual else sort.value}
    return link("/ui/batches", {**parameters, "reverse": "true" if turned else None})


def _direction(order: BatchOrder) -> str:
    return "descending" if order.is_descending else "ascending"


BATCHES: Final = 50
JOBS: Final = 100
GROUPS: Final = 100
CAUSES: Final = 5
ROOT_GROUP: Final = 0
_LIST: Final = ("q", "cursor")
_JOBS: Final = (*_LIST, "column", "groups")
_BATCHES: Final = (*_LIST, *ORDER)


@get("/ui/batches", include_in_schema=False)
async def show_batches(request: AnyRequest) -> Response[bytes]:
    """Show batches, newest first, or as `sort` and `reverse` say; `q`: those that match a
    query.
    """
    query = Query(request, _BATCHES)
    services, caller, text = services_of(request), caller_of(request), query_of(query)
    asked, last = BatchPage(query, text), None
    wanted = read.BatchList(
        limit=BATCHES, before=asked.before, order=asked.order, after=asked.after, query=text
    )

    async def rows() -> Sequence[Row]:
        nonlocal last
        found, last = await read.page_of_batches(services, caller, wanted)
        return found

    doubt = partial(read.doubt_batches, services, caller, wanted)
    found = await find(rows(), doubt, is_first=asked.is_first)
    cursor = asked.document(found.rows, last)["cursor"]
    here = {name: query.text(name) for name in ORDER}
    return show(
        request,
        "batches.html",
        here="/ui/batches",
        status=found.status,
        found=found,
        q=text,
        words=BATCH_WORDS,
        changeable=await changeable(request, (row["id"] for row in found.rows)),
        saved=await services.store.list_saved_queries(caller),
        most=services.settings.bulk_batches_max,
        is_first=asked.is_first,
        order=asked.order,
        sorts=sort_links(text, asked.order),
        next=cursor and link("/ui/batches", {"q": text, **here, "cursor": cursor}),
    )


@get("/ui/batches/{b:str}", include_in_schema=False)
async def show_batch(request: AnyRequest) -> Response[bytes]:
    """Show a batch: its state, why jobs wait and failed, and its jobs; `q`: those that match;
    `column`: what is shown of each; `groups`: costs of those after this number.
    """
    query = Query(request, _JOBS)
    columns = columns_of(query)
    services, caller, batch_id = services_of(request), caller_of(request), batch_id_of(request)
    batch, text = await read.get_batch(services, caller, batch_id), query_of(query)
    path, kind = f"/ui/batches/{batch_id}", kind_of("j", text)
    wanted = read.JobList(limit=JOBS, after=cursor_of(query, kind, most=INT_MAX) or 0, query=text)
    found = await find(
        read.list_jobs(services, caller, batch_id, wanted),
        lambda: read.doubt_jobs(services, caller, batch_id, wanted),
        is_first=not wanted.after,
    )
    waiting = None
    if not batch["complete"]:
        waiting = await why.why_group(services, caller, batch_id, ROOT_GROUP)
    failed = None
    if batch["n_failed"] or batch["n_errored"]:
        failed = await failures.list_causes(services, caller, batch_id, all_=True, limit=CAUSES)
    cursor = page(found.rows, JOBS, kind, "job_id")["cursor"]
    groups_after = query.integer("groups", default=0, least=0, most=JOB_ID_MAX) or 0
    parts = await parts_of(services, caller, batch, groups_after=groups_after)
    more = parts["next_groups"]
    here = {"q": text, "column": query.many("column")}
    return show(
        request,
        "batch.html",
        here="/ui/batches",
        events=events_of(batch_id),
        status=found.status,
        path=path,
        batch=batch,
        may_change=await may_act(request, lambda one: read.get_batch(services, one, batch_id)),
        why=waiting and waiting["causes"],
        failures=failed,
        found=found,
        q=text,
        words=JOB_WORDS,
        cursor=wanted.after,
        next=cursor and link(path, {**here, "cursor": cursor}),
        more_groups=more and link(path, {**here, "groups": str(more)}),
        first_groups=link(path, here),
        chosen=columns,
        **parts,
    )


@get("/ui/batches/{b:str}/groups", include_in_schema=False)
async def show_groups(request: AnyRequest) -> Response[bytes]:
    """Show the groups of a batch in order of their numbers."""
    query = Query(request, ("cursor",))
    services, caller, batch_id = services_of(request), caller_of(request), batch_id_of(request)
    path, after = f"/ui/batches/{batch_id}", cursor_of(query, "g", most=INT_MAX)
    rows = await services.store.list_groups(
        caller, batch_id, after=-1 if after is None else after, limit=GROUPS
    )
    cursor = page(rows, GROUPS, "g", "group_id")["cursor"]
    return show(
        request,
        "groups.html",
        here="/ui/batches",
        events=events_of(batch_id),
        path=path,
        batch=await read.get_batch(services, caller, batch_id),
        rows=rows,
        next=cursor and link(f"{path}/groups", {"cursor": cursor}),
    )


ROUTES = (show_batches, show_batch, show_groups)
"""The routes of batches."""
