"""`weft trail`: who changed what, when and from where."""

from typing import Annotated, Any

from weft.cli.input.limit_options import parse_past
from weft.cli.input.options import SHARED, Flag, Limit, Parameter, Shared, bounded, read_option
from weft.cli.input.targets import parse_batch
from weft.cli.terminal.screen import at, one_line, text
from weft.client.http.calls import Document
from weft.core.text.amounts import counted

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
    limit: Limit = 20,
    all_tenants: Flag = False,
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
    found = shared.ask_all(lambda client: client.list_trail(**query), limit)
    shared.table(
        found,
        {
            "Number": "number",
            "At": at("at"),
            "User": _whose,
            "Action": "action",
            "Path": text("path", WIDTH),
            "From": text("address", WIDTH, "-"),
            "Trace": "trace_id",
            "Result": _result,
        },
        right=("Number",),
        spare=SPARE,
        empty="the trail has no such entry",
    )


def _whose(entry: Document) -> str:
    return "/".join(one_line(entry[name] or "-", width=WIDTH) for name in ("tenant", "user"))


def _result(entry: Document) -> str:
    result, times = entry["refused"] or "done", entry.get("times", 1)
    return result if times == 1 else f"{result}, {counted(times, 'time')}"
