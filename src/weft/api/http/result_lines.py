"""What functions returned: one line of JSON each. A result is passed on as bytes; only its head is
read.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

from weft.api.http.output_lines import BLOCK_BYTES, head_of
from weft.api.http.replies import encode
from weft.ports.log_store import AttemptLog, LogStore
from weft.wire.function import ResultHead, decode_head

_LINES_BYTES: Final = 1 << 20


class _Long(NamedTuple):
    """A result that does not end with its first block."""

    log: AttemptLog
    head: ResultHead
    first: bytes
    blocks: Iterator[bytes]


async def result_lines(
    logs: LogStore, ended: AsyncGenerator[Sequence[AttemptLog]]
) -> AsyncIterator[bytes]:
    """Yield a line for each of these logs, in order."""
    async with aclosing(ended):
        async for some in ended:
            found = logs.results(some)
            while True:
                short, long = await asyncio.to_thread(_read_some, found)
                if not short and long is None:
                    break
                yield short
                if long is not None:
                    async for piece in _long_line(long):
                        yield piece


def _read_some(
    found: Iterator[tuple[AttemptLog, Iterator[bytes]]],
) -> tuple[bytes, _Long | None]:
    """Return the lines of short results, up to a long one or about a block of them."""
    lines = bytearray()
    for log, blocks in found:
        first = next(blocks, b"")
        try:
            head, begin = decode_head(first)
        except ValueError:  # the function returned nothing, or damaged its own result
            lines += encode({**head_of(log), **_described(None), "value": None}) + b"\n"
            continue
        end = begin + head.value_bytes
        if len(first) < end + head.error_bytes:
            return bytes(lines), _Long(log, head, first[begin:], blocks)
        lines += encode({
            **head_of(log),
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
    """Yield a line in parts, because it may have more than a hundred million bytes."""
    head = long.head
    described = _described(head)
    del described["error"]
    yield encode({**head_of(long.log), **described})[:-1]
    reader = _Reader(long.first, long.blocks)
    for name, length in (("value", head.value_bytes), ("error", head.error_bytes)):
        if name == "error" and not length:
            yield b',"error":null'
            continue
        yield b',"%s":"' % name.encode()
        left = length
        while left and (block := await asyncio.to_thread(reader.read, min(left, BLOCK_BYTES))):
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
        """Return this many bytes; fewer at the end."""
        while len(self._rest) < length and (block := next(self._blocks, b"")):
            self._rest += block
        data, self._rest = self._rest[:length], self._rest[length:]
        return data
