"""`weft each`: one job per line, as with xargs and GNU parallel, but recorded."""

import asyncio
import os
import secrets
import shlex
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import PurePath
from time import monotonic
from typing import Any

from weft.cli.input.batch_options import NO_BATCH_OPTIONS, BatchOptions, batch_fields
from weft.cli.input.job_document import (
    NO_OPTIONS,
    JobOptions,
    NoCommand,
    placed_fields,
    request_fields,
)
from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.exit_code import FAILED, NO_PROGRAM
from weft.cli.terminal.interrupts import INTERRUPTED, Interrupts
from weft.cli.terminal.progress_line import ProgressLine
from weft.cli.terminal.raw_output import STDOUT, OutputFailed, watch_closed, write_note
from weft.cli.terminal.report import note
from weft.cli.terminal.runs import ATTRIBUTE
from weft.cli.terminal.shell_words import shell_hint
from weft.cli.terminal.waits import Document, waits_told
from weft.client.api import WAIT_PATIENCE_S, Api
from weft.client.http.address import Locator
from weft.core.errors import Conflict, WeftError
from weft_each.parts.each_input import EachInput, JobLimit, read_whole, read_words
from weft_each.parts.feed import JobFeed, print_commands
from weft_each.parts.halting import halt_of, stop_when_halted
from weft_each.parts.ledger import WINDOW_JOBS, Ledger, Slots
from weft_each.parts.lines import GivenItems, LineReader
from weft_each.parts.options import NO_EACH_OPTIONS, EachOptions
from weft_each.parts.print import Printer
from weft_each.parts.records import Records
from weft_each.parts.resume import find_earlier
from weft_each.parts.summary import EndedRun, print_summary, print_summary_as_json
from weft_each.rules.room import lacking_room

BROKEN_PIPE = 141
XARGS_FAILED = 123


def each(
    *command: str,
    how: EachOptions = NO_EACH_OPTIONS,
    options: JobOptions = NO_OPTIONS,
    of_batch: BatchOptions = NO_BATCH_OPTIONS,
    shared: Shared = SHARED,
) -> int:
    """Run a command once for each line of the input, as a job, and print the outputs in input
    order.

    In the command, {} is the line, {.} the line without its extension, {/} its
    last part, {//} its directory, {/.} its last part without the extension, {#}
    its number, {%} the lowest number that no other running job has; without any
    of them the line is appended. Within a script of `sh -c` a line is quoted, so
    that nothing in it is run. Ctrl-C cancels what is left. Exit code 1 if a job
    failed or its output was cut, 124 if one ended with 255, 125 if one was killed
    by a signal, 127 if a program was not found.

        find . -name '*.py' | weft each -- wc -l {}
        weft each -- convert {} {.}.png ::: *.jpg
        seq 100 | weft each --name squares -- sh -c 'echo $(( {} * {} ))'

    Args:
        command: Program and arguments, after `--`.
        how: How to read lines and print results.
        options: Resources and environment of each job.
        of_batch: Who pays, and attributes.
    """
    words = read_words(command)
    if not words.command:
        raise NoCommand(
            "nothing to run", hint="Write the command after two hyphens: `weft each -- wc -l {}`."
        )
    given = EachInput(words, how)
    given.job_limit()
    if how.dry_run:
        return asyncio.run(
            print_commands(given.reader(), given.packer(), given.template(), as_json=shared.json)
        )
    return asyncio.run(_Each(given, how, options, of_batch, shared).run())


