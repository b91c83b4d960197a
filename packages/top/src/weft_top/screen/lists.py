"""The lists and texts of `weft top`: what each asks the server, and its columns, of which those of
workers and batches are also printed.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final

from weft.cli.input.options import first_of
from weft.cli.terminal.incidents import INCIDENT
from weft.cli.terminal.names import came_by, job_name, state_words, why_of, worker_host
from weft.cli.terminal.production_lines import ITEM, SOURCE, failing_facts, line_facts
from weft.cli.terminal.screen import Column, cells_of, moment, one_line, plain, text
from weft.client.api import Api
from weft.core.ends.end_words import has_output
from weft.core.ids import format_batch_id, format_condition_id, format_job_ref, parse_job_ref
from weft.core.text.amounts import duration, money, size
from weft_top.screen.state import Columns, Document, Row, View

RIGHT = frozenset({"Waiting", "CPU", "Memory", "Running", "Failed", "Cost", "Took"})


def _worker_state(worker: Document) -> str:
    state: str = worker.get("state", "active")
    if state == "active":
        state = "working" if worker["jobs"] or not worker.get("waiting") else "idle"
    return state


def _done(batch: Document) -> str:
    done, total = batch["n_completed"], batch["n_jobs"]
    share = f" {done * 100 // total}%" if total else ""
    return f"{done:,}/{total:,}{share}"


def _used(worker: Document, name: str, write: Callable[[float], str]) -> str:
    """Return what its jobs have reserved, before what the worker has: `1.5/`."""
    used = worker.get(name)
    return "" if used is None else f"{write(used)}/"


WORKER: Final[Mapping[str, Column]] = {
    "Worker": text("worker", 30),
    "Pool": text("pool", 20),
    "Host": lambda row: one_line(worker_host(row), width=30),
    "CPU": lambda row: f"{_used(row, 'cpu_used', '{:g}'.format)}{row['cpu']:g}",
    "Memory": lambda row: f"{_used(row, 'memory_used', size)}{size(row['memory'])}",
    "State": _worker_state,
}
BATCH: Final[Mapping[str, Column]] = {
    "Batch": lambda row: format_batch_id(row["id"]),
    "Name": lambda row: one_line(row["name"] or came_by(row) or "", width=30),
    "User": text("user", 16),
    "State": state_words,
    "Progress": _done,
    "Running": lambda row: f"{row['n_running']:,}",
    "Failed": lambda row: f"{row['n_failed'] + row['n_errored']:,}",
    "Cost": lambda row: money(row["cost"]),
    "Took": lambda row: duration(row["duration_ms"]),
}

BATCHES_MAX = 100
JOBS_MAX = 200
LOG_BYTES = 64 * 1024
"""The end of an output that is shown."""
CUT = "…"
"""The first line of one that is longer."""
COUNTS = ("running", "ready", "queued", "pending", "blocked")
JOB_STATES: Mapping[str, tuple[str, ...]] = {
    "": (),
    "running": ("creating", "running"),
    "waiting": ("pending", "ready", "queued", "blocked"),
    "failed": ("failed", "error"),
}
"""What `f` limits a list of jobs to, in its order."""
_ANSI = re.compile("\x1b\\[[0-9;:?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)")
TAB_CELLS = 8

LAST = "\U0010ffff"
"""Sorts behind every name."""

BATCHES = Columns(
    tuple(BATCH),
    ("User", "Cost"),
    {
        "name": lambda one: (one["name"] or LAST).casefold(),
        "running": lambda one: one["n_running"],
        "failed": lambda one: one["n_failed"] + one["n_errored"],
        "cost": lambda one: one["cost"] or 0,
        "took": lambda one: one["duration_ms"] or 0,
    },
)
JOBS = Columns(
    ("Job", "Name", "State", "Why", "Cost", "Took"),
    ("Cost", "Took"),
    {
        "state": lambda one: one["state"],
        "cost": lambda one: one["cost"] or 0,
        "took": lambda one: one.get("duration_ms") or 0,
    },
)
WORKERS = Columns(
    (*WORKER, "Jobs"),
    ("Host", "Pool", "Memory"),
    {
        "cpu": lambda one: one.get("cpu_used") or 0,
        "memory": lambda one: one.get("memory_used") or 0,
        "state": lambda one: one.get("state", ""),
    },
)
INCIDENTS = Columns(
    tuple(INCIDENT), ("Last test", "Condition"), {"jobs": lambda one: one["n_jobs"]}
)
SOURCES = Columns(
    tuple(SOURCE),
    ("Kind", "Last item", "Read"),
    {"waiting": lambda one: one["n_waiting"], "state": lambda one: one["state"]},
)
ITEMS = Columns(tuple(ITEM), ("Series", "Found"))
RUNNING = Columns(("Job", "Name", "By"))
BLOCKED = Columns(("Job", "Waits since", "Next try"))
ROOTS: Mapping[str, tuple[str, Columns]] = {
    "1": ("batches", BATCHES),
    "2": ("workers", WORKERS),
    "3": ("incidents", INCIDENTS),
    "4": ("sources", SOURCES),
}


def root(key: str) -> View:
    """Return one of the lists to begin with."""
    title, columns = ROOTS[key]
    return View(kind=title, title=title, columns=columns)


def opened(view: View, row: Row) -> View:
    """Return what Enter shows of a row: the jobs of a batch, a worker or an incident, the items of
    a source, the output of a job.
    """
    one = row.document
    if "job_id" in one:
        return View(kind="log", title=f"output of {row.name}", target=one, is_at_end=True)
    if view.kind == "items":
        return View(kind="item", title=f"item {row.name}", target=one)
    kinds = {
        "batches": ("jobs", f"jobs of {row.name}", JOBS),
        "workers": ("running", f"jobs on {one_line(one.get('worker', ''), width=30)}", RUNNING),
        "sources": ("items", f"items of {row.name}", ITEMS),
        "incidents": ("blocked", f"jobs that wait for {row.name}", BLOCKED),
    }
    kind, title, columns = kinds[view.kind]
    return View(kind=kind, title=title, target=one, columns=columns)


async def load(client: Api, view: View) -> None:
    """Ask the server for what a view shows, and put it there."""
    await _LOADERS[view.kind](client, view)


def facts_of(overview: Document, transports: Sequence[Document] = ()) -> str:
    """Return the numbers of jobs and workers in one line, and how transports are."""
    counts = "   ".join(f"{overview[name]:,} {name}" for name in COUNTS if overview.get(name))
    n_incidents = overview["incidents"]
    parts = [f"jobs: {counts or 'none'}", f"workers: {len(overview['workers']):,}"]
    parts += [f"incidents: {n_incidents:,}"] if n_incidents else []
    return "   ".join(parts + [transport_fact(transport) for transport in transports])


def transport_fact(one: Document) -> str:
    """Return in a few words how a transport is."""
    if one["away_since"] is not None:
        return f"{one['transport']}: away"
    offered, in_flight = (
        sum(queue[name] for queue in one["queues"]) for name in ("offered", "in_flight")
    )
    return f"{one['transport']}: {offered:,} offered, {in_flight:,} in flight"


def _row(name: str, columns: Mapping[str, Column], one: Document) -> Row:
    return Row(name, cells_of(columns, one), one)


async def _batches(client: Api, view: View) -> None:
    overview = await client.overview()
    found = await first_of(
        client.list_batches(view.query or None, page_rows=BATCHES_MAX), BATCHES_MAX
    )
    view.facts = facts_of(overview, await client.list_transports())
    view.show([_row(format_batch_id(one["id"]), BATCH, one) for one in found])


async def _jobs(client: Api, view: View) -> None:
    batch_id = view.target["id"]
    batch = await client.get_batch(batch_id)
    listing = client.list_jobs(
        batch_id, view.query or None, states=JOB_STATES[view.only], why=True, page_rows=JOBS_MAX
    )
    found = await first_of(listing, JOBS_MAX)
    view.facts = _progress(batch)
    if len(found) == JOBS_MAX and batch["n_jobs"] > JOBS_MAX:
        view.facts += f"   (the first {JOBS_MAX} are listed)"
    view.show([Row(_ref(one), _job_cells(one), one) for one in found])


async def _workers(client: Api, view: View) -> None:
    overview = await client.overview()
    rows = [
        Row(f"{one['pool']}/{one['worker']}", (*cells_of(WORKER, one), _refs(one)), one)
        for one in overview["workers"]
    ]
    view.facts = facts_of(overview)
    view.show(_matching(rows, view.query))


async def _incidents(client: Api, view: View) -> None:
    overview = await client.overview()
    found = await first_of(client.list_conditions(), BATCHES_MAX)
    rows = [_row(format_condition_id(one["condition_id"]), INCIDENT, one) for one in found]
    others = failing_facts(await client.line_overview(), overview["workers"])
    view.facts = "   ".join(filter(None, (facts_of(overview), others)))
    view.show(_matching(rows, view.query))


async def _sources(client: Api, view: View) -> None:
    lines = await client.line_overview()
    view.facts = line_facts(lines)
    rows = [_row(line["source"], SOURCE, line) for line in lines["sources"]]
    view.show(_matching(rows, view.query))


async def _items(client: Api, view: View) -> None:
    source = view.target
    view.facts = one_line(source["error"] or source["state"], width=100)
    found = await first_of(client.list_source_items(source["source"]), BATCHES_MAX)
    rows = [_row(one_line(one["key"], width=40), ITEM, _with_job(one)) for one in found]
    view.show(_matching(rows, view.query))


def _with_job(item: Document) -> Document:
    """Return an item; of one that has a job also the number of that, so that it opens as one."""
    if item["job"] is None:
        return item
    batch_id, job_id = parse_job_ref(item["job"])
    return {**item, "batch_id": batch_id, "job_id": job_id}


async def _item(client: Api, view: View) -> None:  # noqa: ARG001 (as the others)
    one = view.target
    view.show_text([f"{one['state']}: {plain(one['reason'] or 'its job is being made')}"])


async def _running(client: Api, view: View) -> None:
    overview = await client.overview()
    found = [
        job
        for worker in overview["workers"]
        if (worker["worker"], worker["pool"]) == (view.target["worker"], view.target["pool"])
        for job in worker["jobs"]
    ]
    view.facts = facts_of(overview)
    rows = [
        Row(_ref(one), (_ref(one), job_name(one, width=50), one_line(one["user"])), one)
        for one in found
    ]
    view.show(_matching(rows, view.query))


async def _blocked(client: Api, view: View) -> None:
    condition = await client.get_condition(view.target["condition_id"])
    view.facts = f"{condition['n_jobs']:,} jobs wait; those that are due first"
    rows = [
        Row(_ref(one), (_ref(one), moment(one["blocked_at"]), moment(one["next_at"])), one)
        for one in condition["jobs"]
    ]
    view.show(_matching(rows, view.query))


async def _log(client: Api, view: View) -> None:
    batch_id, job_id = view.target["batch_id"], view.target["job_id"]
    job = await client.get_job(batch_id, job_id)
    view.target = job
    facts = ": ".join(filter(None, (state_words(job), one_line(why_of(job), width=100))))
    view.facts = f"{job_name(job, width=40)} {facts}".strip()
    if not has_output(job):
        view.show_text([])
        return
    if view.is_loaded and not view.is_at_end:
        return  # somebody reads what is there
    pieces = [piece async for piece in client.read_log(batch_id, job_id, last_bytes=LOG_BYTES)]
    data = b"".join(pieces)
    view.show_text(log_lines(data, is_cut=len(data) >= LOG_BYTES))


async def _why(client: Api, view: View) -> None:
    one = view.target
    job = (one["batch_id"], one["job_id"]) if "job_id" in one else None
    answer = await (client.why_job(*job) if job else client.why_group(one["id"]))
    view.show_text(list(_cause_lines(answer)))


async def _nothing(client: Api, view: View) -> None:
    """Leave a text as it is: help."""


_LOADERS: Mapping[str, Callable[[Api, View], Awaitable[None]]] = {
    "batches": _batches,
    "jobs": _jobs,
    "workers": _workers,
    "incidents": _incidents,
    "sources": _sources,
    "items": _items,
    "item": _item,
    "running": _running,
    "blocked": _blocked,
    "log": _log,
    "why": _why,
    "help": _nothing,
}


def log_lines(data: bytes, *, is_cut: bool = False) -> list[str]:
    """Return an output as lines that a screen can show: text only, without colours."""
    text = _ANSI.sub("", data.decode(errors="replace")).replace("\r\n", "\n")
    lines = text.split("\n")
    if is_cut:  # the first one has no beginning
        lines[0] = CUT
    if lines[-1] == "":
        lines.pop()
    # What a carriage return has overwritten is not seen on a terminal either.
    seen = (line.rstrip("\r").rsplit("\r", 1)[-1] for line in lines)
    return [plain(line.expandtabs(TAB_CELLS)) for line in seen]


def is_live(view: View) -> bool:
    """Say whether a view changes without an event that tells of it: what a job writes."""
    return view.kind == "log" and view.target.get("state") == "running"


def is_cut(view: View) -> bool:
    """Say whether an output is longer than what is there of it."""
    return [*view.texts[:1]] == [CUT]


def _matching(rows: Sequence[Row], words: str) -> list[Row]:
    """Return the rows with this text in one of their cells."""
    wanted = words.casefold()
    return [row for row in rows if any(wanted in cell.casefold() for cell in row.cells)]


def _cause_lines(answer: Document) -> Iterator[str]:
    causes = answer["causes"] or [{"text": "will start in a moment", "command": None}]
    for cause in causes:
        job_id = cause.get("job_id")
        of = "" if job_id is None else format_job_ref(answer["batch_id"], job_id) + " "
        yield plain(of + cause["text"])
        if cause["command"]:
            yield f"  {plain(cause['command'])}"


def _job_cells(job: Document) -> tuple[str, ...]:
    return (
        _ref(job),
        job_name(job, width=50),
        state_words(job),
        one_line(why_of(job), width=100),
        money(job["cost"]) or "",
        duration(job.get("duration_ms")),
    )


def _progress(batch: Document) -> str:
    n_failed = batch["n_failed"] + batch["n_errored"]
    parts = [
        f"{state_words(batch)} {_done(batch)}",
        f"{batch['n_running']:,} running" if batch["n_running"] else "",
        f"{n_failed:,} failed" if n_failed else "",
        one_line(batch["name"] or "", width=40),
        one_line(came_by(batch) or "", width=60),
    ]
    return "   ".join(part for part in parts if part)


def _refs(worker: Document) -> str:
    refs = [_ref(job) for job in worker["jobs"]]
    more = worker.get("n_running", len(refs)) - 2
    return " ".join(refs[:2]) + (f" +{more}" if more > 0 else "")


def _ref(job: Document) -> str:
    return format_job_ref(job["batch_id"], job["job_id"])
