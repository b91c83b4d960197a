"""`weft jobs`, `weft groups`: the jobs and the groups of a batch, or jobs of all batches."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

from weft.cli.input.options import SHARED, Flag, Limit, Parameter, Shared
from weft.cli.input.targets import parse_batch, parse_target
from weft.cli.terminal.names import group_name, job_name, state_words, why_of
from weft.cli.terminal.screen import Document, TableRows, moment, print_pages, print_plan
from weft.client.answer import Answer
from weft.client.api import Api
from weft.client.http.blocking import run
from weft.client.http.calls import Listing
from weft.core.errors import BadId, Invalid
from weft.core.ids import format_job_ref
from weft.core.states import JobStateWord
from weft.core.text.amounts import duration, money

HEADER = ("Job", "Name", "State", "Why", "Cost", "Started", "Took")
WIDTHS = (10, 12, 12, 12, 6, 19, 8)
"""At least: rows of a later page may be wider than those of the first."""
SPARE = ("Cost", "Started", "Took")
"""Columns that a narrow terminal leaves out, in this order."""
NUMBERS = ("Cost", "Took")
PAGE_ROWS = 1000
SHOWN = 50


class TwoGroups(Invalid, code="CLI.TWO_GROUPS"):
    """The group is named twice."""


def jobs(
    target: str,
    query: str | None = None,
    /,
    *,
    group: str | None = None,
    state: Annotated[tuple[JobStateWord, ...], Parameter(negative="")] = (),
    limit: Limit = SHOWN,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
    parents: Flag = False,
    explain: Flag = False,
    shared: Shared = SHARED,
) -> int:
    """List the jobs of a batch or group, or those that depend on a job, by number.

        weft jobs b12 'state = failed and cost > 5'
        weft jobs b12.j7
        weft jobs b12.j7 --parents

    Args:
        target: A batch `b12`, or a group `b12/stage1`; a job `b12.j7`: those that depend on it.
        query: Only jobs that match: one term per line, or joined by and, or, not.
        group: Only jobs of this group: its path, its number or the name of a set.
        state: Only jobs in this state; may be repeated.
        limit: Show at most this number of jobs; 0: all.
        everything: Print all jobs, page by page.
        parents: Of a job: those that it depends on, instead of those that depend on it.
        explain: Show how the server would run the query, and do not run it.
    """
    batch = parse_target(target)
    shown = 0 if everything else limit
    if batch.job_id is not None:
        if query or group or state or explain:
            raise BadId(
                target, expected="what is chosen from is a batch b12 or a group b12/stage1"
            )
        call, what = (Api.list_parents, "it depends on no job")
        if not parents:
            call, what = (Api.list_children, "no job depends on it")
        listing = partial(call, batch_id=batch.batch_id, job_id=batch.job_id)
        return run(_print(shared, listing, shown, what))
    if parents:
        raise BadId(target, expected="what has parents is a job b12.j7")
    if batch.group is not None and group is not None:
        raise TwoGroups(
            "the group is named twice",
            detail=f"{target} is a group, and --group names another one.",
            hint="Name the group once.",
        )
    where = (batch.batch_id, query, batch.group or group)
    if explain:
        plan = shared.ask(lambda client: client.explain_jobs(*where[:2], group=where[2]))
        print_plan(plan, as_json=shared.json)
        return 0
    group = where[2]
    listing = partial(
        Api.list_jobs, batch_id=where[0], q=query, group=group, states=state, why=not shared.json
    )
    what = "no job matches" if query or group or state else "the batch has no jobs"
    return run(_print(shared, listing, shown, what))


async def _print(
    shared: Shared, list_jobs: Callable[..., Listing[Answer]], limit: int, nothing: str
) -> int:
    """Print a list page by page; of nothing, this note."""
    rows = TableRows(HEADER, right=NUMBERS, spare=SPARE, least=WIDTHS, optional=("Name",))
    async with shared.client() as client:
        listing = list_jobs(client, page_rows=min(limit + 1 if limit else PAGE_ROWS, PAGE_ROWS))
        return await print_pages(
            listing, rows, _row, nothing=nothing, as_json=shared.json, limit=limit
        )


def _row(job: Document) -> tuple[object, ...]:
    return (
        format_job_ref(job["batch_id"], job["job_id"]),
        job_name(job, width=50),
        state_words(job),
        why_of(job),
        money(job["cost"]),
        moment(job.get("started_at")),
        duration(job.get("duration_ms")),
    )


GROUP_HEADER = ("Group", "Kind", "State", "Jobs", "Ended", "Failed", "Cost")
GROUP_WIDTHS = (24, 4, 9, 8, 8, 8, 8)
GROUP_NUMBERS = GROUP_HEADER[3:]


async def groups(target: str, /, *, shared: Shared = SHARED) -> int:
    """List the groups of a batch: those of the tree, and sets.

        weft groups b12

    Args:
        target: A batch `b12`.
    """
    batch_id = parse_batch(target)
    rows = TableRows(GROUP_HEADER, right=GROUP_NUMBERS, least=GROUP_WIDTHS)
    async with shared.client() as client:
        return await print_pages(
            client.list_groups(batch_id),
            rows,
            _group_row,
            as_json=shared.json,
            nothing="the batch has no groups",
            keep=lambda group: group["group_id"],  # 0 is the batch itself
        )


def _group_row(group: Document) -> tuple[object, ...]:
    return (
        group_name(group),
        group["kind"],
        state_words(group),
        group["n_jobs"],
        group["n_completed"],
        group["n_failed"] + group["n_errored"],
        money(group["cost"]),
    )
