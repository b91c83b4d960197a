"""`weft logs`: the output of a job, or of many, or what weft recorded of a job."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

from weft.cli.commands.files import files_in, make_directory, write_below
from weft.cli.input.options import SHARED, Flag, Parameter, Shared, WrongOption, read_option
from weft.cli.input.targets import Target, parse_target
from weft.cli.terminal.grep import Grep
from weft.cli.terminal.job_lines import JobLines, LogOutput
from weft.cli.terminal.many_logs import (
    FAILED,
    ManyLogs,
    Wanted,
    first_of,
    output_document,
    print_found,
    streams_of,
)
from weft.cli.terminal.names import Document
from weft.cli.terminal.plain import moment, one_line
from weft.cli.terminal.raw_output import (
    STDERR,
    STDOUT,
    ending_when_closed,
    once,
    say_cut,
    say_left_out,
)
from weft.cli.terminal.report import print_error
from weft.cli.terminal.runs import earlier_runs
from weft.cli.terminal.screen import note, print_json
from weft.client.api import Api, LogEvent, Stream
from weft.client.progress_bar import Progress
from weft.core.ends.end_words import explain_end, never_started
from weft.core.errors import (
    AttemptNotFound,
    Invalid,
    NotFound,
    OutputElsewhere,
    OutputGone,
    WeftError,
)
from weft.core.ids import BatchId, format_batch_id, format_job_ref
from weft.core.states import ENDED_WORDS


class OneJobOnly(Invalid, code="CLI.ONE_JOB_ONLY"):
    """An option that concerns one job was given for many, or the other way round."""


def logs(
    target: str,
    /,
    *,
    failed: Flag = False,
    q: str | None = None,
    follow: Annotated[bool, Parameter(name=["--follow", "-f"], negative="")] = False,
    grep: str | None = None,
    find: str | None = None,
    stream: Stream = "both",
    attempt: int | None = None,
    plain: Flag = False,
    system: Flag = False,
    to: Path | None = None,
    shared: Shared = SHARED,
) -> int:
    """Print the output of a job, standard output and standard error each to the same stream here.
    For a batch or group: that of every job, each line with the name of its job, in a colour.
    A terminal gets text and colours only; a pipe every byte, with `2>&1` of both streams.

        weft logs b12.j7 --follow
        weft logs b12/stage1 -f --grep "loss|error"
        weft logs b12 --find "disk is full"
        weft logs squares --plain

    Args:
        target: A job `b12.j7`, a batch `b12` or a group `b12/stage1`.
        failed: Only jobs of the batch or group that failed or errored.
        q: Only jobs of the batch or group that this query finds.
        follow: Print output as it is written, until the job ends, or all jobs; with `--json`,
            print it then.
        grep: Print only lines in which this regular expression is found, without regard to
            colours; `(?i)` before it finds either case.
        find: Print only lines that have this text; of many jobs the server finds them.
        stream: Print only this stream.
        attempt: Print the output of this attempt instead of the last.
        plain: Print only the outputs, in order; of a resumed `weft each` those of all its runs.
        system: Print what driver, workers and people recorded of the job instead, oldest first.
        to: Write plain files below this directory instead, of each attempt:
            `DIR/b12/j7/a1/stdout.log`. What is there of them already is replaced.
    """
    which = parse_target(target)
    runs = asyncio.run(_earlier(shared, which)) if plain and not follow else ()
    wanted = Wanted(
        batch_id=which.batch_id,
        group=which.group,
        states=FAILED if failed else (),
        q=q,
        stream=stream,
        grep=_chosen(grep, find),
        as_json=shared.json,
        plain=plain,
        runs=runs,
    )
    if to is not None and (system or follow or plain or shared.json or wanted.grep):
        _refuse_printing()
    if system:
        chooses = bool(follow or failed or q or wanted.grep or stream != "both")
        return asyncio.run(_recorded(shared, which, attempt, chooses=chooses))
    _check_kind(target, which, attempt, chooses=failed or q is not None)
    if to is not None:
        return shared.ask(lambda client: write_logs(client, which, wanted, to, attempt))
    if which.job_id is not None:
        return asyncio.run(_logs(shared, wanted, which.job_id, follow=follow, attempt=attempt))
    if find is not None and not (follow or plain or runs):
        return asyncio.run(_found(shared, wanted, find))
    return asyncio.run(_logs_of_many(shared, wanted, follow=follow))


async def _earlier(shared: Shared, target: Target) -> tuple[BatchId, ...]:
    """Return the runs of `weft each` that a batch goes on with, oldest first."""
    if target.job_id is not None or target.group is not None:
        return ()
    async with shared.client() as client:
        found = await earlier_runs(client, await client.get_batch(target.batch_id))
    return tuple(BatchId(batch["id"]) for batch in found)


def _refuse_printing() -> NoReturn:
    raise WrongOption(
        "`--to` prints nothing, so nothing else that says what is printed goes with it",
        detail="`--failed`, `--q`, `--stream` and `--attempt` choose what is written.",
        hint="Write `weft logs b12 --to DIR`.",
    )


def _check_kind(target: str, which: Target, attempt: int | None, *, chooses: bool) -> None:
    """Raise `OneJobOnly` for options that are for one job, or for many, and it is the other."""
    if which.job_id is None and attempt is not None:
        raise OneJobOnly(
            f"{target} is not a job",
            detail="`--attempt` is for one job only.",
            hint=f"`weft jobs {target}` lists its jobs.",
        )
    if which.job_id is not None and chooses:
        raise OneJobOnly(
            f"{target} is one job",
            detail="`--failed` and `--q` choose among the jobs of a batch or group.",
            hint=f"Name the batch: `weft logs b{which.batch_id} --failed`.",
        )


def _chosen(grep: str | None, find: str | None) -> Grep | None:
    """Return what chooses lines. Raise `WrongOption`."""
    if find is None:
        return None if grep is None else read_option("--grep", grep, Grep)
    if grep is not None or not find or "\n" in find:
        raise WrongOption(
            "the value of --find is wrong",
            detail="It is a text within one line, and goes without `--grep`.",
            hint="Write a regular expression with `--grep` alone.",
        )
    return Grep(re.escape(find))


async def _recorded(shared: Shared, which: Target, attempt: int | None, *, chooses: bool) -> int:
    if which.job_id is None or chooses:
        raise OneJobOnly(
            "`--system` is for one job, and goes with `--attempt` only",
            detail="It prints no output, so nothing chooses lines or jobs.",
            hint="Write `weft logs --system b1.j7`.",
        )
    async with shared.client() as client:
        history = await client.job_history(which.batch_id, which.job_id)
        attempts = await client.list_attempts(which.batch_id, which.job_id)
    entries = system_entries(history, attempts, attempt)
    if not shared.as_json(entries):
        with ending_when_closed(STDOUT):
            for one in entries:
                print(system_line(one))
    return 0


async def _found(shared: Shared, wanted: Wanted, text: str) -> int:
    async with shared.client() as client:
        with ending_when_closed(STDOUT):
            return await print_found(client, wanted, text)


async def _logs_of_many(shared: Shared, wanted: Wanted, *, follow: bool) -> int:
    """Print the output of many jobs; return the exit code of the last error."""
    async with shared.client() as client:
        many = ManyLogs(client, wanted)
        with ending_when_closed(STDOUT):
            return await (many.follow() if follow else many.print())


async def _logs(
    shared: Shared, wanted: Wanted, job_id: int, *, follow: bool, attempt: int | None
) -> int:
    batch_id, stream = wanted.batch_id, wanted.stream
    async with shared.client() as client:
        if shared.json:
            if follow:
                await _wait_for_end(client, batch_id, job_id, attempt)
            found = output_document(
                client, batch_id, job_id, stream, attempt=attempt, grep=wanted.grep
            )
            print_json(await found)
            return 0
        if not follow:
            # An ended job's pieces come in the order in which they were written, then the stream
            # ends by itself.
            follow = (await client.get_job(batch_id, job_id))["state"] in ENDED_WORDS
        if follow:
            with ending_when_closed(STDOUT):
                await _follow(client, wanted, job_id, attempt)
        else:
            for one in streams_of(stream):
                await _print_stream(client, wanted, job_id, one, attempt)
    return 0


def _output(wanted: Wanted) -> LogOutput | JobLines:
    return LogOutput() if wanted.grep is None else JobLines("", 0, grep=wanted.grep)


async def _follow(client: Api, wanted: Wanted, job_id: int, attempt: int | None) -> None:
    batch_id = wanted.batch_id
    events = client.follow_log(batch_id, job_id, stream=wanted.stream, attempt=attempt)
    is_silent, output = True, _output(wanted)
    async with aclosing(events):
        async for event in events:
            if event.kind == "end":
                _say_end(event, batch_id, job_id, is_silent=is_silent)
                continue
            is_silent = False
            if event.kind == "cut":
                say_left_out(event.facts["bytes"], event.facts["stream"], batch_id, job_id)
            else:
                output.write(STDOUT if event.kind == "stdout" else STDERR, event.data)
    output.end()


def _say_end(event: LogEvent, batch_id: int, job_id: int, *, is_silent: bool) -> None:
    """Say why there is no output; raise `AttemptNotFound` if the job never started."""
    ref = format_job_ref(batch_id, job_id)
    if event.facts.get("attempt") is None:
        why, look = never_started(event.facts, ref)
        kind = OutputGone if "outputs_of" in event.facts else AttemptNotFound
        raise kind(f"job {ref} has no output", detail=why, hint=look)
    if is_silent and event.facts["state"] != "success":
        note(f"{ref} wrote nothing: {explain_end(event.facts)}")


async def _print_stream(
    client: Api, wanted: Wanted, job_id: int, stream: Stream, attempt: int | None
) -> None:
    descriptor = STDERR if stream == "stderr" else STDOUT
    output = _output(wanted)
    chunks = client.read_log(wanted.batch_id, job_id, stream=stream, attempt=attempt)
    async for chunk in chunks:
        output.write(descriptor, chunk)
    output.end()


async def _wait_for_end(client: Api, batch_id: int, job_id: int, attempt: int | None) -> None:
    with suppress(OutputElsewhere):  # reading it says so, too
        async with aclosing(client.follow_log(batch_id, job_id, attempt=attempt)) as events:
            async for _ in events:
                pass


def system_entries(
    history: Sequence[Document], attempts: Sequence[Document], attempt: int | None
) -> list[Mapping[str, Any]]:
    """Return the changes of a job in the order of their dates, with how its attempts ended.
    `attempt`: only what is about this one.
    """
    ends = {one["attempt"]: explain_end(one) for one in attempts if one.get("ended_at")}
    entries = [
        {
            "at": one["at"],
            "by": one["actor"],
            "attempt": one["attempt"],
            "text": _change(one, ends.get(one["attempt"])),
        }
        for one in history
    ]
    found = [one for one in entries if attempt is None or one["attempt"] == attempt]
    return sorted(found, key=lambda one: str(one["at"]))


def system_line(entry: Mapping[str, Any]) -> str:
    """Return an entry as a line: `12:00:05 worker n1 attempt 2: running → failed: exit code 3`."""
    attempt = "" if entry["attempt"] is None else f" attempt {entry['attempt']}"
    by, text = one_line(entry["by"], width=80), one_line(entry["text"], width=2000)
    return f"{moment(entry['at'])} {by}{attempt}: {text}"


def _change(one: Document, end: str | None) -> str:
    """Return what changed, with how the attempt ended by it."""
    moves = one.get("from") != one.get("to")
    move = f"{one['from'] or 'submitted'} → {one['to']}" if moves else one.get("phase")
    ended = end if moves and one["from"] == "running" else one.get("message")
    return ": ".join(text for text in (move, one.get("status"), one.get("subtype"), ended) if text)


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
        every = (0,) if "outputs_of" in job else range(1, (job.get("attempt") or 0) + 1)
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
            # A job that did not run, as the same had succeeded, has the output of that one.
            pieces = read(batch_id, job_id, stream=stream, attempt=attempt or None, on_cut=on_cut)
            parts = (format_batch_id(batch_id), f"j{job_id}", f"a{attempt}", f"{stream}.log")
            await write_below(self.to, parts, pieces, replaces=True)
            self.n_files += 1
