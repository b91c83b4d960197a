"""`weft status`: the state of a batch, a job or a group."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from weft.cli.input.options import SHARED, Limit, Parameter, Shared, first_of
from weft.cli.input.targets import Target, parse_target
from weft.cli.terminal.exit_code import FAILED
from weft.cli.terminal.names import (
    came_by,
    group_name,
    job_name,
    number_ranges,
    shown_phase,
    state_words,
)
from weft.cli.terminal.plain import moment, one_line, wrapped
from weft.cli.terminal.progress_line import LiveStatus
from weft.cli.terminal.screen import (
    Document,
    note,
    print_columns,
    print_facts,
    print_json,
    print_line,
    print_table,
)
from weft.cli.terminal.waits import messages_of, reason_of
from weft.client.api import Api
from weft.client.http.blocking import asyncio
from weft.client.waiting import last_of
from weft.core.deliveries.sinks import unsent_of
from weft.core.ends.end_words import explain_end, explain_reason, over_memory
from weft.core.ends.services import service_words
from weft.core.errors import BadId
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.progress_file import progress_of
from weft.core.states import ENDED_WORDS, shown_state
from weft.core.text.amounts import duration, money, size

STATES = (
    "pending",
    "ready",
    "queued",
    "creating",
    "running",
    "blocked",
    "succeeded",
    "failed",
    "errored",
    "cancelled",
)
JOBS_SHOWN = 20
PAGE_ROWS = 1000
COUNTED_MAX = 100_000
"""Failed jobs whose reasons are counted: a second's work at most."""
_IN_BYTES = ("memory", "storage")
NOT_SUCCEEDED = ("failed", "error")


async def status(
    target: str,
    /,
    *,
    limit: Limit = JOBS_SHOWN,
    watch: Annotated[bool, Parameter(name=["--watch", "-w"], negative="")] = False,
    shared: Shared = SHARED,
) -> int:
    """Show a batch with its counts, cost and failed jobs, or a job with its attempts and history.

        weft status b12/stage1
        weft status b12 --watch

    Args:
        target: A batch `b12`, a job `b12.j7` or a group `b12/stage1`.
        limit: Show at most this number of failed jobs; 0: all.
        watch: Show the progress of a batch or group until all jobs have ended: bar, rate and when
            it will end; then the exit code is 1 if one did not succeed. With `--json`, print each
            change, a document a line.
    """
    which = parse_target(target)
    if watch and which.job_id is not None:
        raise BadId(
            target, expected="only a batch or a group is watched; `weft wait` waits for a job"
        )
    exit_code = 0
    async with shared.client() as client:
        if watch:
            ended = await _watch(client, which, as_json=shared.json)
            exit_code = 0 if ended["state"] == "success" else FAILED
            if shared.json:
                return exit_code
        if which.job_id is not None:
            await _show_job(client, which.batch_id, which.job_id, as_json=shared.json)
        else:
            await _show_counted(client, which, limit, as_json=shared.json)
    return exit_code


async def _watch(client: Api, target: Target, *, as_json: bool) -> Document:
    """Show progress until all jobs have ended, and return how; say at Ctrl-C that they run on."""

    async def look() -> Document:
        return await target.ask(client.get_batch, client.get_job, client.get_group)

    batch = format_batch_id(target.batch_id)
    name = batch if target.group is None else f"{batch}/{target.group.lstrip('/')}"
    screen = LiveStatus(name)
    try:
        document = await last_of(
            client.watch(target.batch_id, look), print_line if as_json else screen.show
        )
        screen.hide()
    except asyncio.CancelledError:
        screen.hide()
        note(
            f"{name} runs on; `weft cancel {name}` ends it, `weft status -w {name}` shows it again"
        )
        raise
    return document


async def _show_counted(client: Api, target: Target, limit: int, *, as_json: bool) -> None:
    """Show a batch or a group, with why jobs of it failed."""
    if target.group is None:
        document: Document = await client.get_batch(target.batch_id)
        name, what = format_batch_id(target.batch_id), "Batch"
    else:
        document = await client.get_group(target.batch_id, target.group)
        name, what = group_name(document), "Group"
    n_failed = document["n_failed"] + document["n_errored"]
    reasons = await _reasons(client, target) if n_failed else Counter()
    if as_json:
        print_json({**document, "reasons": reasons})
        return
    waits = await reason_of(client, document)
    _print_counts(document, name, what=what, reasons=_counted(reasons, n_failed), waits=waits)
    jobs = await _failed_jobs(client, target, limit) if n_failed else []
    if not jobs:
        return
    print()
    print_columns(
        {
            "Job": lambda row: format_job_ref(row["batch_id"], row["job_id"]),
            "Name": lambda row: job_name(row, width=50),
            "State": "state",
            "Why": explain_end,
            "Ended": lambda row: moment(row.get("ended_at")),
        },
        jobs,
        spare=("Ended",),
    )
    if n_failed > len(jobs):
        more = f"… and {n_failed - len(jobs):,} more: `weft status --limit 0 {name}`"
        print(wrapped(more, sys.stdout))
    print("\n" + wrapped(f"`weft logs {name} --failed` shows their output", sys.stdout))


