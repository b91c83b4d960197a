"""`weft logs --to DIR`: each job's output as plain files, those of each attempt apart."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.cli.commands.files import files_in, make_directory, write_below
from weft.cli.input.targets import Target
from weft.cli.terminal.many_logs import Wanted, first_of, streams_of
from weft.cli.terminal.raw_output import once, say_cut
from weft.cli.terminal.report import note, print_error
from weft.client.api import Api, Document, Stream
from weft.client.progress_bar import Progress
from weft.core.errors import NotFound, OutputElsewhere, OutputGone, WeftError
from weft.core.ids import format_batch_id

AT_ONCE: Final = 4
"""Jobs whose output is fetched at one time."""


async def write_logs(
    client: Api, which: Target, wanted: Wanted, to: Path, attempt: int | None
) -> int:
    """Write what jobs have written so far; return the exit code of the last one without output."""
    make_directory(to)
    batch_id, q = wanted.batch_id, wanted.q
    whole = await which.ask(client.get_batch, client.get_job, client.get_group)
    total = None if wanted.states or q else whole.get("n_jobs", 1)
    q = q if which.job_id is None else f"job_id = {which.job_id}"
    jobs = client.list_jobs(batch_id, q, group=wanted.group, states=wanted.states)
    with Progress(f"{format_batch_id(batch_id)} logs", shown=None, total=total) as shown:
        files = _LogFiles(
            client, streams_of(wanted.stream), to, attempt, shown, asyncio.Semaphore(AT_ONCE)
        )
        try:
            async with asyncio.TaskGroup() as tasks:
                async for job in jobs:
                    await files.room.acquire()
                    tasks.create_task(files.write(job))
        except* WeftError as errors:
            raise first_of(errors) from None
    note(files_in(to, files.n_files, otherwise="none of the jobs has written anything"))
    return files.code


@dataclass
class _LogFiles:
    """Writes the output of jobs, and counts."""

    client: Api
    streams: Sequence[Stream]
    to: Path
    attempt: int | None
    shown: Progress
    room: asyncio.Semaphore
    n_files: int = 0
    code: int = 0

    async def write(self, job: Document) -> None:
        """Write the output of each attempt of a job, or say why there is none."""
        every = range(1, (job.get("attempt") or 0) + 1)
        try:
            for number in every if self.attempt is None else (self.attempt,):
                try:
                    await self._write_attempt(job["batch_id"], job["job_id"], number)
                except (NotFound, OutputElsewhere, OutputGone) as error:
                    print_error(error)
                    self.code = error.exit_code
        finally:
            self.room.release()
        self.shown.advance(1)

    async def _write_attempt(self, batch_id: int, job_id: int, attempt: int) -> None:
        on_cut, read = once(lambda: say_cut(batch_id, job_id)), self.client.read_log
        for stream in self.streams:
            pieces = read(batch_id, job_id, stream=stream, attempt=attempt, on_cut=on_cut)
            parts = (format_batch_id(batch_id), f"j{job_id}", f"a{attempt}", f"{stream}.log")
            await write_below(self.to, parts, pieces, replaces=True)
            self.n_files += 1
