"""Use cases that read output: whole, a range, many jobs at once."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.api.http.replies import encode
from weft.api.services import Services
from weft.core.errors import AttemptNotFound, RangeNotSatisfiable
from weft.core.ids import format_job_ref
from weft.core.states import ENDED_WORDS
from weft.ports.store import Caller, LogPlace
from weft.wire.log_format import CUT, STDERR, STDOUT, Piece

STREAMS: Final = {"stdout": STDOUT, "stderr": STDERR}
BLOCK_BYTES: Final = 255 * 1024
"""Divisible by three, so that blocks in base64 can be joined."""
SMALL_BYTES: Final = 64 * 1024
OUTPUTS_A_STEP: Final = 250
_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True)
class Span:
    """Bytes `start` to `stop` (excluded) of `size`."""

    start: int
    stop: int
    size: int

    @property
    def content_range(self) -> str:
        """Return the header of a partial answer."""
        return f"bytes {self.start}-{self.stop - 1}/{self.size}"


def span_of(header: str | None, size: int) -> Span | None:
    """Read the header `Range`; None: everything. Raise `RangeNotSatisfiable`.

    Several ranges, and what has not the form of one, count as not asked.
    Source: RFC 9110, section 14.2.
    """
    match = _RANGE.fullmatch(header or "")
    if match is None or match[0] == "bytes=-":
        return None
    if not match[1]:
        start, stop = max(0, size - int(match[2])), size
    else:
        start, stop = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
        if match[2] and int(match[2]) < start:
            return None
    if start >= size or start >= stop:
        raise RangeNotSatisfiable(
            "the range is outside the output",
            detail=f"The stream has {size} bytes now.",
            hint="Ask for a range that begins within it.",
        )
    return Span(start, stop, size)


class Outputs:
    """The output of the jobs of one batch, for one caller."""

    def __init__(self, services: Services, caller: Caller, batch_id: int) -> None:
        self._store = services.store
        self._logs = services.logs
        self._caller = caller
        self._batch_id = batch_id

    async def find(self, job_id: int, attempt: int | None) -> LogPlace | None:
        """Return where the output of an attempt is (None: of the last one). None: the job has not
        started.

        Raise `JobNotFound`, `AttemptNotFound`.
        """
        places = await self._store.log_places(self._caller, self._batch_id, [job_id], attempt)
        if places and places[0].attempt:
            return places[0]
        await self._store.get_job(self._caller, self._batch_id, job_id)
        if attempt is not None:
            raise _no_attempt(self._batch_id, job_id, f"It has no attempt {attempt} that started.")
        return None

    async def place(self, job_id: int, attempt: int | None) -> LogPlace:
        """Return where the output of an attempt is. Raise `AttemptNotFound` also if the job has
        not started.
        """
        found = await self.find(job_id, attempt)
        if found is None:
            raise _no_attempt(self._batch_id, job_id, "It has not started.")
        return found

    async def size(self, place: LogPlace, stream: str) -> int:
        """Return how many bytes of a stream are stored now."""
        return await asyncio.to_thread(self._logs.size, place, STREAMS[stream])

    async def read(
        self, place: LogPlace, stream: str, start: int, stop: int
    ) -> AsyncIterator[bytes]:
        """Yield bytes of one stream, in blocks."""
        while start < stop:
            end = min(stop, start + BLOCK_BYTES)
            block = await asyncio.to_thread(self._logs.read, place, STREAMS[stream], start, end)
            if not block:
                return
            yield block
            start += len(block)

    async def interleaved(self, place: LogPlace) -> AsyncIterator[bytes]:
        """Yield both streams in the order in which they were written."""
        pieces = self._logs.pieces(place, 0)
        while block := await asyncio.to_thread(_next_block, pieces):
            yield block

    async def many(self, first: int, last: int) -> AsyncIterator[bytes]:
        """Yield one line of JSON for each of the jobs `first..last` that has ended, in order."""
        for start in range(first, last + 1, OUTPUTS_A_STEP):
            ids = range(start, min(start + OUTPUTS_A_STEP, last + 1))
            places = await self._store.log_places(self._caller, self._batch_id, ids, None)
            small: list[LogPlace] = []
            for place in places:
                if place.state not in ENDED_WORDS:
                    continue
                if place.stdout_bytes + place.stderr_bytes <= SMALL_BYTES:
                    small.append(place)
                    continue
                if small:
                    yield await asyncio.to_thread(self._small_lines, small)
                    small = []
                async for piece in self._large_line(place):
                    yield piece
            if small:
                yield await asyncio.to_thread(self._small_lines, small)

    def _small_lines(self, places: Sequence[LogPlace]) -> bytes:
        return b"".join(self._small_line(place) for place in places)

    def _small_line(self, place: LogPlace) -> bytes:
        document = head_of(place)
        kept: dict[int, bytearray] = {STDOUT: bytearray(), STDERR: bytearray()}
        if place.stdout_bytes + place.stderr_bytes:
            for piece in self._logs.pieces(place, 0):
                if piece.kind != CUT:
                    kept[piece.kind] += piece.data
        document["stdout"] = base64.b64encode(kept[STDOUT]).decode()
        document["stderr"] = base64.b64encode(kept[STDERR]).decode()
        return encode(document) + b"\n"

    async def _large_line(self, place: LogPlace) -> AsyncIterator[bytes]:
        """Write a line piece by piece: it may have more than a hundred million bytes."""
        yield encode(head_of(place))[:-1]
        for stream in STREAMS:
            yield b',"%s":"' % stream.encode()
            size = await self.size(place, stream)
            async for block in self.read(place, stream, 0, size):
                yield base64.b64encode(block)
            yield b'"'
        yield b"}\n"


def head_of(place: LogPlace) -> dict[str, Any]:
    """Return how a job ended."""
    return {
        "job_id": place.job_id,
        "attempt": place.attempt or None,
        "state": place.state,
        "reason": place.reason,
        "exit_code": place.exit_code,
        "signal": place.signal,
        "message": place.message,
        "truncated": place.truncated,
    }


def _next_block(pieces: Iterator[Piece]) -> bytes:
    """Return the bytes of the next pieces, about a block of them."""
    block = bytearray()
    for piece in pieces:
        if piece.kind != CUT:
            block += piece.data
        if len(block) >= BLOCK_BYTES:
            break
    return bytes(block)


def _no_attempt(batch_id: int, job_id: int, why: str) -> AttemptNotFound:
    return AttemptNotFound(
        f"job {format_job_ref(batch_id, job_id)} has no such output",
        detail=why,
        hint="Wait for it with `follow=true`, or `weft logs -f`.",
    )
