"""From lines to jobs: one update of the batch, in one request, for each set of lines read.
`--dry-run` prints the commands instead.
"""

import asyncio
import hashlib
import os
import re
import shlex
import string
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple

from weft.cli.input.option_names import option_of
from weft.cli.terminal.raw_output import STDOUT, write_all
from weft.cli.terminal.screen import line_of, note, one_line
from weft.client.api import WAIT_PATIENCE_S, Api
from weft.client.http.session import telling_over_quota
from weft.client.submission.ahead import sent_ahead
from weft.core.errors import InvalidDocument, QuotaExceeded
from weft.core.text.shell_script import Unsafe
from weft.core.text.texts import is_utf8
from weft_each.parts.ledger import EarlierOutput, Ledger
from weft_each.parts.lines import GivenItems, Item, LineReader
from weft_each.parts.packing import Pack, Packer
from weft_each.parts.records import Submitted
from weft_each.parts.resume import EarlierRuns
from weft_each.rules.input_lines import CommandTemplate
from weft_each.rules.input_words import WordTemplate

PIECE_JOBS = 1_000
NAME_CHARS = 200
SHOWN_CHARS = 120
DIGEST_CHARS = 12
SETTLE_S = 5.0
ROOM_S = 1.0
"""How long a quota that is full is left alone."""
_JOB_POINTER = re.compile(r"/jobs/([0-9]+)(?:/.*)?")


class FeedJob(NamedTuple):
    """One job that is not submitted yet."""

    number: int
    """Of its line."""
    shown: str
    """The line, as it is shown."""
    document: dict[str, Any]
    submitted: Submitted
    slot: int = 1


