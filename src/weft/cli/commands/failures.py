"""`weft failures`: why jobs failed for good, and who has seen to it."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from weft.cli.input.options import SHARED, AllFlag, App, Flag, Shared
from weft.cli.input.targets import check_targets, parse_batch, parse_target
from weft.cli.terminal.plain import wrapped
from weft.cli.terminal.screen import Document, TableRows, cell, moment, note, plain, print_pages
from weft.client.api import Api
from weft.core.deliveries.sinks import unsent, unsent_of
from weft.core.ends.end_words import explain_reason
from weft.core.errors import Invalid, OutputElsewhere, RangeNotSatisfiable
from weft.core.ids import BatchId, format_job_ref
from weft.core.text.amounts import counted

app = App(
    name="failures",
    help="Say why jobs of a batch failed, or acknowledge failed jobs.\n\n    weft failures b12",
)


class FailuresOfGroup(Invalid, code="CLI.FAILURES_OF_GROUP"):
    """Failures are counted by batch, not by group."""


LOG_LINES: Final = 3
LOG_BYTES: Final = 4096
LINE_CHARS: Final = 74
"""With what stands before it, a line fits 80 columns."""
CAUSES_SHOWN: Final = 20
HEADER: Final = ("Job", "Cause", "How", "Retries", "Failed", "Message")
SPARE: Final = ("Failed", "Retries", "How")
"""What a narrow terminal leaves out, in this order."""


@app.default
async def failures(batch: str, /, *, all_: AllFlag = False, shared: Shared = SHARED) -> int:
    """Say why jobs of a batch failed: each cause with the end of the log of one job.

        weft failures b12

    Args:
        batch: `b12`.
        all_: Also causes of which all jobs are acknowledged.
    """
    batch_id = _batch_of(batch)
    async with shared.client() as client:
        found = await client.list_causes(batch_id, all_=all_, limit=CAUSES_SHOWN)
        causes = [
            {**one, "log": await _log_end(client, batch_id, one["example"])}
            for one in found["causes"]
        ]
        messages = await _messages(client, batch_id)
    if shared.as_json({**found, "causes": causes, "messages": messages}):
        return 0
    _print_head(found, batch)
    for cause in causes:
        _print_cause(cause, batch_id)
    if left := found["n_causes"] - len(causes):
        note(f"{counted(left, 'more cause')}: `weft failures ls {batch}` lists all jobs")
    _tell_of(messages)
    return 0


async def _messages(client: Api, batch_id: int | None) -> Sequence[Document]:
    """Return the sinks with messages of jobs of this batch, or of all, that have not arrived."""
    if batch_id is None:
        return [sink for sink in (await client.line_overview())["sinks"] if unsent(sink)]
    messages: Sequence[Document] = (await client.get_batch(batch_id)).get("messages", ())
    return messages


def _tell_of(messages: Sequence[Document]) -> None:
    if messages:
        note(f"messages of jobs have not arrived: {unsent_of(messages)}")


@app.command(name="ls")
async def list_failures(
    batch: str | None = None,
    /,
    *,
    cause: str | None = None,
    reason: str | None = None,
    acknowledged: Flag = False,
    shared: Shared = SHARED,
) -> int:
    """List failed jobs, of the newest batch first, then by cause.

        weft failures ls b12 --cause 0f3a9c41d27e

    Args:
        batch: `b12`; without it, jobs of all batches.
        cause: Only jobs that failed for this cause.
        reason: Only jobs that failed for this reason, such as `timeout`.
        acknowledged: Those that are acknowledged, instead of the others.
    """
    batch_id = None if batch is None else _batch_of(batch)
    rows = TableRows(HEADER, right=("Retries",), spare=SPARE)
    async with shared.client() as client:
        listing = client.list_dead_letters(
            batch_id, cause=cause, reason=reason, acknowledged=acknowledged
        )
        nothing = "no failed job; one is listed here once it has no tries left"
        code = await print_pages(listing, rows, _row, nothing=nothing, as_json=shared.json)
        if not shared.json:
            _tell_of(await _messages(client, batch_id))
        return code


@app.command(name="ack")
async def acknowledge(
    target: str, /, *others: str, note: str, cause: str | None = None, shared: Shared = SHARED
) -> int:
    """Acknowledge failed jobs: they leave the list, and the note stays in their history.

        weft failures ack b12 --cause 0f3a9c41d27e --note "the disk was full"

    Args:
        target: A batch `b12` or a job `b12.j7`.
        others: More targets.
        note: What to say of it.
        cause: Only jobs that failed for this cause.
    """
    targets = [(text, parse_target(text, groups=False)) for text in (target, *others)]
    async with shared.client() as client:
        await check_targets(client, [one for _, one in targets])
        for name, one in targets:
            jobs = None if one.job_id is None else [one.job_id]
            n_jobs = await client.acknowledge_failures(one.batch_id, note, cause=cause, jobs=jobs)
            shared.tell(
                {"target": name, "n_jobs": n_jobs},
                f"{name}: {counted(n_jobs, 'failed job')} acknowledged",
            )
    return 0


def _batch_of(text: str) -> BatchId:
    """Read `b12`. Raise `BadId`, for a group `FailuresOfGroup`."""
    batch, slash, path = text.partition("/")
    if not slash or not path.strip("/"):
        return parse_batch(batch)
    parse_batch(batch)
    raise FailuresOfGroup(
        f"{text} is a group, and causes of failures are counted by batch",
        hint=f"`weft failures {batch}` shows the causes of the batch, `weft jobs "
        f"{shlex.quote(text)} 'state = failed or state = error'` the failed jobs of the group.",
    )


async def _log_end(client: Api, batch_id: int, example: Document | None) -> list[str]:
    """Return the last lines that the example of a cause wrote, on stderr if there are any."""
    if example is None or not example["attempt"]:
        return []
    for stream in ("stderr", "stdout"):
        with suppress(RangeNotSatisfiable, OutputElsewhere):
            chunks = client.read_log(
                batch_id, example["job_id"], stream=stream, last_bytes=LOG_BYTES
            )
            text = b"".join([chunk async for chunk in chunks]).decode("utf-8", "replace")
            if lines := [line for line in text.splitlines() if line.strip()]:
                return lines[-LOG_LINES:]
    return []


def _print_head(found: Document, name: str) -> None:
    seen = f", {found['n_acknowledged']:,} acknowledged" if found["n_acknowledged"] else ""
    if not found["causes"]:
        print(f"{plain(name)}: no failures{seen}")
        return
    print(f"{counted(found['n_jobs'], 'failure')}, {counted(found['n_causes'], 'cause')}{seen}")


def _print_cause(cause: Document, batch_id: int) -> None:
    said = f": {plain(cause['message'])}" if cause["message"] else ""
    seen = f", {cause['n_acknowledged']:,} acknowledged" if cause["n_acknowledged"] else ""
    print()
    how = explain_reason({**cause, "state": "failed"})
    print(wrapped(f"{cause['n_jobs']:,} × {how}{said}", sys.stdout))
    example = cause["example"]
    if example is not None:
        ref = format_job_ref(batch_id, example["job_id"])
        print(f"  cause {cause['cause']}, for example {ref}{seen}")
    for line in cause["log"]:
        print(f"    {cell(line, width=LINE_CHARS)}")


def _row(one: Document) -> tuple[object, ...]:
    said = one["acknowledged"]["note"] if one["acknowledged"] else one["message"]
    ref = format_job_ref(one["batch_id"], one["job_id"])
    return (
        " ".join(filter(None, (ref, one.get("foreign_id")))),
        one["cause"],
        explain_reason(one),
        one["final_retry_count"],
        moment(one["failed_at"]),
        None if said is None else cell(said, width=LINE_CHARS),
    )
