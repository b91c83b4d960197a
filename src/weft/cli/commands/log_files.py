"""`weft logs --to DIR`: each job's output as plain files, those of each attempt apart."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from weft.cli.commands.files import make_directory, write_below
from weft.cli.input.targets import Target
from weft.cli.terminal.cut_output import once, say_cut
from weft.cli.terminal.many_logs import Wanted
from weft.cli.terminal.report import note, print_error
from weft.client.api import Api, Document, Stream
from weft.client.progress import Progress
from weft.core.errors import OutputElsewhere, OutputGone
from weft.core.ids import format_batch_id


async def write_logs(
    client: Api, which: Target, wanted: Wanted, to: Path, attempt: int | None
) -> int:
    """Write what jobs have written so far; return the exit code of the last one without output."""
    make_directory(to)
    batch_id, is_part = wanted.batch_id, bool(wanted.states or wanted.q)
    streams: Sequence[Stream] = ("stdout", "stderr")
    streams = streams if wanted.stream == "both" else (wanted.stream,)
    whole = await which.ask(client.get_batch, client.get_job, client.get_group)
    jobs = client.list_jobs(batch_id, wanted.q, group=wanted.group, states=wanted.states)
    some = _alone(whole) if which.job_id is not None else jobs
    total = None if is_part else whole.get("n_jobs", 1)
    n_files = code = 0
    with Progress(f"{format_batch_id(batch_id)} logs", shown=None, total=total) as shown:
        async for job in some:
            last = job.get("attempt") or 0
            for number in range(1, last + 1) if attempt is None else (attempt,):
                try:
                    await _write_attempt(client, job, number, streams, to)
                    n_files += len(streams)
                except (OutputElsewhere, OutputGone) as error:
                    print_error(error, as_json=False)
                    code = error.exit_code
            shown.advance(1)
    note(f"{n_files:,} files are in {to}")
    return code


async def _alone(job: Document) -> AsyncIterator[Document]:
    yield job


async def _write_attempt(
    client: Api, job: Document, attempt: int, streams: Sequence[Stream], to: Path
) -> None:
    batch_id, job_id = job["batch_id"], job["job_id"]
    on_cut = once(lambda: say_cut(batch_id, job_id))
    for stream in streams:
        pieces = client.read_log(batch_id, job_id, stream=stream, attempt=attempt, on_cut=on_cut)
        parts = (format_batch_id(batch_id), f"j{job_id}", f"a{attempt}", f"{stream}.log")
        await write_below(to, parts, pieces, replaces=True)