@dataclass
class JobFeed:
    """Submits jobs while there is room for their results."""

    client: Api
    reader: LineReader | GivenItems
    packer: Packer
    ledger: Ledger
    template: CommandTemplate | WordTemplate
    batch: Mapping[str, Any]
    """Fields of the batch document, without jobs."""
    job_fields: Mapping[str, Any]
    """Fields that all jobs share."""
    request_fields: Mapping[str, Any]
    """Fields of every request beside its jobs."""
    before_batch: Callable[[], None]
    """Called in a thread when there is something to do, before the batch is made."""
    after_batch: Callable[[], Awaitable[None]] | None = None
    """Called once, when the batch is made."""
    delay_s: float = 0.0
    """Pause between submissions of single jobs."""
    on_submit: Callable[[Sequence[str]], None] | None = None
    """Called with the command of each job that was submitted."""
    keeps_details: bool = False
    """Whether the ledger needs commands and values."""
    keeps_lines: bool = False
    """Whether the ledger needs whole lines: they tell the outputs apart."""
    earlier: EarlierRuns = field(default_factory=EarlierRuns)
    """Jobs that need not run again."""
    only_new: bool = False
    """Whether their output is left out."""
    batch_id: int | None = None
    _is_over: bool = False
    """Whether nothing more may become a job."""
    _creation: "asyncio.Task[None] | None" = None
    _full_since: float | None = None
    """When a quota began to refuse jobs though none of this run was left."""
    _is_full_told: bool = False

    async def run(self) -> None:
        """Submit all lines. The batch is made by the first request that has jobs."""
        while not self._is_over and await self._has_room() and (items := await self._take()):
            await self._submit_packs(self.packer.feed(items))
        if not self._is_over and await self._has_room():
            await self._submit_packs(self.packer.finish(is_cut=self.reader.wrong is not None))
        if self.reader.wrong is not None:
            self.ledger.note_unsubmitted("the input ends early", self.reader.wrong)
        self.ledger.is_input_done = True
        self.ledger.changed.set()

    async def _has_room(self) -> bool:
        """Wait until a job may be submitted; return False if the run stops before."""
        while self.ledger.n_free <= 0 and not self.ledger.halted.is_set():
            self.ledger.room.clear()
            await self.ledger.room.wait()
        return not self.ledger.halted.is_set()

    async def _take(self) -> Sequence[Item]:
        """Return the next items; none at the end of the input, and when the run stops early."""
        taking = asyncio.ensure_future(self.reader.take(self._n_wanted))
        halted = asyncio.ensure_future(self.ledger.halted.wait())
        try:
            await asyncio.wait({taking, halted}, return_when=asyncio.FIRST_COMPLETED)
            return () if self.ledger.halted.is_set() else taking.result()
        finally:
            taking.cancel()
            halted.cancel()

    @property
    def _n_wanted(self) -> int:
        """Return how many items to take at once."""
        return 1 if self.delay_s else min(PIECE_JOBS, self.ledger.n_free)

    async def _submit_packs(self, packs: Iterable[Pack]) -> None:
        jobs: list[FeedJob | EarlierOutput] = []
        for pack in packs:
            if (job := self._job(pack)) is not None:
                jobs.append(job)
            if pack.stops:
                self._is_over = True
                break
        if self.delay_s and self.ledger.n_submitted and jobs:
            await asyncio.sleep(self.delay_s)
        refused = await self._submit([one for one in jobs if isinstance(one, FeedJob)])
        number = self.ledger.n_submitted - sum(isinstance(one, FeedJob) for one in jobs)
        number += len(refused)
        for one in jobs:
            if isinstance(one, EarlierOutput):
                self.ledger.earlier.append(one._replace(followed_by=number + 1))
            elif one.number not in refused:
                number += 1
        self.ledger.changed.set()

    async def _submit(self, jobs: list[FeedJob]) -> set[int]:
        """Submit these jobs. A line that the server refuses fails; the others run. Return the
        numbers of refused lines.
        """
        numbers: set[int] = set()
        while jobs:
            try:
                with telling_over_quota():
                    await self._send(jobs)
            except QuotaExceeded as error:
                if len(jobs) > 1:
                    half = len(jobs) // 2
                    await self._submit(jobs[:half])
                    jobs = jobs[half:]
                else:
                    await self._wait_for_room(error)
            except InvalidDocument as error:
                refused = _refused_jobs(error)
                if not refused or (len(refused) == len(jobs) and self.batch_id is None):
                    raise  # the error concerns the whole request
                for index, why in refused.items():
                    job = jobs[index]
                    numbers.add(job.number)
                    self.ledger.note_unsubmitted(f"line {job.number}: {job.shown}", why)
                if self.ledger.slots is not None:
                    self.ledger.slots.give_back(jobs[index].slot for index in refused)
                jobs = [job for index, job in enumerate(jobs) if index not in refused]
            else:
                details = [job.submitted for job in jobs] if self.keeps_details else ()
                slots = [job.slot for job in jobs]
                self.ledger.note_submitted([job.shown for job in jobs], details, slots)
                if self.on_submit is not None:
                    for job in jobs:
                        self.on_submit(job.submitted.command)
                break
        return numbers

    async def _wait_for_room(self, error: QuotaExceeded) -> None:
        """Wait a little before the next try, as long as the quota may get room: while jobs of this
        run have not ended, else for some minutes. It is said once.
        """
        now = monotonic()
        if self.ledger.n_submitted > self.ledger.n_printed or self._full_since is None:
            self._full_since = now
        if now > self._full_since + WAIT_PATIENCE_S or self.ledger.halted.is_set():
            raise error
        if not self._is_full_told:
            self._is_full_told = True
            note(f"{error.message}; the other lines wait until there is room")
        await asyncio.sleep(ROOM_S)

    async def _send(self, jobs: list[FeedJob]) -> None:
        request = {"jobs": [job.document for job in jobs], **self.request_fields}
        is_whole = self.batch_id is None and not sent_ahead([self.job_fields])
        if self.batch_id is None:
            # Shielded: if the batch is created after a stop, it must be cancelled.
            document = {**self.batch, **request} if is_whole else self.batch
            self._creation = asyncio.create_task(self._create(document))
            await asyncio.shield(self._creation)
        if self.batch_id is not None and not is_whole:
            await self.client.create_update(self.batch_id, request)

    async def _create(self, document: Mapping[str, Any]) -> None:
        await asyncio.to_thread(self.before_batch)
        self.batch_id = int((await self.client.create_batch(document))["id"])
        for digest, body in sent_ahead([self.job_fields]).items():
            await self.client.send_payload(self.batch_id, digest, body)
        if self.after_batch is not None:
            await self.after_batch()

    async def settle(self) -> None:
        """After a stop, wait a little for the answer with the batch's id."""
        if self._creation is not None:
            await asyncio.wait([self._creation], timeout=SETTLE_S)

    def _job(self, pack: Pack) -> FeedJob | EarlierOutput | None:
        """Return the job of a line or of several, or what it has left; `None`: neither."""
        shown = shown_text(pack.line)
        if not self.keeps_lines:
            shown = one_line(shown, width=SHOWN_CHARS)
        if pack.wrong is not None:
            self.ledger.note_unsubmitted(f"line {pack.number}: {shown}", pack.wrong)
            return None
        try:
            command = self.template.render(pack.values, pack.number, 1)
        except Unsafe as error:
            self.ledger.note_unsubmitted(f"line {pack.number}: {shown}", str(error))
            return None
        name = name_of(pack.line)
        if (done := self.earlier.take(name)) is not None:
            if not self.template.has_slot:
                self.earlier.note_other_command(name, portable(command))
            self.ledger.n_skipped += 1
            submitted = Submitted(command, pack.values, pack.number)
            return None if self.only_new else EarlierOutput(*done, shown, submitted)
        slot = 1 if self.ledger.slots is None else self.ledger.slots.take()
        if self.template.has_slot:
            command = self.template.render(pack.values, pack.number, slot)
        document = {"command": portable(command), "name": name, **self.job_fields}
        return FeedJob(
            pack.number, shown, document, Submitted(command, pack.values, pack.number), slot
        )


