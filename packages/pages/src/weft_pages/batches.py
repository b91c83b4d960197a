"""`/ui/batches`: the list, its saved queries, and one batch with its jobs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from weft.api.calls.path_ids import SAVED_QUERY
from weft.api.http.pages import changeable, events_of, get_page, link, may_act, post_form, show
from weft.api.http.paging import INT_MAX, ORDER, BatchPage, cursor_of, kind_of, page
from weft.api.http.parameters import Query, batch_id_of, wrong_parameter
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Response
from weft.api.services import Services
from weft.api.use_cases import failures, read, saved_queries, why
from weft.core.access.rights import Right
from weft.core.batch_order import BatchOrder, BatchSort
from weft.core.billing.rates import HOUR_MS
from weft.core.errors import BadQuery, QueryTooSlow, QueryTooWide, WeftError
from weft.core.query.fields import FIELDS, OPERATORS, STATES
from weft.core.query.reach import JOB_ID_MAX
from weft.core.query.tree import Field, Subject
from weft.ports.store import Caller, Row
from weft.wire.documents.saved_queries import SavedQueryDocument
from weft_pages.forms import back_to, check_form


def _words_of(subject: Subject) -> Sequence[str]:
    compared = [
        f"{field.value} {operator.value} "
        for field, kind in FIELDS[subject].items()
        if field is not Field.STATE
        for operator in OPERATORS[kind]
    ]
    return *(f"state = {state}" for state in STATES[subject]), *compared


BATCH_WORDS: Final = _words_of(Subject.BATCHES)
"""What a term of a query for batches may begin with."""
JOB_WORDS: Final = _words_of(Subject.JOBS)
"""The same for jobs."""


@dataclass(frozen=True)
class Found:
    """What a search found."""

    rows: Sequence[Row] = ()
    warnings: Sequence[str] = ()
    """Why it may have found nothing."""
    problem: WeftError | None = None
    """Why there is no answer."""

    @property
    def status(self) -> int:
        """The status of the page."""
        return 200 if self.problem is None else self.problem.status


async def find(
    rows_of: Awaitable[Sequence[Row]],
    doubt: Callable[[], Awaitable[Sequence[str]]],
    *,
    is_first: bool,
) -> Found:
    """Read the rows, and doubt the query if not even the first page has any."""
    try:
        rows = await rows_of
        warnings = await doubt() if is_first and not rows else ()
    except (BadQuery, QueryTooSlow, QueryTooWide) as error:
        return Found(problem=error)
    return Found(rows, warnings)


def query_of(query: Query) -> str | None:
    """Return the query; an empty field of the form is none."""
    return (query.text("q") or "").strip() or None


@post_form("/ui/saved-queries", Right.WRITE)
async def press_save_query(request: AnyRequest) -> Redirect:
    """Save the query of the list under the name that was typed."""
    form = await check_form(request)
    services = request.services
    name: str = SAVED_QUERY.parse(form.get("name", [""])[-1].strip(), services.settings)
    query = form.get("q", [""])[-1].strip()
    document = SavedQueryDocument(query)
    await saved_queries.save_query(services, request.caller, name, document)
    return back_to(link("/ui/batches", {"q": query}))


@post_form("/ui/saved-queries/remove", Right.WRITE)
async def press_remove_query(request: AnyRequest) -> Redirect:
    """Forget a saved query."""
    form = await check_form(request)
    services = request.services
    name: str = SAVED_QUERY.parse(form.get("name", [""])[-1], services.settings)
    await saved_queries.remove_saved_query(services, request.caller, name)
    return back_to(link("/ui/batches", {"q": form.get("q", [""])[-1].strip()}))


USUAL = BatchOrder(BatchSort.NUMBER)


@dataclass(frozen=True)
class SortLink:
    """A head: where it leads, and how the table is sorted by it now, as `aria-sort` says it."""

    href: str
    direction: str | None


def sort_links(q: str | None, order: BatchOrder | None) -> Mapping[str, SortLink]:
    """Return a link for each column that can be sorted by; that of the present one turns it."""
    now = order or USUAL
    direction = "descending" if now.is_descending else "ascending"
    return {
        sort.value: SortLink(
            _href(q, sort, turned=sort is now.sort and not now.reverse),
            direction if sort is now.sort else None,
        )
        for sort in BatchSort
    }


def _href(q: str | None, sort: BatchSort, *, turned: bool) -> str:
    is_usual = sort is USUAL.sort and not turned
    parameters = {"q": q, "sort": None if is_usual else sort.value}
    return link("/ui/batches", {**parameters, "reverse": "true" if turned else None})


BATCHES: Final = 50
JOBS: Final = 100
GROUPS: Final = 100
CAUSES: Final = 5
ROOT_GROUP: Final = 0
_LIST: Final = ("q", "cursor")
_JOBS: Final = (*_LIST, "column", "groups")
_BATCHES: Final = (*_LIST, *ORDER)


@get_page("/ui/batches", Right.READ, query=_BATCHES)
async def show_batches(request: AnyRequest) -> Response[bytes]:
    """Show batches, newest first, or as `sort` and `reverse` say; `q`: those that it finds."""
    query = request.query
    services, caller, text = request.services, request.caller, query_of(query)
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


@get_page("/ui/batches/{b:str}", Right.READ, query=_JOBS)
async def show_batch(request: AnyRequest) -> Response[bytes]:
    """Show a batch: its state, why jobs wait and failed, and its jobs; `q`: those that match;
    `column`: what is shown of each; `groups`: costs of those after this number.
    """
    query = request.query
    columns = columns_of(query)
    services, caller, batch_id = request.services, request.caller, batch_id_of(request)
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


@get_page("/ui/batches/{b:str}/groups", Right.READ, query=("cursor",))
async def show_groups(request: AnyRequest) -> Response[bytes]:
    """Show the groups of a batch in order of their numbers."""
    query = request.query
    services, caller, batch_id = request.services, request.caller, batch_id_of(request)
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


@dataclass(frozen=True)
class Pace:
    """What happens in an hour on average."""

    jobs_per_hour: float
    cost_per_hour: float
    left_ms: float | None
    """What the jobs that are left take at this rate; None: it cannot be known."""


def pace_of(batch: Mapping[str, Any]) -> Pace | None:
    """Return the pace of a batch; None: no time has passed, or it has no job.

    >>> pace_of({"duration_ms": 60_000, "n_jobs": 4, "n_completed": 1, "cost": 2.0,
    ...          "held": False})
    Pace(jobs_per_hour=60.0, cost_per_hour=120.0, left_ms=180000.0)
    """
    if not batch["duration_ms"] or not batch["n_jobs"]:
        return None
    hours = batch["duration_ms"] / HOUR_MS
    left = batch["n_jobs"] - batch["n_completed"]
    left_ms = None
    if left and batch["n_completed"] and not batch["held"]:
        left_ms = batch["duration_ms"] * left / batch["n_completed"]
    return Pace(batch["n_completed"] / hours, float(batch["cost"]) / hours, left_ms)


DEAREST_GROUPS: Final = 20
CALLBACKS: Final = 20

COLUMNS: Final = {
    "name": "Name",
    "state": "State",
    "reason": "Reason",
    "attempt": "Attempt",
    "duration": "Took",
    "started": "Started",
    "ended": "Ended",
    "ready": "Ready since",
    "user": "User",
    "queue": "Queue",
    "priority": "Priority",
    "cost": "Cost",
    "group": "Group",
    "message": "What it said",
    "attributes": "Attributes",
}
"""Columns of the table of jobs, with their titles."""
FORESEEN_MS: Final = 100 * 365 * 86_400_000
"""An end that is further away is no forecast, and may be past the last date there is."""
USUAL_COLUMNS: Final = ("name", "state", "reason", "attempt", "duration", "started", "ended")
NUMBERS: Final = frozenset({"attempt", "duration", "priority", "cost", "group"})
"""Columns that stand at the right."""


def columns_of(query: Query) -> Sequence[str]:
    """Return the columns that the reader chose, in the table's order. Raise `InvalidParameter`."""
    chosen = query.many("column") or USUAL_COLUMNS
    for one in chosen:
        if one not in COLUMNS:
            known = ", ".join(COLUMNS)
            raise wrong_parameter("column", f"{one[:40]!r} is not one of {known}")
    return [column for column in COLUMNS if column in chosen]


async def parts_of(
    services: Services, caller: Caller, batch: Row, *, groups_after: int
) -> Mapping[str, Any]:
    """Return what the page shows of a batch beside its jobs. `groups_after`: the number after
    which the costs of groups begin; which of all groups are the dearest no index knows.
    """
    batch_id = int(batch["id"])
    pace = pace_of(batch)
    end_at = None
    if pace is not None and pace.left_ms is not None and pace.left_ms <= FORESEEN_MS:
        end_at = datetime.now(UTC) + timedelta(milliseconds=pace.left_ms)
    groups = await read.list_child_groups(
        services, caller, batch_id, ROOT_GROUP, after=groups_after, limit=DEAREST_GROUPS + 1
    )
    shown = groups[:DEAREST_GROUPS]
    callbacks = await services.store.list_callbacks(caller, batch_id, after=0, limit=CALLBACKS)
    return {
        "pace": pace,
        "end_at": end_at,
        "groups": shown,
        "groups_after": groups_after,
        "next_groups": shown[-1]["group_id"] if len(groups) > len(shown) else None,
        "callbacks": callbacks,
        "columns": COLUMNS,
        "numbers": NUMBERS,
    }
