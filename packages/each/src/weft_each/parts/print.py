"""From ended jobs to outputs: events say what ended, one request fetches many outputs."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from weft.cli.terminal.progress_line import ProgressLine
from weft.cli.terminal.raw_output import STDERR, STDOUT, say_cut, write_all
from weft.cli.terminal.screen import line_of, one_line
from weft.client.api import Api, Document
from weft.client.progress_bar import Counts
from weft.client.waiting import wait_beside
from weft.core.states import ENDED_WORDS
from weft_each.parts.halting import HaltWatch
from weft_each.parts.ledger import Ledger
from weft_each.parts.records import Records, Submitted
from weft_each.rules.halt import Halt

FETCH_JOBS = 200


class Printer:
    """Prints each result once, in input order or as they come."""

    def __init__(
        self,
        client: Api,
        ledger: Ledger,
        progress: ProgressLine,
        *,
        ordered: bool,
        as_json: bool,
        tags: bool = False,
        records: Records | None = None,
        halt: Halt | None = None,
        as_xargs: bool = False,
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._progress = progress
        self._ordered = ordered
        self._as_json = as_json
        self._tags = tags
        self._records = records
        self._watch = HaltWatch(client, ledger, halt, as_xargs=as_xargs)
        self._shares_terminal = sys.stdout.isatty()

    async def run(self, batch_id: int | None) -> None:
        """Print until the ledger is done; without a batch, what earlier runs have left."""
        if batch_id is None:
            while await self._print_earlier():
                pass
            return
        opened = asyncio.Event()
        listener = asyncio.create_task(self._listen(batch_id, opened))
        try:
            await wait_beside(opened, listener)
            await self._look(batch_id)
            while not self._ledger.is_done:
                self._ledger.changed.clear()
                printed = await self._print_earlier() or await self._print_run(batch_id)
                if not printed and not self._ledger.is_done:
                    await wait_beside(self._ledger.changed, listener)
        finally:
            listener.cancel()

    async def _listen(self, batch_id: int, opened: asyncio.Event) -> None:
        async with aclosing(self._client.events(batch_id, opened=opened.set)) as events:
            async for event in events:
                await self._watch.note(batch_id, event)

    async def _look(self, batch_id: int) -> None:
        """Find the jobs that ended before the event stream was open."""
        async for job in self._client.list_jobs(batch_id, states=sorted(ENDED_WORDS)):
            event = {"kind": f"jobs.{job['state']}", "jobs": [job["job_id"]]}
            await self._watch.note(batch_id, event)

    async def _print_run(self, batch_id: int) -> bool:
        """Print some results; return whether there were any."""
        run = self._ledger.next_run(ordered=self._ordered, count_max=FETCH_JOBS)
        if run is None:
            self._draw()
            return False
        async for row, job in self._outputs(batch_id, *run):
            line = self._ledger.note_printed(row)
            if line is not None:
                submitted = self._ledger.details.pop(row["job_id"], None)
                self._print(batch_id, line, submitted, row, job)
        self._draw()
        return True

    async def _print_earlier(self) -> bool:
        """Print some of what earlier runs have left; return whether there was any."""
        taken = self._ledger.next_earlier(ordered=self._ordered, count_max=FETCH_JOBS)
        if not taken:
            return False
        batch_id = next(iter(taken.values())).batch_id
        async for row, job in self._outputs(batch_id, min(taken), max(taken)):
            self._ledger.note_output(row)
            one = taken[row["job_id"]]
            self._print(batch_id, one.line, one.submitted, row, job)
        return True

    async def _outputs(
        self, batch_id: int, first: int, last: int
    ) -> AsyncIterator[tuple[dict[str, Any], Document | None]]:
        """Yield the outputs of these jobs, and their documents if they are recorded."""
        jobs = await self._documents(batch_id, first, last)
        async with aclosing(self._client.outputs(batch_id, first, last)) as rows:
            async for row in rows:
                yield row, jobs.get(row["job_id"])

    async def _documents(self, batch_id: int, first: int, last: int) -> dict[int, Document]:
        """Return the documents of these jobs, if they are recorded."""
        if self._records is None or not self._records.needs_times:
            return {}
        query = f"job_id >= {first} and job_id <= {last}"
        return {job["job_id"]: job async for job in self._client.list_jobs(batch_id, query)}

    def _print(
        self,
        batch_id: int,
        line: str,
        submitted: Submitted | None,
        row: dict[str, Any],
        job: Document | None,
    ) -> None:
        """Record and print one output; say if it was cut."""
        if self._records is not None and submitted is not None:
            self._records.add(submitted, row, job)
        self._write_output(batch_id, line, row)
        if row.get("truncated"):
            self._progress.hide()
            say_cut(batch_id, row["job_id"])

    def _write_output(self, batch_id: int, line: str, row: dict[str, Any]) -> None:
        if self._as_json:
            texts = {name: row[name].decode("utf-8", "replace") for name in ("stdout", "stderr")}
            document = {"line": line, "batch_id": batch_id, **row, **texts}
            self._write(STDOUT, line_of(document).encode() + b"\n")
            return
        for descriptor, name in ((STDOUT, "stdout"), (STDERR, "stderr")):
            self._write(descriptor, tagged(row[name], line) if self._tags else row[name])

    def _write(self, descriptor: int, data: bytes) -> None:
        if not data:
            return
        if descriptor == STDERR or self._shares_terminal:
            self._progress.hide()
            self._progress.is_mid_line = not data.endswith(b"\n")
        write_all(descriptor, data)

    def _draw(self) -> None:
        ledger = self._ledger
        total = ledger.n_submitted if ledger.is_input_done else None
        self._progress.draw(Counts(ledger.n_printed, total, failed=ledger.n_failed))


def tagged(output: bytes, line: str) -> bytes:
    """Put the line and a tab before each line of an output."""
    tag = one_line(line, width=sys.maxsize).encode() + b"\t"
    return (
        b"".join(tag + one + b"\n" for one in output.removesuffix(b"\n").split(b"\n"))
        if output
        else b""
    )