async def _reasons(client: Api, target: Target) -> Counter[str]:
    """Return how many jobs failed for each reason, in words."""
    found: Counter[str] = Counter()
    counts = await client.count_reasons(target.batch_id, group=target.group, enough=COUNTED_MAX)
    for count in counts:
        found[explain_reason(count)] += count["n_jobs"]
    return found


async def _failed_jobs(client: Api, target: Target, limit: int) -> list[Document]:
    """Return as many as are shown; 0: all."""
    rows = min(limit, PAGE_ROWS) or PAGE_ROWS
    listing = client.list_jobs(
        target.batch_id, group=target.group, states=NOT_SUCCEEDED, page_rows=rows
    )
    return await first_of(listing, limit)


def _counted(reasons: Counter[str], n_failed: int) -> str | None:
    """Return how often each reason is there: `exit code 1: 40, out of memory: 2`."""
    if not reasons:
        return None
    text = ", ".join(f"{reason}: {count:,}" for reason, count in reasons.most_common())
    counted = reasons.total()
    return text if counted >= n_failed else f"{text} (of the first {counted:,})"


def _print_counts(
    batch: Document, name: str, *, what: str, reasons: str | None, waits: str | None
) -> None:
    counts = [f"{batch[f'n_{word}']:,} {word}" for word in STATES if batch[f"n_{word}"]]
    state, source = state_words(batch), batch.get("resubmitted_from")
    if batch["cancelled"] and batch["complete"] and state == "success":
        state += " (closed to new jobs)"
    elif batch["cancelled"] and batch["state"] != "cancelled":
        state += " (cancelled)"
    elif not batch["complete"] and state.startswith("cancelled"):
        state += " (not complete)"
    print_facts(
        {
            what: name,
            "Name": batch["name"] and one_line(batch["name"], width=200),
            "Made from": source and format_batch_id(source),
            "Came by": came_by(batch),
            "State": state,
            "Jobs": f"{batch['n_jobs']:,}" + (f": {', '.join(counts)}" if counts else ""),
            "Why": reasons,
            "Waits": waits,
            "Messages": unsent_of(batch.get("messages", ())) or None,
            "Cost": money(batch["cost"]),
            "Created": moment(batch.get("created_at")) or None,
            "Completed": moment(batch.get("completed_at")) or None,
            "Took": duration(batch.get("duration_ms")) or None,
            "Trace": batch.get("trace_id"),
        }
    )


async def _show_job(client: Api, batch_id: int, job_id: int, *, as_json: bool) -> None:
    job = await client.get_job(batch_id, job_id)
    attempts = await client.list_attempts(batch_id, job_id)
    history = await client.job_history(batch_id, job_id)
    if as_json:
        print_json({**job, "attempts": attempts, "history": history})
        return
    peak = attempts[-1].get("memory_peak_bytes") if attempts else None
    over = over_memory(peak, (job.get("resources") or {}).get("memory"))
    _print_job(job, await reason_of(client, job), over, await messages_of(client, job))
    if attempts:
        print()
        print_table(
            ("Attempt", "Worker", "State", "Why", "Started", "Took", "CPU", "Memory", "Output"),
            [_attempt_row(attempt) for attempt in attempts],
            right=("Attempt", "Took", "CPU", "Memory", "Output"),
            spare=("Output", "Started", "Worker", "CPU", "Memory"),
        )
    print()
    print_table(
        ("At", "From", "To", "Attempt", "By", "What"),
        map(_change_row, history),
        spare=("Attempt", "By"),
    )


