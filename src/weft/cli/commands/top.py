"""`weft top`: workers and batches, live."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any

from weft.cli.commands.condition import HEADER as INCIDENT_HEADER
from weft.cli.commands.condition import condition_row
from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.columns import fit_columns
from weft.cli.terminal.interrupts import Interrupts
from weft.cli.terminal.names import job_name, state_words
from weft.cli.terminal.plain import one_line, plain
from weft.cli.terminal.screen import STATE_STYLES, print_json
from weft.client.api import Api
from weft.core.amounts import duration, money, size
from weft.core.ids import format_batch_id, format_job_ref

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

Document = Mapping[str, Any]
STDIN = 0
REFRESH_S = 1.0
BATCHES_MAX = 100
COUNTS = ("running", "ready", "queued", "pending", "blocked")
WORKER_HEADER = ("Worker", "Pool", "Host", "CPU", "Memory", "State")
JOB_HEADER = ("Job", "Name", "By", "Worker")
JOBS_SHOWN = 10
BATCH_HEADER = ("Batch", "Name", "User", "State", "Progress", "Running", "Failed", "Cost", "Took")
INCIDENTS_SHOWN = 5
RIGHT = frozenset({"CPU", "Memory", "Running", "Failed", "Cost", "Took", "Jobs"})
SPARE = ("User", "Cost", "Host", "Pool", "Last test", "Condition")
"""Columns that a narrow terminal leaves out, in this order."""


def top(*, shared: Shared = SHARED) -> int:
    """Show workers and batches, live; q or Ctrl-C leaves. Without a terminal, print once.

        weft top

    Args:
        shared: Options of every command.
    """
    return asyncio.run(_top(shared))


async def _top(shared: Shared) -> int:
    async with shared.client(patience_s=3600) as client:
        if shared.json:
            overview, batches, incidents = await _look(client, BATCHES_MAX)
            print_json({**overview, "batches": batches, "conditions": incidents})
        elif sys.stdout.isatty():
            await _live(client)
        else:
            from rich.console import Console  # noqa: PLC0415

            shown = await _look(client, BATCHES_MAX)
            Console(width=160).print(_render(client.url, *shown, width=160))
    return 0


async def _live(client: Api) -> None:
    from rich.live import Live  # noqa: PLC0415

    stopped, changed = asyncio.Event(), asyncio.Event()

    def leave() -> None:
        stopped.set()
        changed.set()

    async def interrupted() -> None:
        leave()

    listener = asyncio.ensure_future(_listen(client, changed))
    listener.add_done_callback(lambda _: changed.set())
    with (
        Interrupts(interrupted, ""),
        _keys(leave),
        Live(screen=True, auto_refresh=False, redirect_stderr=False) as live,
    ):
        changed.set()
        while not stopped.is_set() and not listener.done():
            await changed.wait()
            changed.clear()
            if not stopped.is_set():
                shown = await _look(client, max(5, live.console.height))
                live.update(_render(client.url, *shown, width=live.console.width), refresh=True)
                # Events come by the thousand; one redraw per second is enough to read.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopped.wait(), REFRESH_S)
    if listener.done():
        listener.result()
    listener.cancel()


async def _listen(client: Api, changed: asyncio.Event) -> None:
    async with aclosing(client.events(opened=changed.set)) as events:
        async for _ in events:
            changed.set()


async def _look(client: Api, count: int) -> tuple[Document, list[Document], list[Document]]:
    overview = await client.overview()
    n_rows = min(count, BATCHES_MAX)
    batches = await _first(client.list_batches(page_rows=n_rows), n_rows)
    if not overview.get("blocked"):
        return overview, batches, []
    return overview, batches, await _first(client.list_conditions(), n_rows)


async def _first(rows: AsyncIterator[Document], count: int) -> list[Document]:
    found: list[Document] = []
    async for row in rows:
        if len(found) >= count:
            break
        found.append(row)
    return found


@contextmanager
def _keys(on_quit: Callable[[], None]) -> Iterator[None]:
    """Call `on_quit` when somebody presses q. The terminal is restored afterwards."""
    if not sys.stdin.isatty():
        yield
        return
    import termios  # noqa: PLC0415 (not on every system)
    import tty  # noqa: PLC0415

    loop = asyncio.get_running_loop()
    before = termios.tcgetattr(STDIN)

    def pressed() -> None:
        if os.read(STDIN, 1) in {b"q", b"Q", b"\x1b", b""}:
            on_quit()

    tty.setcbreak(STDIN)
    loop.add_reader(STDIN, pressed)
    try:
        yield
    finally:
        loop.remove_reader(STDIN)
        termios.tcsetattr(STDIN, termios.TCSADRAIN, before)


def _render(
    url: str,
    overview: Document,
    batches: Sequence[Document],
    incidents: Sequence[Document] = (),
    *,
    width: int,
) -> "RenderableType":
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    counts = "   ".join(f"{overview[name]:,} {name}" for name in COUNTS if overview.get(name))
    head = Text.assemble(
        ("weft ", "bold"), plain(url), "   jobs: ", (counts or "none", "bold cyan")
    )
    top: list[RenderableType] = [head, Text()]
    if incidents:
        shown = [condition_row(one) for one in incidents[:INCIDENTS_SHOWN]]
        top += [_table(INCIDENT_HEADER, shown, width), Text()]
    workers = _table(WORKER_HEADER, [_worker_row(worker) for worker in overview["workers"]], width)
    rows = _table(BATCH_HEADER, [_batch_row(batch) for batch in batches], width)
    running = [_job_row(worker, job) for worker in overview["workers"] for job in worker["jobs"]]
    if not running:
        return Group(*top, workers, Text(), rows)
    jobs = _table(JOB_HEADER, running[:JOBS_SHOWN], width)
    more = overview["running"] - len(running[:JOBS_SHOWN])
    rest = Text(f"… and {more:,} more") if more > 0 else Text()
    return Group(*top, workers, Text(), jobs, rest, rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> "Table":
    from rich.cells import cell_len  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

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


def _worker_row(worker: Document) -> tuple[str, ...]:
    state = worker.get("state", "active")
    if state == "active":
        state = "idle" if worker.get("waiting") else "working"
    return (
        one_line(worker["worker"], width=30),
        one_line(worker["pool"], width=20),
        one_line(worker["host"], width=30),
        f"{_used(worker, 'cpu_used', '{:g}'.format)}{worker['cpu']:g}",
        f"{_used(worker, 'memory_used', size)}{size(worker['memory'])}",
        state,
    )


def _batch_row(batch: Document) -> tuple[str, ...]:
    done, total = batch["n_completed"], batch["n_jobs"]
    share = f" {done * 100 // total}%" if total else ""
    return (
        format_batch_id(batch["id"]),
        one_line(batch["name"] or "", width=30),
        one_line(batch["user"], width=16),
        state_words(batch),
        f"{done:,}/{total:,}{share}",
        f"{batch['n_running']:,}",
        f"{batch['n_failed'] + batch['n_errored']:,}",
        money(batch["cost"]),
        duration(batch["duration_ms"]),
    )


def _job_row(worker: Document, job: Document) -> tuple[str, ...]:
    return (
        format_job_ref(job["batch_id"], job["job_id"]),
        job_name(job, width=30),
        one_line(job["user"], width=16),
        one_line(worker["worker"], width=30),
    )


def _used(worker: Document, name: str, write: Callable[[float], str]) -> str:
    """Return what its jobs have reserved, before what the worker has: `1.5/`."""
    used = worker.get(name)
    return "" if used is None else f"{write(used)}/"
