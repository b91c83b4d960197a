"""The output of many jobs of a batch or group: one job after the other, or as they write it, or
the lines that the server finds in it.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from weft.cli.terminal.grep import Grep
from weft.cli.terminal.job_lines import JobLines, PlainOutput
from weft.cli.terminal.progress_line import ProgressLine
from weft.cli.terminal.raw_output import STDERR, STDOUT, once, say_cut, say_left_out
from weft.cli.terminal.report import note, print_error
from weft.cli.terminal.runs import whole_run
from weft.cli.terminal.screen import JsonItems
from weft.client.api import Api, Stream
from weft.core.ends.end_words import explain_end, has_output
from weft.core.errors import OutputElsewhere, WeftError
from weft.core.ids import BatchId, format_batch_id, format_job_ref
from weft.core.states import ENDED_WORDS
from weft.core.text.amounts import counted

FAILED = ("failed", "error")
FOLLOWED_MAX = 50
"""Jobs that are followed at once; the others wait, and then come from their first byte."""
LOOKED_AT_MAX = 2000
"""In a larger batch only running jobs are looked for at each event, the others at the end."""
_LINES_AT_ONCE = 4096
"""The time limit of a pattern is for this number of lines."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which output is printed, and how."""

    batch_id: BatchId
    group: str | None
    states: tuple[str, ...]
    """Only of jobs in these states; none: of all."""
    q: str | None
    stream: Stream
    grep: Grep | None
    as_json: bool
    runs: tuple[BatchId, ...] = ()
    """Runs of `weft each` that the batch goes on with, the oldest first."""
    plain: bool = False
    """Print nothing but the output."""


class ManyLogs:
    """Prints the output of many jobs."""

    def __init__(self, client: Api, wanted: Wanted) -> None:
        self._client = client
        self._wanted = wanted
        self._items = JsonItems()
        self._begun: set[int] = set()
        self._progress = ProgressLine(format_batch_id(wanted.batch_id))
        self._places = asyncio.Semaphore(FOLLOWED_MAX)
        self._n_jobs = self._n_waiting = 0
        self._code = 0
        self._warnings: Sequence[str] = ()

    async def print(self) -> int:
        """Print what there is now, in the order of the jobs; return the code of the last error."""
        return await self._rest(follows=False)

    async def follow(self) -> int:
        """Print what jobs write as they write it, until all have ended."""
        try:
            await self._follow_all()
        except* WeftError as errors:
            # One is told; the others say the same of other jobs.
            raise first_of(errors) from None
        finally:
            self._progress.hide()
        return await self._rest(follows=True)

    async def _follow_all(self) -> None:
        watch = self._client.watch(self._wanted.batch_id, self._look)
        async with asyncio.TaskGroup() as tasks, aclosing(watch) as documents:
            async for document in documents:
                if not self._wanted.as_json and not self._wanted.plain:
                    self._progress.update(document)
                is_small = document["n_jobs"] <= LOOKED_AT_MAX
                states = ("running", *ENDED_WORDS) if is_small else ("running",)
                # One that is chosen by its end is followed when it has ended.
                states = tuple(one for one in states if one in (self._wanted.states or states))
                if states and not document["complete"]:
                    async for job in self._jobs(states):
                        if has_output(job):
                            tasks.create_task(self._follow_job(job))

    async def _look(self) -> Mapping[str, Any]:
        if self._wanted.group is not None:
            return await self._client.get_group(self._wanted.batch_id, self._wanted.group)
        return await self._client.get_batch(self._wanted.batch_id)

    async def _jobs(self, states: tuple[str, ...]) -> AsyncIterator[Mapping[str, Any]]:
        """Yield those jobs that were not yielded before."""
        listing = self._client.list_jobs(
            self._wanted.batch_id, self._wanted.q, group=self._wanted.group, states=states
        )
        async for job in listing:
            if job["job_id"] not in self._begun:
                self._begun.add(job["job_id"])
                yield job
        self._warnings = listing.warnings

    async def _whole_run(self) -> AsyncIterator[Mapping[str, Any]]:
        batches = (*self._wanted.runs, self._wanted.batch_id)
        lists = [self._client.list_jobs(batch_id, self._wanted.q) for batch_id in batches]
        for job in whole_run([[job async for job in listing] for listing in lists]):
            if job["state"] in (self._wanted.states or [job["state"]]):
                yield job

    async def _rest(self, *, follows: bool) -> int:
        """Print the output of the jobs that were not begun; say which there is none of."""
        n_followed = len(self._begun)
        async for job in (
            self._whole_run() if self._wanted.runs else self._jobs(self._wanted.states)
        ):
            self._n_jobs += 1
            if not has_output(job):
                self._n_waiting += 1
            elif self._wanted.as_json:
                await self._print_json(job)
            else:
                await self._print_lines(job)
        for text in self._warnings:
            note(text)
        if self._wanted.as_json:
            self._items.end()
        elif not self._n_jobs + n_followed:
            note("no job matches")
        if self._n_waiting:
            later = "" if follows else ", or have not yet"
            jobs = counted(self._n_jobs + n_followed, "job")
            note(f"{self._n_waiting:,} of {jobs} never started{later}")
        return self._code

    async def _follow_job(self, job: Mapping[str, Any]) -> None:
        batch_id, job_id = job["batch_id"], job["job_id"]
        lines = self._lines(job)
        async with self._places:
            events = self._client.follow_log(batch_id, job_id, stream=self._wanted.stream)
            try:
                async with aclosing(events):
                    async for event in events:
                        self._progress.hide()  # until the next news of the batch
                        if event.kind in {"stdout", "stderr"} and not self._wanted.as_json:
                            lines.write(STDOUT if event.kind == "stdout" else STDERR, event.data)
                        elif event.kind == "cut" and not self._wanted.as_json:
                            lines.end()
                            facts = event.facts
                            say_left_out(facts["bytes"], facts["stream"], batch_id, job_id)
                        elif event.kind == "end" and not self._wanted.as_json:
                            lines.end()
                            self._say_silence(event.facts, batch_id, job_id, lines)
                if self._wanted.as_json:
                    await self._print_json(job)
            except OutputElsewhere as error:
                self._say_error(error)

    async def _print_lines(self, job: Mapping[str, Any]) -> None:
        """Print what a job has written so far."""
        lines = self._lines(job)
        batch_id, job_id = job["batch_id"], job["job_id"]
        on_cut = once(lambda: say_cut(batch_id, job_id))
        try:
            for one in streams_of(self._wanted.stream):
                descriptor = STDERR if one == "stderr" else STDOUT
                chunks = self._client.read_log(batch_id, job_id, stream=one, on_cut=on_cut)
                async for chunk in chunks:
                    lines.write(descriptor, chunk)
                lines.end()
        except OutputElsewhere as error:
            self._say_error(error)
            return
        if job["state"] in ENDED_WORDS:
            self._say_silence(job, batch_id, job_id, lines)

    async def _print_json(self, job: Mapping[str, Any]) -> None:
        try:
            found = await output_document(
                self._client,
                job["batch_id"],
                job["job_id"],
                self._wanted.stream,
                grep=self._wanted.grep,
            )
        except OutputElsewhere as error:
            self._say_error(error)
            return
        if self._wanted.grep is None or found.get("stdout") or found.get("stderr"):
            self._items.print([found])

    def _lines(self, job: Mapping[str, Any]) -> JobLines:
        if self._wanted.plain and self._wanted.grep is None:
            return PlainOutput("", 0)
        ref = "" if self._wanted.plain else format_job_ref(job["batch_id"], job["job_id"])
        return JobLines(ref, job["job_id"], grep=self._wanted.grep)

    def _say_silence(
        self, end: Mapping[str, Any], batch_id: int, job_id: int, lines: JobLines
    ) -> None:
        if not lines.n_bytes and end["state"] != "success":
            note(f"{format_job_ref(batch_id, job_id)} wrote nothing: {explain_end(end)}")

    def _say_error(self, error: OutputElsewhere) -> None:
        print_error(error, as_json=self._wanted.as_json)
        self._code = error.exit_code