def _print_job(
    job: Document, waits: str | None, over: str = "", messages: str | None = None
) -> None:
    spec = job.get("spec") or {}
    command = spec.get("command")
    value = (spec.get("env") or {}).get("WEFT_ARRAY_VALUE")
    limit_s = spec.get("timeout_s")
    print_facts(
        {
            "Job": format_job_ref(job["batch_id"], job["job_id"]),
            "Name": job_name(job, width=200) or None,
            "State": state_words(job),
            "Status": job.get("status"),
            "Why": _why(job) if job["state"] in ENDED_WORDS else waits,
            "Messages": messages,
            "Phase": shown_phase(job),
            "Progress": _progress(job),
            "Notes": one_line(", ".join(job.get("notes") or ()), width=500) or None,
            "App": job.get("app"),
            "Command": one_line(" ".join(command), width=500) if command else None,
            "Script": one_line(spec["script"], width=500) if spec.get("script") else None,
            "Value": one_line(value, width=200) if value is not None else None,
            "Directory": spec.get("cwd"),
            "Queue": job.get("queue"),
            "Service": service_words(job),
            "Needs": _needs(job.get("resources") or {}),
            "Warning": over or None,
            "Time limit": duration(limit_s * 1000) if limit_s else None,
            "Parents": _parents(job) or None,
            "Not before": moment(job.get("not_before")) or None,
            "Deadline": moment(job.get("deadline")) or None,
            "Next try": moment(job.get("next_try_at")) or None,
            "Concurrency key": _key_with_limit(job.get("concurrency_key")),
            "Rate": _rate(job.get("rate")),
            "Preemptible": "yes" if job.get("preemptible") else None,
            "Machine": f"its own, {job['machine']}" if job.get("machine") else None,
            "Licences": ", ".join(f"{n} {name}" for name, n in (job.get("licences") or {}).items())
            or None,
            "Cost": money(job.get("cost")),
            "Took": duration(job.get("duration_ms")) or None,
        }
    )


def _why(job: Document) -> str | None:
    """Return why an ended job is what it is; None: it succeeded as most do."""
    subtype: str | None = job.get("subtype")
    if job["state"] == "success":
        return subtype or (explain_end(job) if "outputs_of" in job else job.get("not_cached"))
    return explain_end(job)


def _progress(job: Document) -> str | None:
    """Return how far a job says that it is: `40 %, epoch 4 (2026-10-01 12:00:00)`."""
    words = progress_of(job)
    return words and f"{words} ({moment(job['progress']['at'])})"


def _parents(job: Document) -> str:
    """Return the first parents of a job as ranges, and how many there are if those are not all."""
    shown: Sequence[int] = job.get("parents") or ()
    text, count = one_line(number_ranges(shown), width=200), job.get("n_parents", len(shown))
    for need in "end", "start":
        if (loose := job.get(f"{need}_parents")) and text:
            text += f" (of {one_line(number_ranges(loose), width=200)} the {need} is enough)"
    for share, some in job.get("share_parents", {}).items():
        text += f" (of {one_line(number_ranges(some), width=200)} {share} are enough)"
    if count == len(shown):
        return text
    ref = format_job_ref(job["batch_id"], job["job_id"])
    many = "more than 1,000" if count is None else f"{count:,}"
    return f"{text} …, {many} in all: `weft jobs {ref} --parents`"


def _needs(resources: Document) -> str | None:
    """Return what a job reserves: `2 cpu, 4.0 GiB memory, rack=12`."""
    shown = [
        f"{name}={one_line(amount if isinstance(amount, str) else '|'.join(amount), width=50)}"
        if isinstance(amount, str | list)
        else f"{size(amount) if name in _IN_BYTES else f'{amount:g}'} {name}"
        for name, amount in resources.items()
        if amount
    ]
    return ", ".join(shown) or None


def _rate(rate: Mapping[str, Any] | None) -> str | None:
    return f"{rate['key']}, {rate['n']} starts in {rate['per_s']:g} s" if rate else None


def _key_with_limit(given: Document | None) -> str | None:
    return f"{one_line(given['key'], width=200)}, {given['n']} at a time" if given else None


def _attempt_row(attempt: Document) -> tuple[object, ...]:
    log = attempt.get("log") or {}
    written = (log.get("stdout_bytes") or 0) + (log.get("stderr_bytes") or 0)
    used = (  # unknown until it ends
        duration(attempt.get("cpu_ms")),
        size(attempt.get("memory_peak_bytes")),
        size(written) + (" (cut)" if log.get("truncated") else ""),
    )
    return (
        attempt["attempt"],
        attempt.get("worker"),
        shown_state(attempt),
        explain_end(attempt) if attempt.get("ended_at") else shown_phase(attempt),
        moment(attempt.get("started_at")),
        duration(_between(attempt.get("started_at"), attempt.get("ended_at"))),
        *(used if attempt.get("ended_at") else ("", "", "")),
    )


def _between(start: str | None, end: str | None) -> float | None:
    """Return milliseconds; without an end those until now."""
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415

    if not start:
        return None
    until = datetime.fromisoformat(end) if end else datetime.now(UTC)
    taken = max(until - datetime.fromisoformat(start), timedelta(0))
    return taken.total_seconds() * 1000


def _change_row(change: Document) -> tuple[object, ...]:
    is_move = change.get("from") != change.get("to") or change.get("phase") is not None
    what = ": ".join(
        text
        for text in (change.get("status"), change.get("subtype"), change.get("message"))
        if text
    )
    return (
        moment(change["at"]),
        change.get("from") if is_move else None,
        change.get("to") if is_move else None,
        change.get("attempt"),
        change.get("actor"),
        one_line(what or change.get("phase") or "", width=80),
    )
