"""`weft ls`: the batches of this user."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from weft.cli.amounts import duration, moment, money
from weft.cli.options import SHARED, Shared
from weft.cli.plain import one_line
from weft.cli.report import note
from weft.cli.screen import print_json, print_table
from weft.core.ids import format_batch_id

HEADER = ("ID", "Name", "State", "Jobs", "Done", "Failed", "Cost", "Created", "Took")
NUMBERS = ("Jobs", "Done", "Failed", "Cost", "Took")
PAGE_ROWS = 1000


def ls(
    *,
    limit: Annotated[int, Parameter(name=["--limit", "-n"])] = 20,
    name: str | None = None,
    shared: Shared = SHARED,
) -> int:
    """List batches, newest first.

    Args:
        limit: How many at most; 0: all.
        name: Only those of exactly this name.
        shared: Options of every command.
    """
    batches = asyncio.run(_list(limit, name, shared))
    if shared.json:
        print_json(batches)
    elif batches:
        print_table(HEADER, map(_row, batches), right=NUMBERS)
    else:
        note("no batches yet; `weft run -- date` makes one")
    return 0


async def _list(limit: int, name: str | None, shared: Shared) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    async with shared.client() as client:
        page_rows = min(limit or PAGE_ROWS, PAGE_ROWS)
        async for batch in client.list_batches(name=name, page_rows=page_rows):
            found.append(batch)
            if len(found) == limit:
                break
    return found


def _row(batch: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        format_batch_id(batch["id"]),
        one_line(batch["name"] or "", width=40),
        batch["state"],
        f"{batch['n_jobs']:,}",
        f"{batch['n_completed']:,}",
        f"{batch['n_failed'] + batch['n_errored']:,}",
        money(batch["cost"]),
        moment(batch["created_at"]),
        duration(batch["duration_ms"]),
    )
