"""From lines to jobs: one update of the batch, in one request, for each set of lines read."""

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.cli.each.ledger import Ledger
from weft.cli.each.lines import Item, LineReader, decode_line
from weft.cli.input.text import NotUtf8
from weft.cli.terminal.plain import one_line
from weft.client.api import Api
from weft.core.errors import InvalidDocument
from weft.core.input_lines import CommandTemplate

PIECE_JOBS = 1_000
NAME_CHARS = 200
SHOWN_CHARS = 120
DIGEST_CHARS = 12
SETTLE_S = 5.0
_JOB_POINTER = re.compile(r"/jobs/([0-9]+)(?:/.*)?")

Job = tuple[int, str, dict[str, Any]]
"""The number of a line, how to show it, and the document of its job."""


@dataclass
class Feed:
    """Submits jobs while there is room for their results."""

    client: Api
    reader: LineReader
    ledger: Ledger
    template: CommandTemplate
    batch: Mapping[str, Any]
    """Fields of the batch document, without jobs."""
    job_fields: Mapping[str, Any]
    """Fields that all jobs share."""
    request_fields: Mapping[str, Any]
    """Fields of every request beside its jobs."""
    done_before: Counter[str] = field(default_factory=Counter)
    """Names of jobs that need not run again, and the number of each."""
    batch_id: int | None = None
    _creation: "asyncio.Task[None] | None" = None

    async def run(self) -> None:
        """Submit all lines. The batch is made by the first request that has jobs."""
        while True:
            while self.ledger.n_free <= 0:
                self.ledger.room.clear()
                await self.ledger.room.wait()
            items = await self.reader.take(min(PIECE_JOBS, self.ledger.n_free))
            if not items:
                break
            jobs = [job for item in items if (job := self._job(item)) is not None]
            if jobs:
                await self._submit(jobs)
        self.ledger.is_input_done = True
        self.ledger.changed.set()

    async def _submit(self, jobs: list[Job]) -> None:
        """Submit these jobs. A line that the server refuses fails; the others run."""
        while jobs:
            try:
                await self._send(jobs)
            except InvalidDocument as error:
                refused = _refused_jobs(error)
                if not refused or (len(refused) == len(jobs) and self.batch_id is None):
                    raise  # the error concerns the whole request
                for index, why in refused.items():
                    number, shown, _ = jobs[index]
                    self.ledger.note_unsubmitted(f"line {number}: {shown}", why)
                jobs = [job for index, job in enumerate(jobs) if index not in refused]
            else:
                self.ledger.note_submitted([shown for _, shown, _ in jobs])
                return

    async def _send(self, jobs: list[Job]) -> None:
        request = {"jobs": [job for *_, job in jobs], **self.request_fields}
        if self.batch_id is None:
            # Shielded: if the batch is created after a stop, it must be cancelled.
            self._creation = asyncio.create_task(self._create({**self.batch, **request}))
            await asyncio.shield(self._creation)
        else:
            await self.client.create_update(self.batch_id, request)

    async def _create(self, document: Mapping[str, Any]) -> None:
        self.batch_id = int((await self.client.create_batch(document))["id"])

    async def settle(self) -> None:
        """After a stop, wait a little for the answer with the batch's id."""
        if self._creation is not None:
            await asyncio.wait([self._creation], timeout=SETTLE_S)

    def _job(self, item: Item) -> Job | None:
        """Return the job of a line; `None` if it need not run."""
        number, raw = item
        try:
            line = decode_line(raw)
        except NotUtf8 as error:
            shown = one_line(raw.decode("utf-8", "backslashreplace"), width=SHOWN_CHARS)
            self.ledger.note_unsubmitted(f"line {number}: {shown}", error.message)
            return None
        name = name_of(line)
        if self.done_before[name] > 0:
            self.done_before[name] -= 1
            self.ledger.n_skipped += 1
            return None
        command = self.template.render(line, number)
        shown = one_line(line, width=SHOWN_CHARS)
        return number, shown, {"command": command, "name": name, **self.job_fields}


def name_of(line: str) -> str:
    """Return the name of a line's job, by which `--resume` finds it again: the line, if it can
    be a name.

    A line that is long, empty or not printable is shown as far as it can be, with a digest that
    tells it apart.
    """
    if 0 < len(line) <= NAME_CHARS and line.isprintable():
        return line
    digest = hashlib.sha256(line.encode()).hexdigest()[:DIGEST_CHARS]
    shown = "".join(c if c.isprintable() else "\ufffd" for c in line[:NAME_CHARS])
    return f"{shown}… #{digest}"


def _refused_jobs(error: InvalidDocument) -> dict[int, str]:
    """Return the positions of the jobs that an error is about, and why; none if it is about
    more.
    """
    refused: dict[int, str] = {}
    for one in error.errors:
        match = _JOB_POINTER.fullmatch(one.pointer)
        if match is None:
            return {}
        refused.setdefault(int(match[1]), one.message)
    return refused
