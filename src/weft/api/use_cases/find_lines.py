"""Find lines in the output of the jobs of a batch or group, a bounded part of it at a time."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from weft.api.services import Services
from weft.api.use_cases import read
from weft.api.use_cases.output import JOBS_A_STEP, STREAMS, missing_output
from weft.core.ends.end_words import has_output
from weft.ports.log_store import AttemptLog
from weft.ports.store import Caller
from weft.wire.log_format import STDOUT

SHOWN_BYTES: Final = 4096
"""Of a line."""
_JOB_BYTES: Final = 4096
"""A job counts as at least this: nobody searches a million silent ones at once."""
LINE_BYTES_MAX: Final = 1 << 20
"""A longer line is looked at in parts, so that it need not be kept until it ends. So much is read
at once, too.
"""


class Position(NamedTuple):
    """Where a part of a search begins."""

    after: int = 0
    """Jobs up to this number were searched."""
    stream: int = STDOUT
    """Of the next one with output, to which all else belongs."""
    at: int = 0
    """So many bytes of the stream were searched."""
    number: int = 1
    """The number of the line that is there."""
    is_told: bool = False
    """A part of this line was found already."""


class FoundLines(NamedTuple):
    """A part of a search."""

    items: Sequence[dict[str, Any]]
    """Lines, and for jobs whose output cannot be read, why."""
    to_go: Position | None
    """Where the next part begins; None: that was all."""


async def find_lines(
    services: Services,
    caller: Caller,
    batch_id: int,
    jobs: read.JobList,
    text: str,
    stream: str,
    begin: Position,
) -> FoundLines:
    """Return lines of jobs that have a text, by job and stream. Reads at most `find_bytes_max`
    bytes, and then `LINE_BYTES_MAX`. Raise `BatchNotFound`, `GroupNotFound`, what queries raise.
    """
    search = _Search(services, text.encode(), jobs.limit, services.settings.find_bytes_max)
    wanted_streams = [kind for name, kind in STREAMS.items() if stream in {name, "both"}]
    after = begin.after
    while True:
        wanted = replace(jobs, after=after, limit=JOBS_A_STEP)
        rows = await read.list_jobs(services, caller, batch_id, wanted)
        begun = [row["job_id"] for row in rows if has_output(row)]
        for log in await services.store.list_attempt_logs(caller, batch_id, begun, None):
            to_go = await search.job(log, wanted_streams, begin)
            if to_go is not None:
                return FoundLines(search.items, to_go)
            begin = Position(log.asked_job)
            if search.has_read(_JOB_BYTES):
                return FoundLines(search.items, begin)
        if len(rows) < JOBS_A_STEP:
            return FoundLines(search.items, None)
        after = rows[-1]["job_id"]
        if search.has_read(_JOB_BYTES * (len(rows) - len(begun))):
            return FoundLines(search.items, Position(after))


class _Search:
    """What one part of a search has found, and how much it may still read."""

    def __init__(self, services: Services, text: bytes, most: int, n_bytes: int) -> None:
        self.items: list[dict[str, Any]] = []
        self._logs = services.logs
        self._text = text
        self._most = most
        self._left = n_bytes

    def has_read(self, n_bytes: int) -> bool:
        """Note that `n_bytes` were read; say whether that is enough."""
        self._left -= n_bytes
        return self._left <= 0

    async def job(
        self, log: AttemptLog, streams: Sequence[int], begin: Position
    ) -> Position | None:
        """Search a job's output from a position on; return where to go on, if there is more."""
        if log.ended and not log.stdout_bytes + log.stderr_bytes:
            return None
        if (missing := missing_output(self._logs, log)) is not None:
            if len(self.items) == self._most:
                return Position(log.asked_job - 1)
            why = f"{missing.message}: {missing.detail}"
            self._add(log, None, None, None, problem=why)
            return None
        for stream in streams:
            if stream < begin.stream:
                continue
            at = begin if stream == begin.stream else Position(stream=stream)
            to_go = await self._stream(log, at._replace(after=log.asked_job - 1))
            if to_go is not None:
                return to_go
        return None

    async def _stream(self, log: AttemptLog, begin: Position) -> Position | None:
        if log.ended and not (log.stdout_bytes if begin.stream == STDOUT else log.stderr_bytes):
            return None
        search, position = LineSearch(self._text, begin), begin
        is_last = False
        while not is_last:
            start = search.read_to
            data = await self._logs.read(log, begin.stream, start, start + LINE_BYTES_MAX)
            is_last = len(data) < LINE_BYTES_MAX
            found = await asyncio.to_thread(search.feed, data, is_last=is_last)
            for line, at in found:
                if len(self.items) == self._most:
                    return position
                shown = line[:SHOWN_BYTES].decode(errors="replace")
                number = at.number if at.is_told else at.number - 1
                self._add(log, begin.stream, number, shown)
                position = at
            if self.has_read(len(data)) and not is_last:
                return search.position
        return None

    def _add(
        self,
        log: AttemptLog,
        stream: int | None,
        number: int | None,
        line: str | None,
        *,
        problem: str | None = None,
    ) -> None:
        name = next((name for name, kind in STREAMS.items() if kind == stream), None)
        self.items.append(
            {
                "job_id": log.asked_job,
                "attempt": log.attempt if log.of_job is None else None,
                "stream": name,
                "number": number,
                "line": line,
                "problem": problem,
            }
        )


class LineSearch:
    """Finds the lines of one stream that have a text, which comes in blocks."""

    def __init__(self, text: bytes, begin: Position) -> None:
        self._text = text
        self._rest = b""
        self.position = begin
        """Where the line begins that has not ended yet, or what is kept of it."""

    @property
    def read_to(self) -> int:
        """Return where the next block begins."""
        return self.position.at + len(self._rest)

    def feed(self, data: bytes, *, is_last: bool) -> list[tuple[bytes, Position]]:
        """Return the lines that end in a block and have the text, each with where to go on behind
        it. `is_last`: the last line ends with it, too.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        found = []
        for line in lines:
            at, is_told = self.position.at + len(line) + 1, self.position.is_told
            self.position = self.position._replace(
                at=at, number=self.position.number + 1, is_told=False
            )
            if self._text in line and not is_told:
                found.append((line, self.position))
        if is_last or len(self._rest) >= LINE_BYTES_MAX:
            found += self._part()
        return found

    def _part(self) -> list[tuple[bytes, Position]]:
        """Look at a line that has not ended, and keep of it what a text may begin with."""
        part, kept = self._rest, min(len(self._text) - 1, len(self._rest))
        self._rest = part[len(part) - kept :]
        is_new = self._text in part and not self.position.is_told
        self.position = self.position._replace(
            at=self.position.at + len(part) - kept, is_told=self.position.is_told or is_new
        )
        return [(part, self.position)] if is_new else []
