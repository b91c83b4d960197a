"""`weft each`: one job per line, as with xargs and GNU parallel, but recorded."""

import asyncio
import os
import re
import secrets
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import PurePath
from time import monotonic
from typing import Annotated

from cyclopts import Parameter, validators

from weft.cli.each.command_line import Words, read_words
from weft.cli.each.dry_run import print_commands
from weft.cli.each.feed import Feed
from weft.cli.each.halting import halt_of, stop_when_halted
from weft.cli.each.ledger import Ledger
from weft.cli.each.lines import GivenItems, LineReader
from weft.cli.each.packing import (
    BETWEEN_VALUES,
    BadInputOption,
    Packer,
    columns_of,
    delimiter_of,
)
from weft.cli.each.print import Printer
from weft.cli.each.records import Records
from weft.cli.each.resume import ATTRIBUTE, find_earlier
from weft.cli.each.summary import Run, print_summary, print_summary_as_json
from weft.cli.input.job_document import (
    NO_OPTIONS,
    JobOptions,
    NoCommand,
    option_fields,
    place_fields,
    request_fields,
)
from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.closed_output import watch_closed
from weft.cli.terminal.interrupts import INTERRUPTED, Interrupts
from weft.cli.terminal.progress import ProgressLine
from weft.cli.terminal.raw_output import OutputFailed
from weft.cli.terminal.report import note
from weft.client.api import WAIT_PATIENCE_S, Api
from weft.core.errors import Conflict, WeftError
from weft.core.input_lines import CommandTemplate

STDOUT = 1
BROKEN_PIPE = 141


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class EachOptions:
    """How to read lines and print results."""

    file: Annotated[str | None, Parameter(name=["--file", "-f"], allow_leading_hyphen=True)] = None
    """Read the lines from this file (default, or `-`: standard input)."""

    null: Annotated[bool, Parameter(name=["--null", "-0"], negative="")] = False
    """Items end with a NUL character instead of a newline, as `find -print0` writes them."""

    delimiter: Annotated[str | None, Parameter(name=["--delimiter", "-d"])] = None
    r"""Items end with this character, such as , or '\\t' or '\\x1f'."""

    colsep: str | None = None
    """Cut each line at this regular expression into {1}, {2} and so on."""

    max_args: Annotated[
        int | None,
        Parameter(
            name=["--max-args", "-n", "-N", "--max-lines", "-L"],
            validator=validators.Number(gte=1),
        ),
    ] = None
    """Give each job up to this many lines, as arguments."""

    max_chars: Annotated[
        int | None, Parameter(name=["--max-chars", "-s"], validator=validators.Number(gte=1))
    ] = None
    """Give each job as many lines as its command has room for in this many bytes."""

    replace: Annotated[str, Parameter(name=["--replace", "-I"])] = "{}"
    """This text stands for the line in the command, instead of {}."""

    jobs: Annotated[
        int | None, Parameter(name=["--jobs", "-j", "-P"], validator=validators.Number(gte=0))
    ] = None
    """Maximum number of jobs that run at the same time; 0: no limit."""

    delay: Annotated[float, Parameter(validator=validators.Number(gte=0))] = 0.0
    """Seconds between the submissions of two jobs."""

    halt: str | None = None
    """When to stop early: now,fail=1 (stops running jobs), soon,fail=3 (lets them end), or with
    success or done instead of fail."""

    unordered: Annotated[bool, Parameter(negative="")] = False
    """Print outputs as jobs end, not in input order."""

    tag: Annotated[bool, Parameter(negative="")] = False
    """Put the line and a tab before each line of output."""

    joblog: str | None = None
    """Write a line about each job to this file, in the form of GNU parallel."""

    results: str | None = None
    """Write the outputs to files below this directory, too: 1/LINE/stdout and stderr."""

    dry_run: Annotated[bool, Parameter(negative="")] = False
    """Print the commands, and run nothing."""

    name: str | None = None
    """Name of this run, for --resume."""

    resume: str | None = None
    """Run only the lines that did not succeed in earlier runs of this name."""


NO_EACH_OPTIONS = EachOptions()


