"""Use case: read what functions returned. It is passed on as bytes; only its head is looked at."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final, NamedTuple

from weft.api.http.replies import encode
from weft.api.services import Services
from weft.api.use_cases.output import head_of
from weft.core.states import ENDED_WORDS
from weft.ports.store import Caller, LogPlace
from weft.wire.function import ResultHead, decode_head

RESULTS_A_STEP: Final = 250
_BLOCK_BYTES: Final = 255 * 1024
"""Divisible by three, so that blocks in base64 can be joined."""
_LINES_BYTES: Final = 1 << 20


class _Long(NamedTuple):
    """A result that does not end with its first block."""

    place: LogPlace
    head: ResultHead
    first: bytes
    blocks: Iterator[bytes]


class Results:
    """What the functions of one batch returned, for one caller."""

    def __init__(self, services: Services, caller: Caller, batch_id: int) -> None:
        self._store = services.store
        self._logs = services.logs
        self._caller = caller
        self._batch_id = batch_id

    async def lines(self, job_ids: Sequence[int]) -> AsyncIterator[bytes]:
        """Yield one line of JSON for each of these jobs that has ended, in order."""
        for start in range(0, len(job_ids), RESULTS_A_STEP):
            ids = job_ids[start : start + RESULTS_A_STEP]
            places = await self._store.log_places(self._caller, self._batch_id, ids, None)
            found = self._logs.results([place for place in places if place.state in ENDED_WORDS])
            while True:
                short, long = await asyncio.to_thread(_read_some, found)
                if not short and long is None:
                    break
                yield short
                if long is not None:
                    async for piece in _long_line(long):
                        yield piece


def _read_some(
    found: Iterator[tuple[LogPlace, Iterator[bytes]]],
) -> tuple[bytes, _Long | None]:
    """Return the lines of short results, up to a long one or about a block of them."""
    lines = bytearray()
    for place, blocks in found:
        first = next(blocks, b"")
        try:
            head, begin = decode_head(first)
        except ValueError:  # the function returned nothing, or has spoiled its own result
            lines += encode({**head_of(place), **_described(None), "value": None}) + b"\n"
            continue
        end = begin + head.value_bytes
        if len(first) < end + head.error_bytes:
            return bytes(lines), _Long(place, head, first[begin:], blocks)
        lines += encode({
            **head_of(place),
            **_described(head, first[end : end + head.error_bytes]),
            "value": base64.b64encode(first[begin:end]).decode(),
        })  # fmt: skip
        lines += b"\n"
        if len(lines) > _LINES_BYTES:
            break
    return bytes(lines), None


def _described(head: ResultHead | None, error: bytes = b"") -> dict[str, Any]:
    if head is None:
        return {"form": None, "seconds": None, "traceback": None, "error": None}
    return {
        "form": head.form,
        "seconds": head.seconds,
        "traceback": head.traceback or None,
        "error": base64.b64encode(error).decode() if error else None,
    }


async def _long_line(long: _Long) -> AsyncIterator[bytes]:
    """Write a line piece by piece: it may have more than a hundred million bytes."""
    head = long.head
    described = _described(head)
    del described["error"]
    yield encode({**head_of(long.place), **described})[:-1]
    reader = _Reader(long.first, long.blocks)
    for name, length in (("value", head.value_bytes), ("error", head.error_bytes)):
        if name == "error" and not length:
            yield b',"error":null'
            continue
        yield b',"%s":"' % name.encode()
        left = length
        while left and (block := await asyncio.to_thread(reader.read, min(left, _BLOCK_BYTES))):
            left -= len(block)
            yield base64.b64encode(block)
        yield b'"'
    yield b"}\n"


class _Reader:
    """Read exact lengths from blocks."""

    def __init__(self, first: bytes, blocks: Iterator[bytes]) -> None:
        self._rest = first
        self._blocks = blocks

    def read(self, length: int) -> bytes:
        """Return so many bytes; fewer at the end."""
        while len(self._rest) < length and (block := next(self._blocks, b"")):
            self._rest += block
        data, self._rest = self._rest[:length], self._rest[length:]
        return data
