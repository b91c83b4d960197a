"""`weft logs`: the output of a job."""

import asyncio
from contextlib import aclosing, suppress
from typing import Annotated

from cyclopts import Parameter

from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.raw_output import STDERR, STDOUT, write_all
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json
from weft.client.api import Api, Stream
from weft.core.errors import OutputElsewhere
from weft.core.ids import parse_job_ref
from weft.core.states import ENDED_WORDS


def logs(
    job: str,
    /,
    *,
    follow: Annotated[bool, Parameter(name=["--follow", "-f"], negative="")] = False,
    stream: Stream = "both",
    attempt: int | None = None,
    shared: Shared = SHARED,
) -> int:
    """Print the output of a job: what it wrote to standard output there, what to standard error
    here, too.

        weft logs b12.j7 --follow

    Args:
        job: A job, `b12.j7`.
        follow: Go on until the job has ended; with `--json`, then print all its output.
        stream: Print only this stream.
        attempt: Print the output of this attempt instead of the last.
        shared: Options of every command.
    """
    return asyncio.run(_logs(job, shared, follow=follow, stream=stream, attempt=attempt))


async def _logs(
    text: str, shared: Shared, *, follow: bool, stream: Stream, attempt: int | None
) -> int:
    batch_id, job_id = parse_job_ref(text)
    async with shared.client() as client:
        if shared.json:
            if follow:
                await _wait_for_end(client, batch_id, job_id, attempt)
            return await _print_as_json(client, batch_id, job_id, stream, attempt)
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
    async with aclosing(events):
        async for event in events:
            if event.kind == "cut":
                note(f"{event.facts['bytes']} bytes of {event.facts['stream']} were left out")
            elif event.kind != "end":
                write_all(STDOUT if event.kind == "stdout" else STDERR, event.data)


async def _print_stream(
    client: Api, batch_id: int, job_id: int, stream: Stream, attempt: int | None
) -> None:
    descriptor = STDERR if stream == "stderr" else STDOUT
    async for chunk in client.read_log(batch_id, job_id, stream=stream, attempt=attempt):
        write_all(descriptor, chunk)


async def _wait_for_end(client: Api, batch_id: int, job_id: int, attempt: int | None) -> None:
    with suppress(OutputElsewhere):  # reading it says so, too
        async with aclosing(client.follow_log(batch_id, job_id, attempt=attempt)) as events:
            async for _ in events:
                pass


async def _print_as_json(
    client: Api, batch_id: int, job_id: int, stream: Stream, attempt: int | None
) -> int:
    texts: dict[str, str] = {}
    streams: tuple[Stream, ...] = ("stdout", "stderr") if stream == "both" else (stream,)
    for one in streams:
        chunks = client.read_log(batch_id, job_id, stream=one, attempt=attempt)
        texts[one] = b"".join([c async for c in chunks]).decode("utf-8", "replace")
    print_json({"batch_id": batch_id, "job_id": job_id, "attempt": attempt, **texts})
    return 0
