"""`weft logs`: the output of a job, or of many."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Annotated, Any

from cyclopts import Parameter

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import Target, parse_target
from weft.cli.terminal.log_output import LogOutput
from weft.cli.terminal.raw_output import STDERR, STDOUT, write_prefixed
from weft.cli.terminal.report import note, print_error
from weft.cli.terminal.screen import JsonItems, print_json
from weft.client.api import Api, LogEvent, Stream
from weft.core.end_words import explain_end
from weft.core.errors import AttemptNotFound, Invalid, OutputElsewhere
from weft.core.ids import format_job_ref
from weft.core.states import ENDED_WORDS

FAILED = ("failed", "error")


class OneJobOnly(Invalid):
    """An option that concerns one job was given for many, or the other way round."""

    code = "CLI.ONE_JOB_ONLY"


def logs(
    target: str,
    /,
    *,
    failed: Annotated[bool, Parameter(negative="")] = False,
    q: str | None = None,
    follow: Annotated[bool, Parameter(name=["--follow", "-f"], negative="")] = False,
    stream: Stream = "both",
    attempt: int | None = None,
    shared: Shared = SHARED,
) -> int:
    """Print the output of a job, standard output and standard error each to the same stream here.
    For a batch or group: the output of every job, each line with the number of its job.
    A terminal gets text and colours only; a pipe or file gets every byte.

        weft logs b12.j7 --follow
        weft logs b12 --failed

    Args:
        target: A job `b12.j7`, a batch `b12` or a group `b12/stage1`.
        failed: Only jobs of the batch or group that failed or errored.
        q: Only jobs of the batch or group that this query finds.
        follow: Print output as it is written, until the job ends; with `--json`, print it then.
        stream: Print only this stream.
        attempt: Print the output of this attempt instead of the last.
        shared: Options of every command.
    """
    which = parse_target(target)
    if which.job_id is None:
        if follow or attempt is not None:
            raise OneJobOnly(
                f"{target} is not a job",
                detail="`--follow` and `--attempt` are for one job only.",
                hint=f"`weft jobs {target}` lists its jobs.",
            )
        return asyncio.run(_logs_of_many(which, shared, failed=failed, q=q, stream=stream))
    if failed or q is not None:
        raise OneJobOnly(
            f"{target} is one job",
            detail="`--failed` and `--q` choose among the jobs of a batch or group.",
            hint=f"Name the batch: `weft logs b{which.batch_id} --failed`.",
        )
    return asyncio.run(
        _logs(which.batch_id, which.job_id, shared, follow=follow, stream=stream, attempt=attempt)
    )


async def _logs_of_many(
    which: Target, shared: Shared, *, failed: bool, q: str | None, stream: Stream
) -> int:
    """Print the output of jobs one after the other; return the exit code of the last error."""
    code = n_jobs = n_waiting = 0
    items = JsonItems()
    async with shared.client() as client:
        states = FAILED if failed else ()
        found = client.list_jobs(which.batch_id, q, group=which.group, states=states)
        async for job in found:
            n_jobs += 1
            if not job.get("attempt"):
                n_waiting += 1
                continue
            try:
                if shared.json:
                    items.print([await _output(client, which.batch_id, job["job_id"], stream)])
                else:
                    await _print_prefixed(client, job, stream)
            except OutputElsewhere as error:
                print_error(error, as_json=shared.json)
                code = error.exit_code
    for text in found.warnings:
        note(text)
    if shared.json:
        items.end()
    elif not n_jobs:
        note("no job matches")
    if n_waiting:
        note(f"{n_waiting:,} of {n_jobs:,} jobs never started, or have not yet")
    return code


async def _print_prefixed(client: Api, job: Mapping[str, Any], stream: Stream) -> None:
    """Print what a job has written so far, with its name before each line."""
    ref = format_job_ref(job["batch_id"], job["job_id"])
    streams: tuple[Stream, ...] = ("stdout", "stderr") if stream == "both" else (stream,)
    n_bytes, output = 0, LogOutput()
    for one in streams:
        chunks = client.read_log(job["batch_id"], job["job_id"], stream=one)
        n_bytes += await write_prefixed(
            STDERR if one == "stderr" else STDOUT, f"{ref}: ".encode(), chunks, output.write
        )
    output.end()
    if not n_bytes and job["state"] in ENDED_WORDS and job["state"] != "success":
        note(f"{ref} wrote nothing: {explain_end(job)}")


async def _logs(
    batch_id: int,
    job_id: int,
    shared: Shared,
    *,
    follow: bool,
    stream: Stream,
    attempt: int | None,
) -> int:
    async with shared.client() as client:
        if shared.json:
            if follow:
                await _wait_for_end(client, batch_id, job_id, attempt)
            print_json(await _output(client, batch_id, job_id, stream, attempt))
            return 0
        if not follow:
            # An ended job's pieces come in the order in which they were written, then the stream
            # ends by itself.
            follow = (await client.get_job(batch_id, job_id))["state"] in ENDED_WORDS
        if follow:
            await _follow(client, batch_id, job_id, stream, attempt)
        else:
            for one in (stream,) if stream != "both" else ("stdout", "stderr"):
                await _print_stream(client, batch_id, job_id, one, attempt)
    return 0


async def _follow(
    client: Api, batch_id: int, job_id: int, stream: Stream, attempt: int | None
) -> None:
    events = client.follow_log(batch_id, job_id, stream=stream, attempt=attempt)
    is_silent, output = True, LogOutput()
    async with aclosing(events):
        async for event in events:
            if event.kind == "end":
                _say_end(event, batch_id, job_id, is_silent=is_silent)
                continue
            is_silent = False
            if event.kind == "cut":
                note(f"{event.facts['bytes']} bytes of {event.facts['stream']} were left out")
            else:
                output.write(STDOUT if event.kind == "stdout" else STDERR, event.data)
    output.end()


def _say_end(event: LogEvent, batch_id: int, job_id: int, *, is_silent: bool) -> None:
    """Say why there is no output; raise `AttemptNotFound` if the job never started."""
    ref, end = format_job_ref(batch_id, job_id), explain_end(event.facts)
    if event.facts.get("attempt") is None:
        raise AttemptNotFound(
            f"job {ref} has no output",
            detail=f"It never started: {end}.",
            hint=f"`weft status {ref}` shows its history.",
        )
    if is_silent and event.facts["state"] != "success":
        note(f"{ref} wrote nothing: {end}")


async def _print_stream(
    client: Api, batch_id: int, job_id: int, stream: Stream, attempt: int | None
) -> None:
    descriptor = STDERR if stream == "stderr" else STDOUT
    output = LogOutput()
    async for chunk in client.read_log(batch_id, job_id, stream=stream, attempt=attempt):
        output.write(descriptor, chunk)
    output.end()


async def _wait_for_end(client: Api, batch_id: int, job_id: int, attempt: int | None) -> None:
    with suppress(OutputElsewhere):  # reading it says so, too
        async with aclosing(client.follow_log(batch_id, job_id, attempt=attempt)) as events:
            async for _ in events:
                pass


async def _output(
    client: Api, batch_id: int, job_id: int, stream: Stream, attempt: int | None = None
) -> Mapping[str, Any]:
    """Return what a job has written so far, by stream."""
    texts: dict[str, str] = {}
    streams: tuple[Stream, ...] = ("stdout", "stderr") if stream == "both" else (stream,)
    for one in streams:
        chunks = client.read_log(batch_id, job_id, stream=one, attempt=attempt)
        texts[one] = b"".join([c async for c in chunks]).decode("utf-8", "replace")
    return {"batch_id": batch_id, "job_id": job_id, "attempt": attempt, **texts}
