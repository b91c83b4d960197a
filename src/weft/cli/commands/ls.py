"""`weft ls`: the batches of this user."""

from collections.abc import Mapping
from typing import Any

from weft.cli.input.options import SHARED, Flag, Limit, Shared, first_of
from weft.cli.input.targets import query_of
from weft.cli.terminal.names import came_by, state_words
from weft.cli.terminal.screen import cell, moment, note, print_json, print_plan, print_table
from weft.client.api import Api
from weft.client.http.client_routes import BatchSort
from weft.core.ids import format_batch_id
from weft.core.states import ENDED_WORDS
from weft.core.text.amounts import duration, money

HEADER = ("ID", "Name", "State", "Jobs", "Done", "Failed", "Cost", "Created", "Took")
NUMBERS = ("Jobs", "Done", "Failed", "Cost", "Took")
BY = "Came by"
"""A column of batches of which one came through a door."""
SPARE = (BY, "Created", "Cost", "Done", "Took")
"""Columns that a narrow terminal leaves out, in this order."""
PAGE_ROWS = 1000


async def ls(
    query: str | None = None,
    /,
    *,
    limit: Limit = 20,
    name: str | None = None,
    sort: BatchSort = "number",
    reverse: Flag = False,
    all: Flag = False,  # noqa: A002 (the option's name)
    explain: Flag = False,
    shared: Shared = SHARED,
) -> int:
    """List batches, newest first.

        weft ls 'state = running and user = ada'
        weft ls --sort completed

    Args:
        query: Only batches that match: one term per line, or joined by and, or, not. `@NAME`: the
            query that was saved under this name.
        limit: Show at most this number of batches; 0: all.
        name: Only batches with exactly this name.
        sort: `number`, `created` or `completed`: the newest first; `name`: A first. `name` leaves
            out batches without one, `completed` those that are not complete.
        reverse: The other way round.
        all: Also hidden batches.
        explain: Show how the server would run the query, and do not run it.
    """
    order: BatchSort | None = sort if reverse or sort != "number" else None
    async with shared.client() as client:
        query = query and await query_of(client, query)
        if explain:
            plan = await client.explain_batches(query, name=name, sort=order, reverse=reverse)
            print_plan(plan, as_json=shared.json)
            return 0
        page_rows = min(limit or PAGE_ROWS, PAGE_ROWS)
        listing = client.list_batches(
            query, name=name, hidden=all, sort=order, reverse=reverse, page_rows=page_rows
        )
        batches = await first_of(listing, limit)
        are_hidden = not batches and not all and await _has_hidden(client, query, name)
    for text in listing.warnings:
        note(text)
    if shared.json:
        print_json(batches)
    elif batches:
        doors = [cell(came_by(batch) or "", width=60) for batch in batches]
        header = (*HEADER, BY)[: len(HEADER) + any(doors)]
        rows = [(*_row(one), by)[: len(header)] for one, by in zip(batches, doors, strict=True)]
        print_table(header, rows, right=NUMBERS, spare=SPARE)
    elif query or name:
        note("only hidden batches match; --all shows them" if are_hidden else "no batch matches")
        if query in {*ENDED_WORDS, "running", "complete", "failure"}:
            note(f"that looks for a name; `weft ls 'state = {query}'` for a state")
    elif are_hidden:
        note("all batches are hidden; `weft ls --all` shows them")
    else:
        note("no batches yet; `weft run -- date` creates one")
    return 0


async def _has_hidden(client: Api, query: str | None, name: str | None) -> bool:
    """Return whether there are batches if hidden ones count."""
    async for _ in client.list_batches(query, name=name, hidden=True, page_rows=1):
        return True
    return False


def _row(batch: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        format_batch_id(batch["id"]),
        cell(batch["name"] or "", width=40),
        state_words(batch),
        f"{batch['n_jobs']:,}",
        f"{batch['n_completed']:,}",
        f"{batch['n_failed'] + batch['n_errored']:,}",
        money(batch["cost"]),
        moment(batch["created_at"]),
        duration(batch["duration_ms"]),
    )
