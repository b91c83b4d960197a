"""`weft trail`: who changed what, when and from where."""

from collections.abc import Sequence
from typing import Annotated, Any

from weft.cli.input.bounds import bounded
from weft.cli.input.limit_options import parse_past
from weft.cli.input.options import SHARED, Shared
from weft.cli.input.signature import Parameter
from weft.cli.input.targets import parse_batch
from weft.cli.input.values import read_option
from weft.cli.terminal.amounts import moment
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.screen import print_table
from weft.client.http.listing import Document, Listing

HEADER = ("Number", "At", "User", "Action", "Path", "From", "Trace", "Result")
SPARE = ("Trace", "Path", "From", "Number")
"""Columns that a narrow terminal leaves out, in this order."""
WIDTH = 64


def trail(
    *,
    user: str | None = None,
    action: str | None = None,
    batch: str | None = None,
    since: str | None = None,
    number: Annotated[int | None, Parameter(validator=bounded(1))] = None,
    limit: Annotated[int, Parameter(name=["--limit", "-n"], validator=bounded(0))] = 20,
    all_tenants: Annotated[bool, Parameter(negative="")] = False,
    shared: Shared = SHARED,
) -> None:
    """Show what users of your tenant have changed or were refused, newest first.

        weft trail --user bob --since 2h
        weft trail --action log_in

    Logins that failed are in it, as far as it is known that they were of your
    tenant; --all-tenants shows the others, too. After the first one, all that are
    alike within a minute have one entry.

    An entry is shown when it is sealed, within a second. --json also prints its
    digest, which goes over all entries before it; `weft audit` checks them. Only
    for administrators of the tenant.

    Args:
        user: Only what this user did.
        action: Only this action, such as cancel_batch.
        batch: Only what is about this batch.
        since: Only what happened since a time such as 2026-11-22T18:00, or in the last 2h.
        number: Only the entry with this number.
        limit: Show at most this number of entries; 0: all.
        all_tenants: What users of all tenants did, for administrators of the site.
    """
    query: dict[str, Any] = {
        "user": user,
        "action": action,
        "batch": None if batch is None else parse_batch(batch),
        "since": None if since is None else read_option("--since", since, parse_past),
        "number": number,
        "all_tenants": all_tenants,
    }
    found = shared.ask(lambda client: _first(client.list_trail(**query), limit))
    if not shared.as_json(found):
        empty = "the trail has no such entry"
        print_table(HEADER, map(_row, found), right=("Number",), spare=SPARE, empty=empty)


def _row(entry: Document) -> tuple[str, ...]:
    who = one_line(entry["user"] or "-", width=WIDTH)
    result, times = entry["refused"] or "done", entry.get("times", 1)
    return (
        str(entry["number"]),
        moment(entry["at"]),
        f"{one_line(entry['tenant'] or '-', width=WIDTH)}/{who}",
        entry["action"],
        one_line(entry["path"], width=WIDTH),
        one_line(entry["address"] or "-", width=WIDTH),
        entry["trace_id"],
        result if times == 1 else f"{result}, {times:,} times",
    )


async def _first(listing: Listing, limit: int) -> Sequence[Document]:
    found: list[Document] = []
    async for one in listing:
        found.append(one)
        if len(found) == limit:
            break
    return found
