"""`weft logs --to DIR`: each job's output as plain files, those of each attempt apart."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weft.cli.commands.files import make_directory, write_below
from weft.cli.input.targets import Target
from weft.cli.terminal.cut_output import once, say_cut
from weft.cli.terminal.many_logs import Wanted
from weft.cli.terminal.report import note, print_error
from weft.client.api import Api, Document, Stream
from weft.client.progress import Progress
from weft.core.errors import OutputElsewhere, OutputGone
from weft.core.ids import format_batch_id

BOTH: Final[Sequence[Stream]] = ("stdout", "stderr")


async def write_logs(
    client: Api, which: Target, wanted: Wanted, to: Path, attempt: int | None
) -> int:
    """Write what jobs have written so far; return the exit code of the last one without output."""
    make_directory(to)
    batch_id, q = wanted.batch_id, wanted.q
    streams: Sequence[Stream] = (wanted.stream,) if wanted.stream != "both" else BOTH
    whole = await which.ask(client.get_batch, client.get_job, client.get_group)
    total, n_files, code = None if wanted.states or q else whole.get("n_jobs", 1), 0, 0
    q = q if which.job_id is None else f"job_id = {which.job_id}"
    with Progress(f"{format_batch_id(batch_id)} logs", shown=None, total=total) as shown:
        async for job in client.list_jobs(batch_id, q, group=wanted.group, states=wanted.states):
            every = range(1, (job.get("attempt") or 0) + 1)
            for number in every if attempt is None else (attempt,):
                try:
                    await _write_attempt(client, job, number, streams, to)
                    n_files += len(streams)
                except (OutputElsewhere, OutputGone) as error:
                    print_error(error)
                    code = error.exit_code
            shown.advance(1)
    note(f"{n_files:,} files are in {to}")
    return code


async def _write_attempt(
    client: Api, job: Document, attempt: int, streams: Sequence[Stream], to: Path
) -> None:
    batch_id, job_id = job["batch_id"], job["job_id"]
    on_cut = once(lambda: say_cut(batch_id, job_id))
    for stream in streams:
        pieces = client.read_log(batch_id, job_id, stream=stream, attempt=attempt, on_cut=on_cut)
        parts = (format_batch_id(batch_id), f"j{job_id}", f"a{attempt}", f"{stream}.log")
        await write_below(to, parts, pieces, replaces=True)