def shown_text(line: str) -> str:
    """Return a line for people, with escapes for bytes that are not UTF-8."""
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def name_of(line: str) -> str:
    """Return the name of a line's job, by which `--resume` finds it again: the line, if it can
    be a name.

    A line that is long, empty or not printable is shown as far as it can be, with a digest that
    tells it apart.
    """
    if 0 < len(line) <= NAME_CHARS and line.isprintable():
        return line
    digest = hashlib.sha256(line.encode("utf-8", "surrogateescape")).hexdigest()[:DIGEST_CHARS]
    shown = "".join(c if c.isprintable() else "\ufffd" for c in line[:NAME_CHARS])
    return f"{shown}… #{digest}"


def _refused_jobs(error: InvalidDocument) -> dict[int, str]:
    """Return the positions of the jobs that an error is about, and why; none if of more."""
    refused: dict[int, str] = {}
    for one in error.errors:
        match = _JOB_POINTER.fullmatch(one.pointer)
        if match is None:
            return {}
        option = option_of(one.pointer, "each")
        about_line = option in {"the command", "the command line"} or option.startswith("word ")
        refused.setdefault(
            int(match[1]), one.message if about_line else f"{option}: {one.message}"
        )
    return refused


_PLAIN = frozenset((string.ascii_letters + string.digits + "/._-+,:=@").encode())
_END = "_"


def portable(command: Sequence[str]) -> list[str]:
    """Return a command in UTF-8 that does the same.

    Arguments travel as UTF-8 text. Words with other bytes become octal numbers, which `printf`
    turns into bytes again; the shell is then replaced by the program.
    """
    if all(map(is_utf8, command)):
        return list(command)
    made: list[str] = []
    words: list[str] = []
    given: list[str] = []
    for number, word in enumerate(command):
        if is_utf8(word):
            given.append(word)
            words.append(f'"${{{len(given)}}}"')
        else:
            # `$()` drops newlines at the end, so another character is put behind them.
            made.append(f"v{number}=$(printf '{_octal(word)}{_END}')")
            words.append(f'"${{v{number}%{_END}}}"')
    return ["/bin/sh", "-c", "; ".join([*made, "exec " + " ".join(words)]), "sh", *given]


def _octal(word: str) -> str:
    data = word.encode("utf-8", "surrogateescape")
    return "".join(chr(one) if one in _PLAIN else f"\\{one:03o}" for one in data)


FAILED = 1


async def print_commands(
    reader: LineReader | GivenItems,
    packer: Packer,
    template: CommandTemplate | WordTemplate,
    *,
    as_json: bool,
) -> int:
    """Print the command of each job, as a shell takes it; return the exit code."""
    exit_code = 0

    def show(pack: Pack) -> bool:
        """Print one; return whether nothing follows."""
        nonlocal exit_code
        wrong, command = pack.wrong, list[str]()
        try:
            command = command if wrong else template.render(pack.values, pack.number)
        except Unsafe as error:
            wrong = str(error)
        if wrong is not None:
            note(f"line {pack.number}: {shown_text(pack.line)}: {wrong}")
            exit_code = FAILED
            return pack.stops
        if as_json:
            words = [shown_text(word) for word in command]
            line = line_of({"line": shown_text(pack.line), "command": words}).encode()
        else:
            line = os.fsencode(shlex.join(command))
        write_all(STDOUT, line + b"\n")
        return False

    reader.start()
    while items := await reader.take(PIECE_JOBS):
        if any(map(show, packer.feed(items))):
            return exit_code
    any(map(show, packer.finish(is_cut=reader.wrong is not None)))
    if reader.wrong is not None:
        note(f"the input ends early: {reader.wrong}")
        exit_code = FAILED
    return exit_code
