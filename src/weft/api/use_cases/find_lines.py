"""Find lines in the output of the jobs of a batch or group, a bounded part of it at a time."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, NamedTuple

from weft.api.services import Services
from weft.api.use_cases import read
from weft.api.use_cases.output import JOBS_A_STEP, STREAMS, missing_output
from weft.ports.log_store import AttemptLog
from weft.ports.store import Caller
from weft.wire.log_format import CUT, Piece

SHOWN_BYTES: Final = 4096
"""Of a line."""
_JOB_BYTES: Final = 4096
"""A job counts as at least this: nobody searches a million silent ones at once."""
_LINE_BYTES_MAX: Final = 1 << 20
"""A longer line is looked at in parts, so that it need not be kept until it ends."""
_NAMES: Final = {number: name for name, number in STREAMS.items()}


class Position(NamedTuple):
    """Where a part of a search begins."""

    after: int
    """Jobs up to this number were searched."""
    n_told: int
    """So many lines of the next one with output were found, too."""


class FoundLines(NamedTuple):
    """A part of a search."""

    items: Sequence[dict[str, Any]]
    """Lines, and for jobs whose output cannot be read, why."""
    to_go: Position | None
    """Where the next part begins; None: that was all."""


async def find_lines(
    services: Services, caller: Caller, batch_id: int, jobs: read.JobList, text: str,
    stream: str, begin: Position,
) -> FoundLines:  # fmt: skip
    """Return lines of jobs that have a text, by job. Reads at most `find_bytes_max` bytes, and
    then the rest of a job's output. Raise `BatchNotFound`, `GroupNotFound`, what queries raise.
    """
    items: list[dict[str, Any]] = []
    left, after, n_told = services.settings.find_bytes_max, begin.after, begin.n_told
    while True:
        wanted = replace(jobs, after=after, limit=JOBS_A_STEP)
        rows = await read.list_jobs(services, caller, batch_id, wanted)
        begun = [one["job_id"] for one in rows if one.get("attempt")]
        for log in await services.store.list_attempt_logs(caller, batch_id, begun, None):
            n_seen = 0
            async with aclosing(_lines_of(services, log, text, stream)) as lines:
                async for line in lines:
                    n_seen += 1
                    if n_seen <= n_told:
                        continue
                    if len(items) == jobs.limit:
                        return FoundLines(items, Position(log.job_id - 1, n_seen - 1))
                    items.append(line)
            left -= log.stdout_bytes + log.stderr_bytes + _JOB_BYTES
            n_told = 0
            if left <= 0:
                return FoundLines(items, Position(log.job_id, 0))
        if len(rows) < JOBS_A_STEP:
            return FoundLines(items, None)
        after, left = rows[-1]["job_id"], left - _JOB_BYTES * (len(rows) - len(begun))
        if left <= 0:
            return FoundLines(items, Position(after, 0))


async def _lines_of(
    services: Services, log: AttemptLog, text: str, stream: str
) -> AsyncGenerator[dict[str, Any]]:
    head = {"job_id": log.job_id, "attempt": log.attempt}
    if log.ended and not log.stdout_bytes + log.stderr_bytes:
        return
    if (missing := missing_output(services.logs, log)) is not None:
        why = f"{missing.message}: {missing.detail}"
        yield {**head, "stream": None, "number": None, "line": None, "problem": why}
        return
    searches = {
        number: LineSearch(text.encode()) for name, number in STREAMS.items()
        if stream in {name, "both"}
    }  # fmt: skip
    async for pieces in services.logs.pieces(log, 0):
        for found in await asyncio.to_thread(_feed, searches, pieces):
            yield {**head, **found, "problem": None}
    for kind, search in searches.items():
        for number, line in search.end():
            yield {**head, **_shown(kind, number, line), "problem": None}


def _feed(searches: dict[int, "LineSearch"], pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    return [
        _shown(piece.kind, number, line)
        for piece in pieces
        if piece.kind != CUT and piece.kind in searches
        for number, line in searches[piece.kind].feed(piece.data)
    ]


def _shown(kind: int, number: int, line: bytes) -> dict[str, Any]:
    shown = line[:SHOWN_BYTES].decode(errors="replace")
    return {"stream": _NAMES[kind], "number": number, "line": shown}


class LineSearch:
    """Finds the lines of one stream that have a text, which comes in pieces."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._rest = b""
        self._number = 1
        self._is_told = False
        """A part of the line that goes on was found already."""

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return the lines that end now and have it, with their numbers."""
        *lines, rest = (self._rest + data).split(b"\n")
        found = []
        for line in lines:
            if self._text in line and not self._is_told:
                found.append((self._number, line))
            self._number += 1
            self._is_told = False
        self._rest = rest
        if len(rest) > _LINE_BYTES_MAX:
            found += self._part()
        return found

    def end(self) -> list[tuple[int, bytes]]:
        """Return the last line, if it has it and no line break."""
        return self._part()

    def _part(self) -> list[tuple[int, bytes]]:
        rest = self._rest
        self._rest = rest[len(rest) - len(self._text) + 1 :] if len(self._text) > 1 else b""
        if self._is_told or self._text not in rest:
            return []
        self._is_told = True
        return [(self._number, rest)]
