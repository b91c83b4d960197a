"""`weft top`: batches, jobs, workers, incidents and sources, live; or printed once."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.cli.input.options import SHARED, Flag, Shared, first_of, say_outage
from weft.cli.terminal.incidents import INCIDENT
from weft.cli.terminal.names import job_name
from weft.cli.terminal.plain import plain
from weft.cli.terminal.production_lines import failing_facts, line_facts
from weft.cli.terminal.screen import (
    STATE_STYLES,
    Columns,
    Document,
    cells_of,
    fit_columns,
    note,
    print_json,
    text,
)
from weft.client.api import Api
from weft.core.ids import format_job_ref
from weft_top.screen.lists import (
    BATCH,
    BATCHES_MAX,
    COUNTS,
    RIGHT,
    WORKER,
    transport_fact,
)

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

PATIENCE_S = 3600
PLAIN_TERMINALS = ("", "dumb", "unknown")
JOB: Columns = {
    "Job": lambda row: format_job_ref(row["batch_id"], row["job_id"]),
    "Name": lambda row: job_name(row, width=30),
    "By": text("user", 16),
    "Worker": text("worker", 30),
}
JOBS_SHOWN = 10
INCIDENTS_SHOWN = 5
SPARE = ("User", "Cost", "Host", "Pool", "Last test", "Condition")
"""Columns that a narrow terminal leaves out, in this order."""
PRINTED_WIDTH = 160


async def top(*, once: Flag = False, shared: Shared = SHARED) -> int:
    """Show batches, their jobs and outputs, workers, incidents and sources, live. Without a
    terminal, print workers and batches once.

        weft top

    Keys cancel, retry and hold jobs, cordon and drain workers and search
    outputs: ? lists them. q or Ctrl-C leaves.

    Args:
        once: Print workers and batches once.
    """
    if sys.stdout.isatty() and not once and not shared.json:
        if os.environ.get("TERM", "") not in PLAIN_TERMINALS:
            await _show(shared)
            return 0
        note("this terminal (TERM) has no full screen: workers and batches are printed once")
    async with shared.client(patience_s=PATIENCE_S) as client:
        overview, batches, incidents = await _look(client, BATCHES_MAX)
        transports = await client.list_transports()
        lines = await client.line_overview()
    if shared.json:
        shown = {**overview, "batches": batches, "conditions": incidents}
        parts = {"transports": transports, **lines}
        print_json(shown | {name: one for name, one in parts.items() if one})
    else:
        from rich.console import Console  # noqa: PLC0415

        console = Console(width=None if sys.stdout.isatty() else PRINTED_WIDTH)
        page = _render(
            client.url,
            overview,
            batches,
            incidents,
            ways=_ways(transports, lines),
            width=console.width,
        )
        console.print(page)
    return 0


async def _show(shared: Shared) -> None:
    """Show the full screen until somebody leaves."""
    from weft_top.screen.program import Top  # noqa: PLC0415

    tell = say_outage  # until the screen is there

    def on_outage(why: str) -> None:
        tell(why)

    async with shared.client(patience_s=PATIENCE_S, on_outage=on_outage) as client:
        program = Top(client, await client.whoami())
        tell = program.note_outage
        await program.run()


async def _look(
    client: Api, count: int
) -> tuple[Document, Sequence[Document], Sequence[Document]]:
    overview = await client.overview()
    n_rows = min(count, BATCHES_MAX)
    batches = await first_of(client.list_batches(page_rows=n_rows), n_rows)
    if not overview.get("conditions"):
        return overview, batches, []
    return overview, batches, await first_of(client.list_conditions(), n_rows)


def _render(
    url: str,
    overview: Document,
    batches: Sequence[Document],
    incidents: Sequence[Document] = (),
    *,
    ways: Sequence[str] = (),
    width: int,
) -> "RenderableType":
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    counts = "   ".join(f"{overview[name]:,} {name}" for name in COUNTS if overview.get(name))
    head = Text.assemble(
        ("weft ", "bold"), plain(url), "   jobs: ", (counts or "none", "bold cyan")
    )
    top: list[RenderableType] = [head, *map(Text, ways), Text()]
    if incidents:
        top += [_table(INCIDENT, incidents[:INCIDENTS_SHOWN], width), Text()]
    workers = _table(WORKER, overview["workers"], width)
    rows = _table(BATCH, batches, width)
    running = [
        {**job, "worker": worker["worker"]}
        for worker in overview["workers"]
        for job in worker["jobs"]
    ]
    if not running:
        return Group(*top, workers, Text(), rows)
    jobs = _table(JOB, running[:JOBS_SHOWN], width)
    more = overview["running"] - len(running[:JOBS_SHOWN])
    rest = Text(f"… and {more:,} more") if more > 0 else Text()
    return Group(*top, workers, Text(), jobs, rest, rows)


def _ways(transports: Sequence[Document], lines: Document) -> list[str]:
    """Return how transports and production lines are, a line each."""
    told = (failing_facts(lines), line_facts(lines))
    return [*map(transport_fact, transports), *filter(None, told)]


def _table(columns: Columns, documents: Sequence[Document], width: int) -> "Table":
    from rich.cells import cell_len  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    header, rows = tuple(columns), [cells_of(columns, one) for one in documents]
    needs = {
        name: max(map(cell_len, cells)) for name, *cells in zip(header, header, *rows, strict=True)
    }
    shown = fit_columns(needs, width, SPARE)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, room in shown.items():
        justify: JustifyMethod = "right" if name in RIGHT else "left"
        table.add_column(name, no_wrap=True, justify=justify, min_width=room, max_width=room)
    for row in rows:
        cells = (cell for name, cell in zip(header, row, strict=True) if name in shown)
        table.add_row(
            *(Text(cell, style=STATE_STYLES.get(cell.split(" ")[0], "")) for cell in cells)
        )
    return table