def streams_of(stream: Stream) -> Sequence[Stream]:
    """Return each stream for itself."""
    return ("stdout", "stderr") if stream == "both" else (stream,)


def first_of(errors: BaseExceptionGroup[WeftError]) -> WeftError:
    """Return the first error of a group, however deep it stands."""
    first = errors.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first


async def output_document(
    client: Api,
    batch_id: int,
    job_id: int,
    stream: Stream,
    *,
    attempt: int | None = None,
    grep: Grep | None = None,
) -> Mapping[str, Any]:
    """Return what a job has written so far, by stream; with `grep` only lines that it finds. Say
    if some of it was not kept.
    """
    texts: dict[str, str] = {}
    on_cut = once(lambda: say_cut(batch_id, job_id))
    for one in streams_of(stream):
        chunks = client.read_log(batch_id, job_id, stream=one, attempt=attempt, on_cut=on_cut)
        data = b"".join([chunk async for chunk in chunks])
        if grep is not None:
            lines = data.split(b"\n")
            data = b"\n".join(
                line
                for at in range(0, len(lines), _LINES_AT_ONCE)
                for line in grep.choose(lines[at : at + _LINES_AT_ONCE])
            )
        texts[one] = data.decode("utf-8", "replace")
    return {"batch_id": batch_id, "job_id": job_id, "attempt": attempt, **texts}


_UNREAD = 1
"""The exit code if some output could not be searched."""


async def print_found(client: Api, wanted: Wanted, text: str) -> int:
    """Print the lines as they are found; return the exit code."""
    batch_id, items = wanted.batch_id, JsonItems()
    listing = client.find_lines(
        batch_id,
        text,
        group=wanted.group,
        q=wanted.q,
        states=wanted.states,
        stream=wanted.stream,
    )
    n_lines = n_unread = 0
    async for one in listing:
        if one["problem"] is not None:
            n_unread += 1
            note(f"{format_job_ref(batch_id, one['job_id'])} was not searched: {one['problem']}")
        elif wanted.as_json:
            items.print([{"batch_id": batch_id, **one}])
        else:
            lines = JobLines(format_job_ref(batch_id, one["job_id"]), one["job_id"])
            stream = STDERR if one["stream"] == "stderr" else STDOUT
            lines.write(stream, f"{one['line']}\n".encode())
            lines.end()
        n_lines += one["problem"] is None
    if wanted.as_json:
        items.end()
    elif not n_lines:
        note("no line has this text")
    return _UNREAD if n_unread else 0