class _Each:
    """One run."""

    def __init__(
        self,
        given: EachInput,
        how: EachOptions,
        options: JobOptions,
        of_batch: BatchOptions,
        shared: Shared,
    ) -> None:
        self._input = given
        self._how = how
        self._options = options
        self._of_batch = of_batch
        self._shared = shared
        self._ledger = Ledger(
            failed_code=XARGS_FAILED if how.xargs else FAILED, allows_cut=how.allow_cut
        )
        self._halt = halt_of(how.halt)
        self._job_limit = given.job_limit()
        wants_records = how.joblog is not None or how.results is not None
        self._records = Records(how.joblog, how.results) if wants_records else None
        self._began_at = monotonic()
        self._is_output_closed = False
        self._work: asyncio.Future[None] | None = None

    async def run(self) -> int:
        """Submit, print and sum up; return the exit code."""
        reader = self._input.reader()
        if self._halt is not None and self._halt.percent is not None:
            reader, n_jobs = await read_whole(reader, self._input.packer())
            self._halt = self._halt.among(n_jobs)
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

    async def _feed(self, client: Api, reader: LineReader | GivenItems) -> JobFeed:
        resume = self._how.resume
        earlier = await find_earlier(client, resume) if resume is not None else None
        program = PurePath(self._input.words.command[0]).name or "each"
        name = self._how.name or (earlier.name if earlier else f"{program}-{secrets.token_hex(3)}")
        batch: dict[str, Any] = {
            "name": name,
            **batch_fields(self._of_batch, {ATTRIBUTE: "resumed" if earlier else "new"}),
        }
        template = self._input.template()
        n_at_once = await self._n_at_once(client, has_slots=template.has_slot)
        if n_at_once:
            batch["max_running"] = n_at_once
        feed = JobFeed(
            client=client,
            reader=reader,
            ledger=self._ledger,
            packer=self._input.packer(),
            template=template,
            batch=batch,
            job_fields=placed_fields(self._options),
            request_fields=request_fields(self._options, self._shared.home),
            before_batch=self._start_if_new,
            after_batch=self._tell_room(client, n_at_once) if n_at_once > 1 else None,
            delay_s=self._how.delay,
            on_submit=_print_command if self._how.verbose else None,
            keeps_details=self._records is not None,
            keeps_lines=self._how.tag or self._shared.json,
        )
        if earlier is not None:
            feed.earlier, feed.only_new = earlier, self._how.only_new
        return feed

    def _start_if_new(self) -> None:
        if Locator(home=self._shared.home).is_unset():
            from weft.cli.commands.up import start_if_down  # noqa: PLC0415 (the server's side)

            start_if_down(self._shared, is_asked=False)

    def _tell_room(self, client: Api, n_at_once: int) -> Callable[[], Awaitable[None]]:
        async def tell() -> None:
            with suppress(WeftError):  # nobody asked for it
                workers = (await client.overview())["workers"]
                resources = placed_fields(self._options).get("resources", {})
                if why := lacking_room(n_at_once, workers, resources):
                    note(why)

        return tell

    async def _n_at_once(self, client: Api, *, has_slots: bool) -> int:
        """Return how many jobs run at a time (0: as many as fit), with as many slots."""
        limit = self._job_limit
        if limit is None and has_slots:
            limit = JobLimit(per_core=1.0)
        if limit is None:
            return 0
        cores = 0
        if not limit.is_fixed:
            await asyncio.to_thread(self._start_if_new)
            workers = (await client.overview())["workers"]
            cores = int(sum(worker["cpu"] for worker in workers))
        n_at_once = limit.on(cores)
        if has_slots or (n_at_once and self._how.xargs):
            # xargs starts nothing after a job that ended with 255, so no job may wait here.
            self._ledger.slots = Slots(n_at_once or WINDOW_JOBS)
        return n_at_once

    async def _work_until_done(self, client: Api, feed: JobFeed, progress: ProgressLine) -> None:
        """Feed and print at once, until all is printed or we are told to stop."""
        printer = Printer(
            client,
            self._ledger,
            progress,
            ordered=not (self._how.unordered or self._how.xargs),
            as_json=self._shared.json,
            tags=self._how.tag,
            records=self._records,
            halt=self._halt,
            as_xargs=self._how.xargs,
        )
        self._work = asyncio.ensure_future(_both(feed, printer, self._ledger))

        async def look() -> Document | None:
            if feed.batch_id is None:
                return None
            batch = await client.get_batch(feed.batch_id)
            return None if batch["complete"] else batch  # lines may still come

        def say(reason: str) -> None:
            progress.hide()
            note(reason)

        try:
            async with waits_told(client, look, say=say):
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

    async def _cancel(self, client: Api, feed: JobFeed) -> None:
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

    def _sum_up(self, feed: JobFeed, *, is_interrupted: bool) -> None:
        run = EndedRun(
            name=str(feed.batch["name"]),
            batch_id=feed.batch_id,
            seconds=monotonic() - self._began_at,
            interrupted=is_interrupted,
        )
        (print_summary_as_json if self._shared.json else print_summary)(self._ledger, run)
        if self._ledger.exit_code == NO_PROGRAM and not self._shared.json:
            hint = shell_hint(self._input.words.command, "weft each --")
            if hint is not None:
                note(hint)


def _print_command(command: Sequence[str]) -> None:
    write_note(os.fsencode(shlex.join(command)) + b"\n")


async def _both(feed: JobFeed, printer: Printer, ledger: Ledger) -> None:
    """Run feed and printer. Cancelled elsewhere: print what there is, then say so."""
    feeding = asyncio.ensure_future(feed.run())
    printing: asyncio.Future[None] | None = None
    stopping = asyncio.ensure_future(stop_when_halted(feed.client, feed, feeding))
    try:
        while feed.batch_id is None and not feeding.done():
            ledger.changed.clear()
            changed = asyncio.ensure_future(ledger.changed.wait())
            await asyncio.wait({changed, feeding}, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
        if feed.batch_id is not None or ledger.earlier:
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