def each(
    *command: str,
    how: EachOptions = NO_EACH_OPTIONS,
    options: JobOptions = NO_OPTIONS,
    shared: Shared = SHARED,
) -> int:
    """Run a command once for each line of the input, as a job, and print the outputs in input
    order.

    In the command, {} is the line, {.} the line without its extension, {/} its
    last part, {//} its directory, {/.} its last part without the extension, {#}
    its number; without any of them the line is appended. Ctrl-C cancels what is
    left. Exit code 1 if a job failed, 124 if one ended with 255, 125 if one was
    killed by a signal, 127 if a program was not found.

        find . -name '*.py' | weft each -- wc -l {}
        weft each -- convert {} {.}.png ::: *.jpg
        seq 100 | weft each --name squares -- sh -c 'echo $(( {} * {} ))'

    Args:
        command: Program and arguments, after `--`.
        how: How to read lines and print results.
        options: Resources and environment of each job.
        shared: Options of every command.
    """
    words = read_words(command)
    if not words.command:
        raise NoCommand(
            "nothing to run", hint="Write the command after two hyphens: `weft each -- wc -l {}`."
        )
    source = _Source(words, how)
    if how.dry_run:
        return asyncio.run(
            print_commands(
                source.reader(), source.packer(), source.template(), as_json=shared.json
            )
        )
    return asyncio.run(_Each(source, how, options, shared).run())


@dataclass(frozen=True)
class _Source:
    """Where the jobs of a run come from: lines or values, and the command."""

    words: Words
    how: EachOptions

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        how = self.how
        if how.null and how.delimiter is not None:
            raise BadInputOption("-0 and -d both say how items end", hint="Give one of them.")
        if self.words.lists and how.file is not None:
            raise BadInputOption(
                "there are values after ::: and a file of lines", hint="Give one of them."
            )
        if (how.colsep is not None or len(self.words.lists) > 1) and self.packer().is_grouping:
            raise BadInputOption(
                "columns cannot be combined with several lines a job",
                detail="{1} would mean a column and a line.",
                hint="Leave out -n, -L, -N and -s, or --colsep and all but one :::.",
            )
        if not how.replace:
            raise BadInputOption("-I needs a text", hint="Write it as -I {} or -I %.")

    def reader(self) -> LineReader | GivenItems:
        how = self.how
        if self.words.lists:
            return GivenItems(self.words.items())
        if how.null:
            return LineReader(how.file, b"\0")
        return LineReader(how.file, None if how.delimiter is None else delimiter_of(how.delimiter))

    def packer(self) -> Packer:
        how = self.how
        has_lists = len(self.words.lists) > 1
        base = sum(len(os.fsencode(word)) + 1 for word in self.words.command)
        return Packer(
            per_job=how.max_args,
            chars_max=how.max_chars,
            base_chars=base,
            columns=re.compile(BETWEEN_VALUES) if has_lists else columns_of(how.colsep),
        )

    def template(self) -> CommandTemplate:
        packer = self.packer()
        return CommandTemplate(
            self.words.command,
            self.how.replace,
            has_positions=(
                packer.is_grouping or packer.columns is not None or bool(self.words.lists)
            ),
            repeats=packer.is_grouping,
        )


