"""`weft jobs`: the jobs of a batch or group, all or those that match a query; or those that depend
on a job, or that it depends on.
"""

from collections.abc import Sequence
from typing import Annotated

from weft.cli.input.options import SHARED, Flag, Limit, Parameter, Shared
from weft.cli.input.targets import parse_target
from weft.cli.terminal.names import job_name, shown_phase, state_words
from weft.cli.terminal.screen import Document, JsonItems, TableRows, moment, note, print_plan
from weft.client.http.blocking import run
from weft.client.http.listing import Listing
from weft.core.ends.end_words import explain_end
from weft.core.errors import BadId, Invalid
from weft.core.ids import format_job_ref
from weft.core.text.amounts import duration, money
from weft.wire.answers.batches import JobStateWord

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
        of = (batch.batch_id, batch.job_id)
        return run(_list_neighbours(shared, shown, *of, parents=parents))
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
    return run(_list(shared, shown, *where, state))


async def _list(
    shared: Shared,
    limit: int,
    batch_id: int,
    query: str | None,
    group: str | None,
    states: Sequence[str] = (),
) -> int:
    async with shared.client() as client:
        page_rows = _page_rows(limit)
        listing = client.list_jobs(
            batch_id, query, group=group, states=states, why=not shared.json, page_rows=page_rows
        )
        nothing = "no job matches" if query or group or states else "the batch has no jobs"
        return await _print(listing, limit, nothing, as_json=shared.json)


async def _list_neighbours(
    shared: Shared, limit: int, batch_id: int, job_id: int, *, parents: bool
) -> int:
    async with shared.client() as client:
        list_jobs = client.list_parents if parents else client.list_children
        nothing = "it depends on no job" if parents else "no job depends on it"
        listing = list_jobs(batch_id, job_id, page_rows=_page_rows(limit))
        return await _print(listing, limit, nothing, as_json=shared.json)


def _page_rows(limit: int) -> int:
    return min(limit + 1 if limit else PAGE_ROWS, PAGE_ROWS)


async def _print(listing: Listing, limit: int, nothing: str, *, as_json: bool) -> int:
    """Print a list page by page; of nothing, this note."""
    rows = TableRows(HEADER, right=NUMBERS, spare=SPARE, least=WIDTHS, optional=("Name",))
    items = JsonItems()
    count, more = 0, False
    while not more and (page := await listing.next_page()):
        more = bool(limit) and count + len(page) > limit
        shown = page[: limit - count] if limit else page
        count += len(shown)
        if as_json:
            items.print(shown)
        else:
            rows.print([_row(job) for job in shown])
    for text in listing.warnings:
        note(text)
    if as_json:
        items.end()
    elif not count:
        note(nothing)
    elif more:
        note(f"these are the first {count}; `--all` prints all, `-n` says how many")
    return 0


def _row(job: Document) -> tuple[object, ...]:
    ended = job.get("ended_at") is not None and job["state"] != "success"
    return (
        format_job_ref(job["batch_id"], job["job_id"]),
        job_name(job, width=50),
        state_words(job),
        explain_end(job) if ended else job.get("why") or shown_phase(job),
        money(job["cost"]),
        moment(job.get("started_at")),
        duration(job.get("duration_ms")),
    )