class _Each:
    """One run."""

    def __init__(
        self, source: _Source, how: EachOptions, options: JobOptions, shared: Shared
    ) -> None:
        self._source = source
        self._how = how
        self._options = options
        self._shared = shared
        self._ledger = Ledger()
        self._halt = halt_of(how.halt)
        wants_records = how.joblog is not None or how.results is not None
        self._records = Records(how.joblog, how.results) if wants_records else None
        self._began_at = monotonic()
        self._is_output_closed = False
        self._work: asyncio.Future[None] | None = None

    async def run(self) -> int:
        """Submit, print and sum up; return the exit code."""
        reader = self._source.reader()
        async with self._shared.client(patience_s=WAIT_PATIENCE_S) as client:
            feed = await self._feed(client, reader)
            with (
                ProgressLine(str(feed.batch["name"])) as progress,
                Interrupts(self._stop, "") as interrupts,
                watch_closed(STDOUT, self._output_closed),
            ):
                reader.start()
                try:
                    await self._work_until_done(client, feed, progress)
                except BrokenPipeError:
                    self._is_output_closed = True
                except WeftError as error:
                    progress.hide()
                    if isinstance(error, OutputFailed):
                        self._is_output_closed = True
                        await self._cancel(client, feed)
                    if feed.batch_id is not None:
                        self._sum_up(feed, is_interrupted=True)
                    raise
                if interrupts.count or self._is_output_closed:
                    progress.hide()
                    await self._cancel(client, feed)
        if self._is_output_closed:
            return BROKEN_PIPE
        self._sum_up(feed, is_interrupted=interrupts.count > 0)
        if interrupts.count:
            return INTERRUPTED
        return self._ledger.exit_code

    async def _feed(self, client: Api, reader: LineReader | GivenItems) -> Feed:
        resume = self._how.resume
        earlier = await find_earlier(client, resume) if resume is not None else None
        program = PurePath(self._source.words.command[0]).name or "each"
        name = self._how.name or (earlier.name if earlier else f"{program}-{secrets.token_hex(3)}")
        batch = {"name": name, "attributes": {ATTRIBUTE: "resumed" if earlier else "new"}}
        feed = Feed(
            client=client,
            reader=reader,
            ledger=self._ledger,
            packer=self._source.packer(),
            template=self._source.template(),
            batch={**batch, "max_running": self._how.jobs} if self._how.jobs else batch,
            job_fields={**place_fields(), **option_fields(self._options)},
            request_fields=request_fields(self._options, self._shared.home),
            delay_s=self._how.delay,
            keeps_details=self._records is not None,
        )
        if earlier is not None:
            feed.done_before = earlier.succeeded
        return feed

    async def _work_until_done(self, client: Api, feed: Feed, progress: ProgressLine) -> None:
        """Feed and print at once, until all is printed or we are told to stop."""
        printer = Printer(
            client,
            self._ledger,
            progress,
            ordered=not self._how.unordered,
            as_json=self._shared.json,
            tags=self._how.tag,
            records=self._records,
            halt=self._halt,
        )
        self._work = asyncio.ensure_future(_both(feed, printer, self._ledger))
        try:
            await self._work
        except asyncio.CancelledError:
            if not self._is_stopped:
                raise

    @property
    def _is_stopped(self) -> bool:
        return self._work is not None and self._work.cancelled()

    async def _stop(self) -> None:
        if self._work is not None:
            self._work.cancel()

    def _output_closed(self) -> None:
        self._is_output_closed = True
        if self._work is not None:
            self._work.cancel()

    async def _cancel(self, client: Api, feed: Feed) -> None:
        """Cancel the rest. After Ctrl-C, wait until its processes are dead.

        If the reader of our output is gone, leave at once: nobody waits.
        """
        await feed.settle()
        if feed.batch_id is None:
            return
        await client.cancel_batch(feed.batch_id, force=True)
        if not self._is_output_closed:
            note(f"cancelling b{feed.batch_id}; Ctrl-C again leaves at once")
            async with aclosing(client.watch_batch(feed.batch_id)) as documents:
                async for _ in documents:
                    pass

    def _sum_up(self, feed: Feed, *, is_interrupted: bool) -> None:
        run = Run(
            name=str(feed.batch["name"]),
            batch_id=feed.batch_id,
            seconds=monotonic() - self._began_at,
            interrupted=is_interrupted,
        )
        (print_summary_as_json if self._shared.json else print_summary)(self._ledger, run)


async def _both(feed: Feed, printer: Printer, ledger: Ledger) -> None:
    """Run feed and printer. If the batch is cancelled elsewhere, print what there is, then say
    so.
    """
    feeding = asyncio.ensure_future(feed.run())
    printing: asyncio.Future[None] | None = None
    stopping = asyncio.ensure_future(stop_when_halted(feed.client, feed, feeding))
    try:
        while feed.batch_id is None and not feeding.done():
            ledger.changed.clear()
            changed = asyncio.ensure_future(ledger.changed.wait())
            await asyncio.wait({changed, feeding}, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
        if feed.batch_id is not None:
            printing = asyncio.ensure_future(printer.run(feed.batch_id))
            await asyncio.wait({printing, feeding}, return_when=asyncio.FIRST_COMPLETED)
            if feeding.done() and isinstance(feeding.exception(), Conflict):
                ledger.is_input_done = True
                ledger.changed.set()
            elif feeding.done():
                feeding.result()
            await printing
        if ledger.halted.is_set():
            await asyncio.wait({feeding})
            await stopping
        else:
            await feeding
    finally:
        stopping.cancel()
        feeding.cancel()
        if printing is not None:
            printing.cancel()
